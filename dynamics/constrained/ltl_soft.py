"""The soft Gauss principle of `pv_soft` in joint space: M + J' R^-1 J has the zeros of M, and is factorized as M.

Loops tie branches together and would fill those zeros: with them it is J M^-1 J' + R that is factorized,

    (J M^-1 J' + R) lambda = k - J a_free        R diagonal, the softness of each row.
"""

from __future__ import annotations

import numpy as np

from ..algebra.arrays import add, entry, rows
from ..algebra.ldl import Factor
from ..constraints.ground import closes_loop
from ..constraints.loops import jacobian
from ..forward_problem import Answer, ForwardProblem
from ..free.crba import blocks
from ..free.kinematics import row_jacobian
from ..free.ltl_factor import LTL, by_dof, pushed, transposed
from ..free.rnea import body_accelerations, newton_euler


def ltl_soft(problem: ForwardProblem) -> Answer:
    """Joint accelerations (nv, 1) and the constraints' forces, R the diagonal of the constraints' softness."""
    if any(closes_loop(problem.model, row) for row in problem.constraints):
        return _with_loops(problem)
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


def _with_loops(problem: ForwardProblem) -> Answer:
    model, move, held = problem.model, problem.move, problem.couplings
    at_rest = body_accelerations(model, move, np.zeros((model.nv, 1)))
    M = LTL(model, blocks(model, move.X))
    y = M.inward(by_dof(problem.tau - newton_euler(model, move, at_rest, problem.external)))
    Y = [M.inward(transposed(model, jacobian(model, move.X, row))) for row in held]
    missing = [row.residual(at_rest) - Ja[0] for row, Ja in zip(held, M.form(Y, [y]))]
    R = np.diag(np.concatenate([row.softness.ravel() for row in problem.constraints]))
    stacked = Factor(M.delassus(Y) + R).solve(rows(missing))
    ends = np.cumsum([row.size for row in held]).tolist()
    forces = [stacked[end - row.size : end, :] for end, row in zip(ends, held)]
    return M.outward(pushed(y, Y, forces)), forces
