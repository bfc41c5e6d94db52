"""Limits: lower <= expression <= upper, numbers or expressions of parameters, checked where they are said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ....cached import cached_property
from ....errors import ProblemError
from ....floats import checked_floats
from ..manifold import Manifold


@dataclass(frozen=True, eq=False)
class Limits:
    """Lower and upper limits, columns (size,) of numbers and of expressions of parameters; infinite: there is none."""

    lower: ca.SX
    upper: ca.SX

    @cached_property
    def numbers(self) -> tuple[np.ndarray, np.ndarray]:
        """Both (size,), NaN where they are expressions."""
        return _numbers(self.lower), _numbers(self.upper)

    @property
    def parametric(self) -> bool:
        """Whether an entry waits for the parameters of a solve."""
        return bool(np.isnan(self.numbers).any())

    @property
    def fixed(self) -> np.ndarray:
        """Where both are the same number."""
        return self.numbers[0] == self.numbers[1]

    def rows(self, at: list[int]) -> Limits:
        """Those of some of the rows."""
        return Limits(self.lower[at], self.upper[at])


def constant_limits(lower: np.ndarray, upper: np.ndarray) -> Limits:
    """Limits that are numbers (size,)."""
    return Limits(ca.SX(ca.DM(lower)), ca.SX(ca.DM(upper)))


def unlimited(size: int) -> Limits:
    """No limits (size,)."""
    return constant_limits(np.full(size, -np.inf), np.full(size, np.inf))


def zero_limits(size: int) -> Limits:
    """What an equality's rows are to be (size,)."""
    return constant_limits(np.zeros(size), np.zeros(size))


def checked_limits(where: str, size: int, lower: Any, upper: Any) -> Limits:
    """Limits (size,) of what the user gave; expressions among them are checked by the problem already."""
    limits = Limits(_side(where, "lower", size, lower, -np.inf), _side(where, "upper", size, upper, np.inf))
    low, high = limits.numbers
    if (low > high).any():
        i = int(np.flatnonzero(low > high)[0])
        raise ProblemError(
            f"{where}: lower[{i}] is {low[i]:.15g} and upper[{i}] is {high[i]:.15g}, expected lower <= upper"
        )
    if (low == np.inf).any() or (high == -np.inf).any():
        raise ProblemError(f"{where}: a lower bound is +inf or an upper one -inf, expected room between them")
    return limits


def _side(where: str, side: str, size: int, value: Any, default: float) -> ca.SX:
    if isinstance(value, ca.SX) and not value.is_constant():
        if value.numel() not in (1, size):
            raise ProblemError(f"{where}: {side} has shape {value.shape}, expected one number or ({size},)")
        return ca.vec(ca.densify(value)) if value.numel() == size else ca.repmat(value, size, 1)
    array = checked_floats(f"{where}: {side}", default if value is None else value)
    if array.ndim == 2 and 1 in array.shape:
        array = array.ravel()
    if array.ndim > 1 or array.size not in (1, size):
        raise ProblemError(f"{where}: {side} has shape {array.shape}, expected one number or ({size},)")
    if np.isnan(array).any():
        raise ProblemError(f"{where}: {side} has NaN, expected numbers or infinity")
    return ca.SX(ca.DM(np.broadcast_to(array, (size,)).copy()))


def _numbers(column: ca.SX) -> np.ndarray:
    return np.array([float(entry) if entry.is_constant() else np.nan for entry in ca.vertsplit(column)])


def coordinate_limits(where: str, manifold: Manifold, entries: Limits) -> Limits:
    """Limits of the entries of a state, as limits of its coordinates (dimension,)."""
    low, high = entries.numbers
    for start, stop in manifold.units:
        # Joints' limits come as (-1, 1) or infinite for such entries: both say nothing.
        if not (low[start:stop] <= -1).all() or not (high[start:stop] >= 1).all():
            raise ProblemError(
                f"{where}: entries {start} to {stop - 1} are a unit {'quaternion' if stop - start == 4 else 'pair'}, "
                "expected no bounds on them; constrain what they turn instead"
            )
    found = unlimited(manifold.dimension)
    for i, j in zip(manifold.plain, manifold.plain_coordinates):
        found.lower[j], found.upper[j] = entries.lower[i], entries.upper[i]
    return found
