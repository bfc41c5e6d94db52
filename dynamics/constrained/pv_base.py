"""Popov and Vereshchagin's solver for a floating base, which is met before the forces (Sathya 2024a eqs. 46 and 49).

As `pv` up to the base, where L is block-diagonal over the branches: the base's acceleration is solved for through L,
and the forces after it. Needs constraints with rows that are independent on each branch by itself.

    [H   K'] [a_0    ]   [f ]
    [K  -L ] [-lambda] = [-l]
"""

from __future__ import annotations

from ...errors import ModelError
from ..algebra.arrays import Array, pick, put, rows
from ..algebra.ldl import Factor, RowFactor
from ..forward_problem import Answer, ForwardProblem
from ..free.articulated_tree import ArticulatedTree
from ..free.tree_motion import base_acceleration
from .pv import CarriedRows

# What a row of a branch must leave beside those before it, without the base's help: what is less cancels against the
# base's share, and takes as many digits with it.
INDEPENDENT = 1e-6


def pv_base(problem: ForwardProblem) -> Answer:
    """Joint accelerations (nv, 1) and the constraints' forces."""
    model, move, f = problem.model, problem.move, problem.applied_forces()
    if not model.has_floating_base:
        raise ModelError(f"method 'pv-base': model '{model.name}' is fixed to the world, expected a floating base")
    tree, rows_on = ArticulatedTree(model, move.X), CarriedRows(problem)
    Du: dict[int, Array] = {}
    for i in tree.inward[:-1]:
        tree.articulate(i)
        Du[i] = tree.push(i, f, problem.joint_forces(i), move.ab[i])
        rows_on.carry(i, tree, Du[i], move.ab[i])

    axes, a0 = model.joints[0].axes, base_acceleration(model)
    K, L, l = rows_on.stack.at(0)
    dual = RowFactor(L, rows_on.stack.gather(0, problem.least_pivots), INDEPENDENT)
    base, force = base_first(tree.H[0], f[0] + put(problem.joint_forces(0), axes, 6), K, dual, l)
    forces = rows_on.stack.split(0, force)

    a = [base]
    qdd = [pick(base - move.X[0].motion(a0) - move.ab[0], axes)]
    qdd += [tree.pull(i, a, Du[i] + rows_on.felt(i, tree, forces), move.ab[i], a0) for i in tree.outward[1:]]
    return rows(qdd), forces


def base_first(H: Array, f: Array, K: Array, dual: RowFactor, l: Array) -> tuple[Array, Array]:
    """The base's acceleration (eq. 49), and from it the stacked forces (eq. 46), L as its factors."""
    a = Factor(H + dual.inverse_form(K)).solve(f - K.T @ dual.solve(l))
    return a, -dual.balance(K @ a + l)
