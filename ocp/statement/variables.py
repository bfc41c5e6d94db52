"""What a statement is made of: states, controls, parameters, and questions about expressions of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ...adjoint import nodes_of
from ...cached import cached_property
from ...errors import ProblemError, said
from .costs_and_constraints.limits import Limits
from .manifold import Manifold

if TYPE_CHECKING:
    from ...dynamics import Model

MOST_ENTRIES = 10**6
# What `solve` is told beside parameters, and `solve_many` besides: these can have no such name.
WORDS_OF_SOLVE = ("self", "guess", "warm_start", "start", "settings", "callback")
WORDS_OF_MANY = ("solver", "threads", "progress", "executor", "resume", "as_completed")
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
                raise ProblemError(f"Free: {name} is {said(value)}, expected a positive number of seconds")


def is_seconds(value: object) -> bool:
    """Whether something is a positive number that a float can hold."""
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    return number and 0 < value <= 1e300  # type: ignore[operator]


@dataclass(frozen=True, eq=False)
class Variable:
    """A state, control or parameter by its name; symbol: a column, for a state the coordinates the solver moves."""

    name: str
    symbol: ca.SX

    @cached_property
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


def check_name(kind: str, name: str, taken: Sequence[Variable]) -> None:
    """Of a new variable of a kind, beside those there are."""
    if not isinstance(name, str) or not name.isidentifier():
        raise ProblemError(f"{kind}: name is {name!r}, expected an identifier such as 'q'")
    if kind == "parameter" and name in WORDS_OF_SOLVE + WORDS_OF_MANY:
        solve = "solve" if name in WORDS_OF_SOLVE else "solve_many"
        raise ProblemError(f"parameter '{name}': this is a word of {solve}(...), expected another name")
    if any(v.name == name for v in taken):
        raise ProblemError(f"{kind} '{name}': the name is taken, expected another one")


def checked_size(kind: str, name: str, size: int) -> int:
    """The number of entries of a variable."""
    whole = isinstance(size, (int, np.integer)) and not isinstance(size, bool)
    if not whole or not 1 <= size <= MOST_ENTRIES:
        raise ProblemError(f"{kind} '{name}': size is {said(size)}, expected a whole number of at least 1")
    return int(size)


def stated_manifold(name: str, size: int | None, on: Model | None) -> Manifold:
    """Where a state lives: among numbers, or on the configurations of a robot."""
    if on is None:
        return Manifold(checked_size("state", name, 1 if size is None else size))
    parts = [getattr(on, part, None) for part in ("nq", "q_units", "integrate")]
    if any(part is None for part in parts):
        raise ProblemError(f"state '{name}': on is a {type(on).__name__}, expected a robot, such as robot('iiwa14')")
    if size is not None and not (isinstance(size, (int, np.integer)) and size == on.nq):
        raise ProblemError(f"state '{name}': size is {size!r}, but a configuration of this robot has {on.nq} entries")
    return Manifold(on.nq, on.q_units)


def checked_names(what: str, names: Sequence[str] | np.ndarray | None, size: int) -> tuple[str, ...]:
    """The user's names of entries; none where there are none."""
    if names is None:
        return ()
    listed = isinstance(names, Sequence) and not isinstance(names, str)
    found = tuple(names) if listed or (isinstance(names, np.ndarray) and names.ndim == 1) else ()
    if len(found) != size or not all(isinstance(name, str) for name in found):
        raise ProblemError(f"{what}: names is {said(names)}, expected {size} texts")
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
