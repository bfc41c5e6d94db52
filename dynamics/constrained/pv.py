"""Constrained forward dynamics by Popov and Vereshchagin's solver (Sathya 2024a Algorithm 1, eqs. 42 to 49), in
body frames.

Letters of Sathya 2024a: H f K L l of the cost-to-go, U D G of `articulation`, u = tau + S' f. The multipliers are
returned as forces on the robot (the negative of Sathya 2024a's lambda). Needs constraints with independent rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...errors import ModelError
from ..algebra.arrays import Array, pick, put, rows
from ..algebra.ldl import Factor
from ..constraints.constraint import Constraint
from ..constraints.ground import demands
from ..constraints.stacked_rows import Stack
from ..free.aba import applied_forces, reaction
from ..free.articulation import Articulation
from ..free.tree_motion import base_acceleration, tree_motion

if TYPE_CHECKING:
    from ..model import Model


def pv(
    model: Model,
    q: Array,
    v: Array,
    tau: Array,
    constraints: Sequence[Constraint],
    external: Sequence[Array | None] | None = None,
    root: str = "dual",
) -> tuple[Array, list[Array]]:
    """Joint accelerations (nv, 1) and the constraints' forces.

    `root` says how a floating base is met: "dual" eliminates its acceleration and solves for all forces (eq. 47);
    "primal" solves for its acceleration through the block-diagonal L of its branches (eq. 49), which must each be
    full rank.
    """
    if root == "primal" and not model.has_floating_base:
        raise ModelError(f"method 'pv-base': model '{model.name}' is fixed to the world, expected a floating base")
    move = tree_motion(model, q, v)
    X, n = move.X, model.size
    H, f = [body.matrix for body in model.lumped], applied_forces(model.lumped, move, external)
    stack = Stack([(row.body, row.K, -row.k) for row in demands(model, constraints, v, move)], n)

    joints, Du, KS = [None] * n, [None] * n, [None] * n
    a, qdd = [None] * n, [None] * n
    first = 1 if root == "primal" else 0
    for i in reversed(range(first, n)):
        parent, part = model.parents[i], model.v_slices[i]
        joints[i] = Articulation(model.joints[i].axes, H[i], model.armature[part])
        u = tau[part, :] + pick(f[i], joints[i].axes)
        Du[i] = joints[i].D.solve(u)
        if stack.order[i]:
            K, L, l = stack.at(i)
            KS[i] = K[:, list(joints[i].axes)]
            KP = joints[i].force(K.T)
            L = L + joints[i].D.inverse_form(KS[i].T)
            l = l + KP.T @ move.ab[i] + KS[i] @ Du[i]
            stack.push(parent, stack.order[i], X[i].force(KP).T, L, l)
        if parent >= 0:
            Ha = joints[i].inertia()
            H[parent] = H[parent] + X[i].inertia(Ha)
            f[parent] = f[parent] + X[i].force(reaction(joints[i], f[i] - Ha @ move.ab[i], u, tau[part, :]))

    a0 = base_acceleration(model)
    K, L, l = stack.at(first - 1)
    if root == "primal":
        f[0] = f[0] + put(tau[model.v_slices[0], :], model.joints[0].axes, 6)
        a[0], force = base_first(H[0], f[0], K, L, l)
        qdd[0] = pick(a[0] - X[0].motion(a0) - move.ab[0], model.joints[0].axes)
    else:
        force = -Factor(L).solve(l + K @ a0)  # eqs. 43 and 47
    forces = stack.split(first - 1, force)

    for i in range(first, n):
        parent = model.parents[i]
        if KS[i] is not None:
            Du[i] = Du[i] + joints[i].D.solve(KS[i].T @ rows([forces[c] for c in stack.order[i]]))
        above = X[i].motion(a0 if parent < 0 else a[parent]) + move.ab[i]
        qdd[i], a[i] = joints[i].accelerate(above, Du[i])
    return rows(qdd), forces


def base_first(H: Array, f: Array, K: Array, L: Array, l: Array) -> tuple[Array, Array]:
    """The base's acceleration (eq. 49), and from it the stacked forces (eq. 46)."""
    L = Factor(L)
    a = Factor(H + L.inverse_form(K)).solve(f - K.T @ L.solve(l))
    return a, -L.solve(K @ a + l)
