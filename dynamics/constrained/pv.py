"""Constrained forward dynamics by Popov and Vereshchagin's solver (Sathya 2024a Algorithm 1, eqs. 42 to 47), in
body frames.

Letters of Sathya 2024a: H f K L l of the cost-to-go, U D G of `articulation`, u = tau + S' f. The rows on a body and
its descendants, K a + l - L lambda = 0, are carried to the world, and all forces are solved for there. The multipliers
are returned as forces on the robot (the negative of Sathya 2024a's lambda). Needs constraints with independent rows.
"""

from __future__ import annotations

from ..algebra.arrays import Array, rows
from ..algebra.ldl import RowFactor
from ..constraints.stacked_rows import Stack
from ..forward_problem import Answer, ForwardProblem
from ..free.articulated_tree import ArticulatedTree
from ..free.tree_motion import base_acceleration


def pv(problem: ForwardProblem) -> Answer:
    """Joint accelerations (nv, 1) and the constraints' forces."""
    model, ab, f = problem.model, problem.move.ab, problem.applied_forces()
    tree, rows_on = ArticulatedTree(model, problem.move.X), CarriedRows(problem)
    Du: dict[int, Array] = {}
    for i in tree.inward:
        tree.articulate(i)
        Du[i] = tree.push(i, f, problem.joint_forces(i), ab[i])
        rows_on.carry(i, tree, Du[i], ab[i])

    a0 = base_acceleration(model)
    K, L, l = rows_on.stack.at(-1)
    dual = RowFactor(L, rows_on.stack.gather(-1, problem.least_pivots))
    forces = rows_on.stack.split(-1, -dual.balance(l + K @ a0))  # eqs. 43 and 47

    a: list[Array] = []
    qdd = [tree.pull(i, a, Du[i] + rows_on.felt(i, tree, forces), ab[i], a0) for i in tree.outward]
    return rows(qdd), forces


class CarriedRows:
    """The rows K, L, l on each body and its descendants, and K S of those that pass a joint."""

    def __init__(self, problem: ForwardProblem):
        demands = [(row.body, row.K, -row.k) for row in problem.demands]
        self.model, self.stack = problem.model, Stack(demands, problem.model.size)
        self.KS: dict[int, Array] = {}

    def carry(self, i: int, tree: ArticulatedTree, Du: Array, ab: Array) -> None:
        """The rows of body i handed on to its parent (eqs. 42c to 42e)."""
        if not self.stack.order[i]:
            return
        joint = tree.joints[i]
        K, L, l = self.stack.at(i)
        KS, KP = K[:, list(joint.axes)], joint.force(K.T)
        self.KS[i] = KS
        L = L + joint.D.inverse_form(KS.T)
        l = l + KP.T @ ab + KS @ Du
        self.stack.push(self.model.parents[i], self.stack.order[i], tree.X[i].force(KP).T, L, l)

    def felt(self, i: int, tree: ArticulatedTree, forces: list[Array]) -> Array | float:
        """D^-1 S' K' lambda: what joint i feels of the forces."""
        if i not in self.KS:
            return 0.0
        return tree.joints[i].D.solve(self.KS[i].T @ rows([forces[c] for c in self.stack.order[i]]))
