"""The soft Gauss principle of `pv_soft` in joint space: M + J' R^-1 J has the zeros of M, and is factorized as M."""

from __future__ import annotations

import numpy as np

from ..algebra.arrays import add, entry
from ..forward_problem import Answer, ForwardProblem
from ..free.crba import blocks
from ..free.kinematics import row_jacobian
from ..free.ltl_factor import LTL, by_dof, pushed, transposed
from ..free.rnea import body_accelerations, newton_euler


def ltl_soft(problem: ForwardProblem) -> Answer:
    """Joint accelerations (nv, 1) and the constraints' forces, R the diagonal of the constraints' softness."""
    model, move, soft = problem.model, problem.move, problem.demands
    at_rest = body_accelerations(model, move, np.zeros((model.nv, 1)))
    M = blocks(model, move.X)
    missing = [(row.k - row.K @ at_rest[row.body]) / row.softness for row in soft]
    jacobians = [row_jacobian(model, move.X, row.body, row.site.frame, row.site.rows) for row in soft]
    for row, J in zip(soft, jacobians):
        scaled = {i: block / row.softness for i, block in J.items()}
        for i, j in ((i, j) for i in J for j in J if j <= i):
            M[i, j] = M[i, j] + J[i].T @ scaled[j]
    by_dofs = [transposed(model, each) for each in jacobians]
    force = by_dof(problem.tau - newton_euler(model, move, at_rest, problem.external))
    heavier = LTL(model, M)
    qdd = heavier.outward(heavier.inward(pushed(force, by_dofs, missing)))
    reached = [add([row.T * entry(qdd, k, 0) for k, row in Jc.items()]) for Jc in by_dofs]
    return qdd, [pull - Ja / row.softness for row, pull, Ja in zip(soft, missing, reached)]
