"""Forward dynamics by the articulated-body algorithm (Featherstone 1983; Sathya 2024a Algorithm 1 without constraints).

Letters of Sathya 2024a: H articulated inertia, f the force on a body that is not a constraint's, U D G of
`articulation`, u = tau + S' f. Body frames; a_0 = -gravity.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..algebra.arrays import Array, pick, put, rows
from ..algebra.spatial import Inertia
from .articulation import Articulation
from .tree_motion import TreeMotion, base_acceleration, tree_motion

if TYPE_CHECKING:
    from ..model import Model


def aba(model: Model, q: Array, v: Array, tau: Array, external: Sequence[Array | None] | None = None) -> Array:
    """Joint accelerations (nv, 1); `external` holds a force (6, 1) on each body in its frame, or None."""
    move = tree_motion(model, q, v)
    H, f = [body.matrix for body in model.lumped], applied_forces(model.lumped, move, external)
    return sweeps(model, move, H, f, tau)[0]


def applied_forces(
    inertias: Sequence[Inertia], move: TreeMotion, external: Sequence[Array | None] | None
) -> list[Array]:
    """f of every body before the sweeps: external forces less those that keep it turning."""
    f = [-body.spin_force(W) for body, W in zip(inertias, move.W)]
    if external is None:
        return f
    return [force if more is None else force + more for force, more in zip(f, external)]


def sweeps(model: Model, move: TreeMotion, H: list[Array], f: list[Array], tau: Array) -> tuple[Array, list[Array]]:
    """The backward sweep and the roll-out for inertias H and forces f of the bodies: joint and body accelerations."""
    X, joints, Du = move.X, [None] * model.size, [None] * model.size
    for i in reversed(range(model.size)):
        parent, part = model.parents[i], model.v_slices[i]
        joints[i] = Articulation(model.joints[i].axes, H[i], model.armature[part])
        u = tau[part, :] + pick(f[i], joints[i].axes)
        Du[i] = joints[i].D.solve(u)
        if parent >= 0:
            Ha = joints[i].inertia()
            H[parent] = H[parent] + X[i].inertia(Ha)
            f[parent] = f[parent] + X[i].force(reaction(joints[i], f[i] - Ha @ move.ab[i], u, tau[part, :]))

    a, qdd = [], []
    for i, parent in enumerate(model.parents):
        a_parent = base_acceleration(model) if parent < 0 else a[parent]
        joint_acceleration, acceleration = joints[i].accelerate(X[i].motion(a_parent) + move.ab[i], Du[i])
        qdd.append(joint_acceleration)
        a.append(acceleration)
    return rows(qdd), a


def reaction(joint: Articulation, f: Array, u: Array, tau: Array) -> Array:
    """What the parent feels of a body's force f and the joint's own: f - G u, which along the axes is -tau."""
    if not joint.free:
        return f - joint.G @ u
    return joint.clear(f - joint.G @ u) - put(tau, joint.axes, 6)
