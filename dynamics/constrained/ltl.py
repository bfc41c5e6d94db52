"""Constrained forward dynamics on the sparse factorization M = L' D L of the mass matrix (Featherstone 2010).

Sathya 2024a Sec. II-C: Y = J L^-1, the Delassus matrix is Y D^-1 Y'. Needs constraints with independent rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..algebra.arrays import Array, rows
from ..algebra.ldl import Factor
from ..constraints.constraint import Constraint
from ..constraints.ground import demands
from ..free.crba import blocks
from ..free.kinematics import row_jacobian
from ..free.ltl_factor import LTL, by_dof, pushed, transposed
from ..free.rnea import body_accelerations, newton_euler
from ..free.tree_motion import tree_motion

if TYPE_CHECKING:
    from ..model import Model


def ltl(
    model: Model,
    q: Array,
    v: Array,
    tau: Array,
    constraints: Sequence[Constraint],
    external: Sequence[Array | None] | None = None,
) -> tuple[Array, list[Array]]:
    """Joint accelerations (nv, 1) and the constraints' forces, by the Delassus matrix."""
    move = tree_motion(model, q, v)
    prepared = demands(model, constraints, v, move)
    at_rest = body_accelerations(model, move, np.zeros((model.nv, 1)))
    M = LTL(model, blocks(model, move.X))
    y = M.inward(by_dof(tau - newton_euler(model, move, at_rest, external)))
    if not constraints:
        return M.outward(y), []
    Y = [
        M.inward(transposed(model, row_jacobian(model, move.X, row.body, row.site.frame, row.site.rows)))
        for row in prepared
    ]
    missing = [row.k - row.K @ at_rest[row.body] - Ja[0] for row, Ja in zip(prepared, M.form(Y, [y]))]
    stacked = Factor(M.delassus(Y)).solve(rows(missing))
    ends = np.cumsum([row.k.shape[0] for row in prepared])
    forces = [stacked[end - row.k.shape[0] : end, :] for end, row in zip(ends, prepared)]
    return M.outward(pushed(y, Y, forces)), forces
