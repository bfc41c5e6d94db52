"""Inverse dynamics by the recursive Newton-Euler algorithm (Luh, Walker and Paul 1980; Featherstone 2008, Table 5.1).

B_i = alpha x + w x w x is the matrix of r'' = B r for matter at r on body i: the force on the body is m a + B h, the
moment h x a + sum r x (B r) dm. Body frames; a_0 = -gravity.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..algebra.arrays import Array, pick, put, rows
from ..algebra.spatial import Inertia, axial, cross, skew
from .tree_motion import TreeMotion, base_acceleration, tree_motion

if TYPE_CHECKING:
    from ..model import Model


def rnea(model: Model, q: Array, v: Array, a: Array, external: Sequence[Array | None] | None = None) -> Array:
    """Joint forces tau (nv, 1) for accelerations a; `external` holds a force (6, 1) on each body in its frame, or
    None.
    """
    move = tree_motion(model, q, v)
    tau = newton_euler(model, move, body_accelerations(model, move, a), external)
    return tau + model.armature.reshape(-1, 1) * a


def body_accelerations(model: Model, move: TreeMotion, a: Array) -> list[Array]:
    """The forward sweep: accelerations of the bodies, linear part classical, gravity taken off."""
    found: list[Array] = []
    for i, parent in enumerate(model.parents):
        above = base_acceleration(model) if parent < 0 else found[parent]
        joint = put(a[model.v_slices[i], :], model.joints[i].axes, 6)
        found.append(move.X[i].motion(above) + move.ab[i] + joint)
    return found


def newton_euler(
    model: Model, move: TreeMotion, accelerations: Sequence[Array], external: Sequence[Array | None] | None = None
) -> Array:
    """The backward sweep: joint forces (nv, 1) for the accelerations of the bodies."""
    f = []
    for i, body in enumerate(model.lumped):
        f.append(net_force(body, accelerations[i], move.W[i]))
        push = None if external is None else external[i]
        if push is not None:
            f[i] = f[i] - push
    return felt_by_joints(model, move, f)


def felt_by_joints(model: Model, move: TreeMotion, f: Sequence[Array]) -> Array:
    """The joint forces (nv, 1) that carry forces (6, 1) on the bodies, in their frames."""
    carried = list(f)
    tau: dict[int, Array] = {}
    for i in reversed(range(model.size)):
        tau[i] = pick(carried[i], model.joints[i].axes)
        if model.parents[i] >= 0:
            carried[model.parents[i]] = carried[model.parents[i]] + move.X[i].force(carried[i])
    return rows([tau[i] for i in range(model.size)])


def net_force(body: Inertia, acceleration: Array, W: Array) -> Array:
    """The force (6, 1) that a body's matter needs for its acceleration (6, 1) and its spin W = w x w x."""
    alpha, linear = acceleration[:3, :], acceleration[3:, :]
    B = skew(alpha) + W
    return rows([axial(B @ body.J) + cross(body.h, linear), body.m * linear + B @ body.h])
