"""What a statement is made of: variables, terms, links between phases, and how their numbers are checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ...adjoint import nodes_of
from ...errors import ProblemError
from .manifold import Manifold

if TYPE_CHECKING:
    from .problem import Problem

COMPARISONS = (ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE)


@dataclass(frozen=True)
class Free:
    """A duration that is found with the motion: a guess and bounds, in s; the lower one is positive."""

    guess: float
    lower: float = 1e-3
    upper: float = np.inf


@dataclass(frozen=True, eq=False)
class Variable:
    """A state, control or parameter.

    value: a column, what the user works with. symbol: the coordinates the solver moves, and anchor: about which place,
    for a state on a manifold; else symbol is the value itself. lower, upper: bounds of the coordinates, infinite where
    there is none. on: the robot whose configuration it is.
    """

    name: str
    value: ca.SX
    symbol: ca.SX
    anchor: ca.SX
    manifold: Manifold
    lower: np.ndarray
    upper: np.ndarray
    per_stage: bool = False
    on: Any = None

    @property
    def size(self) -> int:
        """The number of coordinates."""
        return self.symbol.numel()


@dataclass(frozen=True, eq=False)
class Term:
    """A named expression on some stages: what it is for, and bounds (rows,) where it is an inequality.

    kind: "objective", "next", "equality" or "inequality". stages: sorted indices.
    rows: their indices in the constraint as it was stated, where they are not all of it.
    """

    name: str
    kind: str
    expression: ca.SX
    stages: tuple[int, ...]
    lower: np.ndarray | None = None
    upper: np.ndarray | None = None
    rows: tuple[int, ...] | None = None


@dataclass(frozen=True, eq=False)
class Link:
    """A phase that follows: its first states by name, as expressions of the last stage before it.

    choices: the states that are not given by the motion before: controls of that last stage, in effect.
    """

    phase: Problem
    entry: dict[str, ca.SX]
    choices: tuple[Variable, ...]


def variable(
    name: str, manifold: Manifold, lower: np.ndarray, upper: np.ndarray, per_stage: bool = False, on: Any = None
) -> Variable:
    """A variable with symbols of its own."""
    symbol = ca.SX.sym(name, manifold.dimension)
    anchor = ca.SX.sym(f"anchor of {name}", manifold.anchors)
    value = manifold.compose(symbol, anchor) if manifold.units else symbol
    return Variable(name, value, symbol, anchor, manifold, lower, upper, per_stage, on)


def uses(expression: ca.SX, variables: list[Variable]) -> bool:
    """Whether an expression, or a node it rests on, contains a symbol of the variables."""
    wanted = {s.element_hash() for v in variables for s in ca.vertsplit(v.symbol)}
    everything = [expression, *(node.residual for node in nodes_of(expression))]
    return any(s.element_hash() in wanted for s in ca.symvar(ca.veccat(*everything)))


def compares(expression: ca.SX) -> bool:
    """Whether an entry is a comparison, such as x <= 1."""
    return any(entry.is_op(kind) for entry in ca.vertsplit(expression) for kind in COMPARISONS)


def same(expression: ca.SX, other: ca.SX) -> bool:
    """Whether two expressions are the same entries."""
    return expression.shape == other.shape and all(
        a.element_hash() == b.element_hash() for a, b in zip(ca.vertsplit(expression), ca.vertsplit(other))
    )


def checked_bounds(
    where: str, size: int, lower: ArrayLike | None, upper: ArrayLike | None
) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper bounds (size,), infinite where there is none."""
    result = []
    for name, value, default in (("lower", lower, -np.inf), ("upper", upper, np.inf)):
        if isinstance(value, (ca.SX, ca.MX)) and not value.is_constant():
            raise ProblemError(
                f"{where}: {name} is the expression {value}, expected numbers; constrain the difference instead"
            )
        try:
            array = np.array(default if value is None else value, dtype=float)
        except (TypeError, ValueError):
            raise ProblemError(f"{where}: {name} is {value!r}, expected numbers") from None
        if array.ndim == 2 and 1 in array.shape:
            array = array.ravel()
        if array.ndim > 1 or array.size not in (1, size):
            raise ProblemError(f"{where}: {name} has shape {array.shape}, expected one number or ({size},)")
        if np.isnan(array).any():
            raise ProblemError(f"{where}: {name} has NaN, expected numbers or infinity")
        result.append(np.broadcast_to(array, (size,)).copy())
    low, high = result
    if (low > high).any():
        i = int(np.flatnonzero(low > high)[0])
        raise ProblemError(f"{where}: lower[{i}] is {low[i]:g} and upper[{i}] is {high[i]:g}, expected lower <= upper")
    if (low == np.inf).any() or (high == -np.inf).any():
        raise ProblemError(f"{where}: a lower bound is +inf or an upper one -inf, expected room between them")
    return low, high


def coordinate_bounds(
    where: str, manifold: Manifold, lower: ArrayLike | None, upper: ArrayLike | None
) -> tuple[np.ndarray, np.ndarray]:
    """Bounds given for the entries of a state, as bounds of its coordinates (dimension,)."""
    low, high = checked_bounds(where, manifold.size, lower, upper)
    for start, stop in manifold.units:
        # Joints' limits come as (-1, 1) or infinite for such entries: both say nothing.
        if (low[start:stop] > -1).any() or (high[start:stop] < 1).any():
            raise ProblemError(
                f"{where}: entries {start} to {stop - 1} are a unit {'quaternion' if stop - start == 4 else 'pair'}, "
                "expected no bounds on them; constrain what they turn instead"
            )
    plain, at = list(manifold.plain), list(manifold.plain_coordinates)
    sides = np.full(manifold.dimension, -np.inf), np.full(manifold.dimension, np.inf)
    sides[0][at], sides[1][at] = low[plain], high[plain]
    return sides
