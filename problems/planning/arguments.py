"""What is asked of a planner, checked where it is given."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ...dynamics import Model, Scene
from ...errors import ProblemError, said
from ...floats import floats
from .limits import JointLimits


def instance(what: str, given: Any, kind: type[Model] | type[Scene] | type[JointLimits]) -> Any:
    """The given thing, which must be of that kind."""
    if not isinstance(given, kind):
        raise ProblemError(f"{what} is {said(given)}, expected a {kind.__name__}")
    return given


def whole(what: str, given: Any, least: int, most: int) -> int:
    """A whole number between these two."""
    try:
        number = operator.index(given)
    except TypeError:
        number = least - 1
    if isinstance(given, bool) or not least <= number <= most:
        raise ProblemError(f"{what} is {said(given)}, expected a whole number from {least} to {most}")
    return number


def length(what: str, given: Any) -> float:
    """A finite number that is not negative."""
    number = numbers(what, given, "a finite number >= 0")
    if number.shape != () or not number >= 0:
        raise ProblemError(f"{what} is {said(given)}, expected a finite number >= 0")
    return float(number)


def numbers(what: str, given: Any, expected: str) -> np.ndarray:
    """Finite numbers, as an array."""
    try:
        array = floats(given)
    except TypeError:
        array = np.array(np.nan)
    if not np.isfinite(array).all():
        raise ProblemError(f"{what} is {said(given)}, expected {expected}")
    return array
