"""Limits: lower <= expression <= upper, checked where they are said."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ...errors import ProblemError
from .manifold import Manifold


@dataclass(frozen=True, eq=False)
class Limits:
    """Lower and upper limits (size,), infinite where there is none."""

    lower: np.ndarray
    upper: np.ndarray

    @property
    def fixed(self) -> np.ndarray:
        """Where both are the same."""
        return self.lower == self.upper

    def rows(self, at: list[int]) -> Limits:
        """Those of some of the rows."""
        return Limits(self.lower[at], self.upper[at])


def unlimited(size: int) -> Limits:
    """No limits (size,)."""
    return Limits(np.full(size, -np.inf), np.full(size, np.inf))


def checked_limits(where: str, size: int, lower: ArrayLike | None, upper: ArrayLike | None) -> Limits:
    """Limits (size,) of what the user gave."""
    low, high = _side(where, "lower", size, lower, -np.inf), _side(where, "upper", size, upper, np.inf)
    if (low > high).any():
        i = int(np.flatnonzero(low > high)[0])
        raise ProblemError(f"{where}: lower[{i}] is {low[i]:g} and upper[{i}] is {high[i]:g}, expected lower <= upper")
    if (low == np.inf).any() or (high == -np.inf).any():
        raise ProblemError(f"{where}: a lower bound is +inf or an upper one -inf, expected room between them")
    return Limits(low, high)


def _side(where: str, side: str, size: int, value: ArrayLike | None, default: float) -> np.ndarray:
    if isinstance(value, (ca.SX, ca.MX)) and not value.is_constant():
        raise ProblemError(
            f"{where}: {side} is the expression {value}, expected numbers; constrain the difference instead"
        )
    try:
        array = np.array(default if value is None else value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise ProblemError(f"{where}: {side} is {value!r}, expected numbers") from None
    if array.ndim == 2 and 1 in array.shape:
        array = array.ravel()
    if array.ndim > 1 or array.size not in (1, size):
        raise ProblemError(f"{where}: {side} has shape {array.shape}, expected one number or ({size},)")
    if np.isnan(array).any():
        raise ProblemError(f"{where}: {side} has NaN, expected numbers or infinity")
    return np.broadcast_to(array, (size,)).copy()


def coordinate_limits(where: str, manifold: Manifold, lower: ArrayLike | None, upper: ArrayLike | None) -> Limits:
    """Limits given for the entries of a state, as limits of its coordinates (dimension,)."""
    entries = checked_limits(where, manifold.size, lower, upper)
    for start, stop in manifold.units:
        # Joints' limits come as (-1, 1) or infinite for such entries: both say nothing.
        if (entries.lower[start:stop] > -1).any() or (entries.upper[start:stop] < 1).any():
            raise ProblemError(
                f"{where}: entries {start} to {stop - 1} are a unit {'quaternion' if stop - start == 4 else 'pair'}, "
                "expected no bounds on them; constrain what they turn instead"
            )
    found, at, plain = unlimited(manifold.dimension), list(manifold.plain_coordinates), list(manifold.plain)
    found.lower[at], found.upper[at] = entries.lower[plain], entries.upper[plain]
    return found
