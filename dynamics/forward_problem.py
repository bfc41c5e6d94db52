"""What constrained forward dynamics is asked: the one argument of every method, and what they all make of it first.

M a + h = tau + J' lambda,   J a + J' v = k        a (nv, 1), and lambda (m, 1) of each constraint, are asked for

tau are all joint forces: those that are given, and the model's own (`passive`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ..cached import cached_property
from .algebra.arrays import Array
from .constraints.constraint import Constraint
from .constraints.ground import Demand, demands
from .constraints.loops import Coupling, couplings
from .constraints.row_sizes import row_sizes
from .free.aba import applied_forces
from .free.passive import passive_forces
from .free.tree_motion import TreeMotion, tree_motion

if TYPE_CHECKING:
    from .model import Model

# Joint accelerations (nv, 1), and the force (m, 1) of each constraint.
Answer: TypeAlias = tuple[Array, list[Array]]

Method: TypeAlias = "Callable[[ForwardProblem], Answer]"


@dataclass(frozen=True, eq=False)
class ForwardProblem:
    """A state q (nq, 1), v (nv, 1), joint forces tau (nv, 1), constraints, and forces (6, 1) on the bodies in their
    frames, if there are any.
    """

    model: Model
    q: Array
    v: Array
    tau: Array
    constraints: Sequence[Constraint] = ()
    external: Sequence[Array | None] | None = None

    @cached_property
    def move(self) -> TreeMotion:
        """How the tree moves."""
        return tree_motion(self.model, self.q, self.v)

    @cached_property
    def demands(self) -> list[Demand]:
        """The constraints, all against the ground, as the tree's own methods take them."""
        return demands(self.model, self.constraints, self.v, self.move)

    @cached_property
    def couplings(self) -> list[Coupling]:
        """The constraints, loops among them."""
        return couplings(self.model, self.constraints, self.v, self.move)

    @property
    def least_pivots(self) -> np.ndarray:
        """Of each row (m,), what must be left of it in J M^-1 J' to be more than rounding."""
        return row_sizes(self.model, self.constraints).least

    def applied_forces(self) -> list[Array]:
        """The force (6, 1) on each body that is not a constraint's."""
        return applied_forces(self.model.lumped, self.move, self.external)

    def joint_forces(self, body: int) -> Array:
        """tau of the body's joint."""
        return self.tau[self.model.v_slices[body], :]


def forward_problem(
    model: Model,
    q: Array,
    v: Array,
    tau: Array,
    constraints: Sequence[Constraint] = (),
    external: Sequence[Array | None] | None = None,
) -> ForwardProblem:
    """What is asked for given joint forces: the model's own are added."""
    applied = tau + passive_forces(model, q, v) if model.passive else tau
    return ForwardProblem(model, q, v, applied, constraints, external)
