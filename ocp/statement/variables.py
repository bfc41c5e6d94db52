"""What a statement is made of: states, controls, parameters, and questions about expressions of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ...adjoint import nodes_of
from ...errors import ProblemError
from .limits import Limits
from .manifold import Manifold

if TYPE_CHECKING:
    from ...dynamics import Model

COMPARISONS = (ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE)


@dataclass(frozen=True)
class Free:
    """A duration that is found with the motion: a guess and bounds, in s; the lower one is positive."""

    guess: float
    lower: float = 1e-3
    upper: float = np.inf

    def __post_init__(self) -> None:
        for name in ("guess", "lower", "upper"):
            value = getattr(self, name)
            if not is_seconds(value) and not (name == "upper" and isinstance(value, float) and value == np.inf):
                raise ProblemError(f"Free: {name} is {repr(value)[:60]}, expected a positive number of seconds")


def is_seconds(value: object) -> bool:
    """Whether something is a positive number that a float can hold."""
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    return number and 0 < value <= 1e300  # type: ignore[operator]


@dataclass(frozen=True, eq=False)
class Variable:
    """A state, control or parameter by its name; symbol: a column, for a state the coordinates the solver moves."""

    name: str
    symbol: ca.SX

    @property
    def size(self) -> int:
        """The number of symbols."""
        return self.symbol.numel()

    @property
    def entries(self) -> int:
        """The number of numbers that a user gives for it."""
        return self.size

    @property
    def symbols(self) -> list[ca.SX]:
        """All columns of symbols that stand for it in expressions."""
        return [self.symbol]


@dataclass(frozen=True, eq=False)
class State(Variable):
    """A state. value: a column, what the user works with; anchor: about which place the coordinates of one on a
    manifold are taken; elsewhere the value is the symbol itself. limits: of the coordinates. on: the robot whose
    configuration it is. names: of the coordinates, or none.
    """

    manifold: Manifold
    value: ca.SX
    anchor: ca.SX
    limits: Limits
    on: Model | None = None
    names: tuple[str, ...] = ()

    @property
    def entries(self) -> int:
        return self.manifold.size

    @property
    def symbols(self) -> list[ca.SX]:
        return [self.symbol, self.anchor]


@dataclass(frozen=True, eq=False)
class Control(Variable):
    """A control, or what is chosen at the end of a phase for one that follows. names: of its entries, or none."""

    limits: Limits
    names: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Parameter(Variable):
    """A parameter; per_stage: every stage has its own value. lengths: they are those of the steps, positive, and the
    last stage has that of the last step again. default: of every stage (stages, size), where they need not be given.
    """

    per_stage: bool
    lengths: bool = False
    default: np.ndarray | None = None


def new_state(
    name: str, manifold: Manifold, limits: Limits, on: Model | None = None, names: tuple[str, ...] = ()
) -> State:
    """A state with symbols of its own."""
    symbol = ca.SX.sym(name, manifold.dimension)
    anchor = ca.SX.sym(f"anchor of {name}", manifold.anchors)
    value = manifold.compose(symbol, anchor) if manifold.units else symbol
    return State(name, symbol, manifold, value, anchor, limits, on, names)


def checked_names(what: str, names: Sequence[str] | None, size: int) -> tuple[str, ...]:
    """The user's names of entries; none where there are none."""
    if names is None:
        return ()
    found = () if isinstance(names, str) else tuple(names)
    if len(found) != size or not all(isinstance(name, str) for name in found):
        raise ProblemError(f"{what}: names is {repr(names)[:60]}, expected {size} texts")
    return found


def uses(expression: ca.SX, variables: Sequence[Variable]) -> bool:
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
