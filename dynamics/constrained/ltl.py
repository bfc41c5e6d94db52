"""Constrained forward dynamics on the sparse factorization M = L' D L of the mass matrix (Featherstone 2010).

Sathya 2024a Sec. II-C: Y = J L^-1, the Delassus matrix is Y D^-1 Y'. Needs constraints with independent rows.
"""

from __future__ import annotations

import numpy as np

from ..algebra.arrays import rows
from ..algebra.ldl import RowFactor
from ..forward_problem import Answer, ForwardProblem
from ..free.crba import blocks
from ..free.kinematics import row_jacobian
from ..free.ltl_factor import LTL, by_dof, pushed, transposed
from ..free.rnea import body_accelerations, newton_euler


def ltl(problem: ForwardProblem) -> Answer:
    """Joint accelerations (nv, 1) and the constraints' forces, by the Delassus matrix."""
    model, move, held = problem.model, problem.move, problem.demands
    at_rest = body_accelerations(model, move, np.zeros((model.nv, 1)))
    M = LTL(model, blocks(model, move.X))
    y = M.inward(by_dof(problem.tau - newton_euler(model, move, at_rest, problem.external)))
    if not held:
        return M.outward(y), []
    J = [row_jacobian(model, move.X, row.body, row.site.frame, row.site.rows) for row in held]
    Y = [M.inward(transposed(model, each)) for each in J]
    missing = [row.k - row.K @ at_rest[row.body] - Ja[0] for row, Ja in zip(held, M.form(Y, [y]))]
    stacked = RowFactor(M.delassus(Y), problem.least_pivots).balance(rows(missing))
    ends = np.cumsum([row.site.size for row in held]).tolist()
    forces = [stacked[end - row.site.size : end, :] for end, row in zip(ends, held)]
    return M.outward(pushed(y, Y, forces)), forces
