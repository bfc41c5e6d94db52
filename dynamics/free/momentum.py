"""Momentum about the centre of mass, its matrix and their rates (Orin, Goswami and Lee 2013), where the ground would
have to push and where it pushes (Vukobratovic and Borovac 2004).

A spatial momentum here is (6, 1), angular part first, about the centre of mass, in the world's axes. Armature is no
part of it, as it is none of Pinocchio's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...errors import ModelError
from ..algebra.arrays import Array, add, columns, is_symbolic, rows
from ..algebra.spatial import cross, skew
from .energy import first_moment, total_mass
from .kinematics import body_poses, body_velocities
from .rnea import body_accelerations, net_force
from .tree_motion import transforms, tree_motion

if TYPE_CHECKING:
    from ..model import Model


def momentum(model: Model, q: Array, v: Array) -> Array:
    """h (6, 1), kg m^2/s and kg m/s."""
    move = tree_motion(model, q, v)
    twists = body_velocities(model, move, v)
    carried = [body.matrix @ twist for body, twist in zip(model.inertias, twists)]
    in_world = add([pose.force(part) for pose, part in zip(body_poses(model, move.X), carried)])
    return _about_centre(model, q, in_world)


def momentum_matrix(model: Model, q: Array) -> Array:
    """A (6, nv) with h = A v: of each joint's axes, the momentum of all that it carries."""
    X = transforms(model, q)
    composite = list(model.inertias)
    for i in reversed(range(model.size)):
        if model.parents[i] >= 0:
            composite[model.parents[i]] += composite[i].seen(X[i])
    poses = body_poses(model, X)
    blocks = [pose.force(body.matrix[:, list(j.axes)]) for pose, body, j in zip(poses, composite, model.joints)]
    return _about_centre(model, q, columns(blocks))


def momentum_rate(model: Model, q: Array, v: Array, a: Array) -> Array:
    """dh/dt (6, 1), N m and N."""
    weight = total_mass(model) * model.gravity.reshape(3, 1)
    return _about_centre(model, q, add(_ground_forces(model, q, v, a))) + rows([np.zeros((3, 1)), weight])


def momentum_matrix_rate(model: Model, q: Array, v: Array) -> Array:
    """dA/dt (6, nv): dh/dt = A a + dA/dt v. An inertia that moves along v changes by -(v x)' I - I (v x), a joint's
    axis by v x.
    """
    move = tree_motion(model, q, v)
    crossed = [_crossed(twist) for twist in body_velocities(model, move, v)]
    composite = [body.matrix for body in model.inertias]
    change = [-(V.T @ H + H @ V) for V, H in zip(crossed, composite)]
    for i in reversed(range(model.size)):
        parent = model.parents[i]
        if parent >= 0:
            composite[parent] = composite[parent] + move.X[i].inertia(composite[i])
            change[parent] = change[parent] + move.X[i].inertia(change[i])
    parts = list(zip(body_poses(model, move.X), composite, change, crossed, (list(j.axes) for j in model.joints)))
    linear = columns([pose.force(H[:, axes]) for pose, H, _, _, axes in parts])[3:, :]
    rate = columns([pose.force((D + H @ V)[:, axes]) for pose, H, D, V, axes in parts])
    towards = skew(linear @ v / total_mass(model)) @ linear  # the centre moves, too
    return _about_centre(model, q, rate) - rows([towards, np.zeros((3, model.nv))])


def zero_moment_point(model: Model, q: Array, v: Array, a: Array, height: Array) -> Array:
    """The point (3, 1) of the plane z = height at which a push of the ground that carries the motion has no moment
    about the horizontal axes; on flat ground it is the centre of pressure.
    """
    return _pressed(_ground_forces(model, q, v, a), total_mass(model) * abs(model.gravity).max(), height)


def centre_of_pressure(model: Model, q: Array, pushes: Sequence[Array | None], height: Array) -> Array:
    """The point (3, 1) of the plane z = height at which forces on the bodies have no moment about x and y."""
    poses, nothing = body_poses(model, transforms(model, q)), np.zeros((6, 1))
    return _pressed([pose.force(nothing if f is None else f) for pose, f in zip(poses, pushes)], 0.0, height)


def _pressed(forces: Sequence[Array], weight: Array | float, height: Array) -> Array:
    """Where forces about the world's origin act in the plane; of numbers that do not push along z a ModelError."""
    total = add(list(forces))
    if not is_symbolic(total, weight):
        size = max(weight, *(np.abs(force).max() for force in forces))
        if not abs(total[5, 0]) > 1e-12 * size:
            raise ModelError(f"nothing pushes along z (the sum is {total[5, 0]:.3g} N), expected some ground that does")
    along, up = total[:3, :] - cross(rows([np.zeros((2, 1)), height]), total[3:, :]), total[5:6, :]
    return rows([-along[1:2, :] / up, along[0:1, :] / up, height])


def _ground_forces(model: Model, q: Array, v: Array, a: Array) -> list[Array]:
    """What has to be put on each body from outside the robot, gravity apart, about the world's origin (6, 1)."""
    move = tree_motion(model, q, v)
    accelerations = body_accelerations(model, move, a)
    forces = [net_force(*each) for each in zip(model.inertias, accelerations, move.W)]
    return [pose.force(force) for pose, force in zip(body_poses(model, move.X), forces)]


def _crossed(twist: Array) -> Array:
    """The matrix (6, 6) of twist x, of motions."""
    w, u = skew(twist[:3, :]), skew(twist[3:, :])
    return rows([columns([w, np.zeros((3, 3))]), columns([u, w])])


def _about_centre(model: Model, q: Array, about_origin: Array) -> Array:
    """Force vectors (6, k) about the centre of mass."""
    c = first_moment(model, q) / total_mass(model)
    linear = about_origin[3:, :]
    turned = columns([cross(c, linear[:, k : k + 1]) for k in range(linear.shape[1])])
    return rows([about_origin[:3, :] - turned, linear])
