"""The one exception of this room."""


class ModelError(ValueError):
    """A model, a state or a constraint is wrong; the sentence says which, its value and what was expected."""
