"""What users give for numbers, as arrays of floats."""

from __future__ import annotations

import numpy as np

from .errors import ProblemError, TrisweepError, said

NO_NUMBERS = "mMc"  # kinds of NumPy's: of dates it would count the days, of complex numbers lose the half


def floats(given: object) -> np.ndarray:
    """A new array of floats; TypeError for whatever is no number, or none that a float can hold.

    Text is read, for YAML's "1e-3" is one. None and symbols are no numbers, though NumPy takes them for NaN.
    """
    try:
        found = np.asarray(given)
        if found.dtype.kind == "O":
            found = np.array([float(each) for each in found.flat]).reshape(found.shape)
            if np.isnan(found).any():
                raise TypeError
        if found.dtype.kind in NO_NUMBERS:
            raise TypeError
        return np.array(found, dtype=float)
    except (TypeError, ValueError, OverflowError, NotImplementedError, RuntimeError):
        raise TypeError("no numbers") from None


def checked_floats(
    what: str, given: object, expected: str = "numbers", error: type[TrisweepError] = ProblemError
) -> np.ndarray:
    """A new array of floats, or the error that says what was given in their place."""
    try:
        return floats(given)
    except TypeError:
        raise error(f"{what} is {said(given)}, expected {expected}") from None
