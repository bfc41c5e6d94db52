"""The exception of this room."""


class NodeError(ValueError):
    """Misuse of an implicit node or of its derivatives: object, value and what was expected."""
