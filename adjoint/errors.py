"""The exception of this room."""


class NodeError(ValueError):
    """Misuse of an implicit node or of its derivatives; the message names the object, its value and what was expected."""
