"""Inverse dynamics of a constrained robot: which joint forces and constraint forces carry a motion.

M a + h = tau + p + J' lambda, p the passive forces, has nv equations; joints without a motor (a floating base) have
tau = 0. Of the constraint forces that satisfy those rows the one of least norm is taken:
lambda = J_u (J_u' J_u)^-1 (M a + h - p)_u, J_u the columns of the motorless dofs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...errors import ModelError
from ..algebra.arrays import Array, pick
from ..algebra.ldl import Factor
from ..constraints.constraint import Constraint
from ..constraints.loops import constraint_jacobian
from ..free.passive import passive_forces
from ..free.rnea import rnea

if TYPE_CHECKING:
    from ..model import Model


def motorless(model: Model) -> list[int]:
    """The dofs of floating joints."""
    pairs = zip(model.joints, model.v_slices)
    return [k for joint, part in pairs if joint.floats for k in range(part.start, part.stop)]


def constrained_inverse(
    model: Model,
    q: Array,
    v: Array,
    a: Array,
    constraints: Sequence[Constraint],
    external: Sequence[Array | None] | None = None,
) -> tuple[Array, list[Array]]:
    """Joint forces tau (nv, 1), zero at floating joints, and the constraints' forces."""
    tau = rnea(model, q, v, a, external) - passive_forces(model, q, v)
    free = motorless(model)
    if not free:
        return tau, [np.zeros((constraint.size, 1)) for constraint in constraints]
    J = constraint_jacobian(model, q, constraints)
    Ju = J[:, free]
    try:
        stacked = Ju @ Factor(Ju.T @ Ju).solve(pick(tau, free))
    except ZeroDivisionError:
        links = ", ".join(f"'{constraint.link}'" for constraint in constraints)
        raise ModelError(
            f"constraints on {links} cannot carry the floating base, expected six independent rows"
        ) from None
    ends = np.cumsum([constraint.size for constraint in constraints])
    forces = [stacked[end - constraint.size : end, :] for end, constraint in zip(ends, constraints)]
    moved = np.ones((model.nv, 1))
    moved[free] = 0.0
    return (tau - J.T @ stacked) * moved, forces
