"""Numbers and words as users give them to what runs for long: checked, each with a sentence."""

from __future__ import annotations

from collections.abc import Iterable
from math import nan

import numpy as np

from ..errors import ModelError, said
from ..floats import floats


def number(value: object) -> float:
    """One number; NaN for whatever is none."""
    try:
        found = floats(value)
    except TypeError:
        return nan
    return nan if found.shape != () or isinstance(value, (bool, np.bool_, str)) else float(found)


def positive(what: str, value: object, expected: str = "more than 0") -> float:
    """One number, finite and more than 0."""
    found = number(value)
    if not (np.isfinite(found) and found > 0):
        raise ModelError(f"{what} is {said(value)}, expected {expected}")
    return found


def word(what: str, value: object, words: Iterable[str]) -> str:
    """One of these words."""
    known = tuple(words)
    if not isinstance(value, str) or value not in known:
        raise ModelError(f"{what} is {said(value)}, expected one of {', '.join(known)}")
    return value
