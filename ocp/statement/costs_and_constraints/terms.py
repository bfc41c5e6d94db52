"""What is said of variables: costs, dynamics and constraints on stages, and phases that follow."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

import casadi as ca

from ..variables import Control
from .limits import Limits, zero_limits
from .soft import Price

if TYPE_CHECKING:
    from ..problem import Problem


class Kind(str, Enum):
    """What a term is for, in the order in which the rows of a block stand. Who treats rows by their kind asks what
    that is like; who states a term, or hands it on, names it.
    """

    OBJECTIVE = "objective"
    DYNAMICS = "dynamics"
    EQUALITY = "equality"
    INEQUALITY = "inequality"

    def __str__(self) -> str:
        return self.value

    @property
    def constrains(self) -> bool:
        """Whether its rows have multipliers."""
        return self is not Kind.OBJECTIVE

    @property
    def leads_on(self) -> bool:
        """Whether its rows are the state of the next stage."""
        return self is Kind.DYNAMICS

    @property
    def has_limits(self) -> bool:
        """Whether its rows may lie anywhere between limits; all others equal what they are said to."""
        return self is Kind.INEQUALITY


CONSTRAINTS = tuple(kind for kind in Kind if kind.constrains)


@dataclass(frozen=True, eq=False)
class Term:
    """A named expression on some stages, sorted, and what it is for. limits: of an inequality; of an equality what it
    was said to equal, which the expression has subtracted already, or zero where that is no matter of parameters.

    stated_rows: the indices of its rows in the constraint as it was stated. names: of those rows, or none. price: of
    what is beyond soft limits.
    """

    name: str
    kind: Kind
    expression: ca.SX
    stages: tuple[int, ...]
    limits: Limits
    stated_rows: tuple[int, ...]
    names: tuple[str, ...] = ()
    price: Price | None = None

    @property
    def rows(self) -> int:
        return self.expression.numel()


def term(
    name: str,
    kind: Kind,
    expression: ca.SX,
    stages: tuple[int, ...],
    limits: Limits | None = None,
    stated_rows: list[int] | None = None,
    names: tuple[str, ...] = (),
    price: Price | None = None,
) -> Term:
    """A term; where nothing is said of its rows, they are all zero and all that was stated. names: of all rows."""
    size = expression.numel()
    rows = range(size) if stated_rows is None else stated_rows
    named = tuple(names[row] for row in rows) if names else ()
    stated = zero_limits(size) if limits is None else limits
    return Term(name, kind, expression, stages, stated, tuple(rows), named, price)


@dataclass(frozen=True, eq=False)
class PhaseLink:
    """A phase that follows: its first states by name, as expressions of the last stage before it.

    choices: the states that are not given by the motion before: controls of that last stage, in effect.
    """

    phase: Problem
    entry: dict[str, ca.SX]
    choices: tuple[Control, ...]
