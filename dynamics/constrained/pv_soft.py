"""Constrained forward dynamics with MuJoCo's soft Gauss principle (Sathya 2024a Sec. VI, eqs. 50 to 52): ABA with
heavier links.

A constraint K a = k becomes the cost 1/2 (K a - k)' R^-1 (K a - k); its force is R^-1 (k - K a). Always solvable.
"""

from __future__ import annotations

from ..algebra.arrays import symmetric
from ..forward_problem import Answer, ForwardProblem
from ..free.aba import sweeps
from ..free.articulated_tree import ArticulatedTree


def pv_soft(problem: ForwardProblem) -> Answer:
    """Joint accelerations (nv, 1) and the constraints' forces, R the diagonal of the constraints' softness."""
    tree, f = ArticulatedTree(problem.model, problem.move.X), problem.applied_forces()
    for row in problem.demands:
        weighted = row.K / row.softness
        tree.H[row.body] = tree.H[row.body] + symmetric(row.K.T @ weighted)  # eq. 52
        f[row.body] = f[row.body] + weighted.T @ row.k
    qdd, a = sweeps(tree, problem.move, f, problem.tau)
    return qdd, [(row.k - row.K @ a[row.body]) / row.softness for row in problem.demands]
