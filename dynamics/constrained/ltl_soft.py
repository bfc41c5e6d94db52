"""The soft Gauss principle of `pv_soft` in joint space: M + J' R^-1 J has the zeros of M, and is factorized as M."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..algebra.arrays import Array, entry
from ..constraints.constraint import Constraint
from ..constraints.ground import demands
from ..free.crba import blocks
from ..free.kinematics import row_jacobian
from ..free.ltl_factor import LTL, by_dof, pushed, transposed
from ..free.rnea import body_accelerations, newton_euler
from ..free.tree_motion import tree_motion

if TYPE_CHECKING:
    from ..model import Model


def ltl_soft(
    model: Model,
    q: Array,
    v: Array,
    tau: Array,
    constraints: Sequence[Constraint],
    external: Sequence[Array | None] | None = None,
) -> tuple[Array, list[Array]]:
    """Joint accelerations (nv, 1) and the constraints' forces, R the diagonal of the constraints' softness."""
    move = tree_motion(model, q, v)
    prepared = demands(model, constraints, v, move)
    at_rest = body_accelerations(model, move, np.zeros((model.nv, 1)))
    M = blocks(model, move.X)
    missing = [(row.k - row.K @ at_rest[row.body]) / row.softness for row in prepared]
    jacobians = [row_jacobian(model, move.X, row.body, row.site.frame, row.site.rows) for row in prepared]
    for row, J in zip(prepared, jacobians):
        scaled = {i: block / row.softness for i, block in J.items()}
        for i, j in ((i, j) for i in J for j in J if j <= i):
            M[i, j] = M[i, j] + J[i].T @ scaled[j]
    J = [transposed(model, each) for each in jacobians]
    force = by_dof(tau - newton_euler(model, move, at_rest, external))
    M = LTL(model, M)
    qdd = M.outward(M.inward(pushed(force, J, missing)))
    reached = [sum(Jc[k].T * entry(qdd, k, 0) for k in Jc) for Jc in J]
    return qdd, [pull - Ja / row.softness for row, pull, Ja in zip(prepared, missing, reached)]
