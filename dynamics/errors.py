"""The one exception of this room."""


class ModelError(ValueError):
    """A model, a state or a constraint is not what it must be; the sentence says which, its value and what was expected."""
