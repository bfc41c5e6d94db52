"""Momentum about the centre of mass, its matrix and its rate (Orin, Goswami and Lee 2013), and where the ground would
have to push (Vukobratovic and Borovac 2004).

A spatial momentum here is (6, 1), angular part first, about the centre of mass, in the world's axes. Armature is no
part of it, as it is none of Pinocchio's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..algebra.arrays import Array, add, columns, rows
from ..algebra.spatial import Transform, cross, placement
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
    return _about_centre(model, q, _in_world(model, move.X, carried))


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
    return _about_centre(model, q, _ground_wrench(model, q, v, a)) + rows([np.zeros((3, 1)), weight])


def zero_moment_point(model: Model, q: Array, v: Array, a: Array, height: float) -> Array:
    """The point (3, 1) of the plane z = height at which a push of the ground that carries the motion has no moment
    about the horizontal axes; on flat ground it is the centre of pressure.
    """
    wrench = _ground_wrench(model, q, v, a)
    at_height = placement(np.eye(3), np.array([0.0, 0.0, height])).inverse_force(wrench)
    return rows([*centre_of_pressure(at_height), np.full((1, 1), height)])


def centre_of_pressure(force: Array) -> tuple[Array, Array]:
    """x and y, each (1, 1), in the plane z = 0 of the frame in which a force (6, 1) is seen, moment first: there it has
    no moment about x and y.
    """
    return -force[1:2, :] / force[5:6, :], force[0:1, :] / force[5:6, :]


def _ground_wrench(model: Model, q: Array, v: Array, a: Array) -> Array:
    """What has to be put on the robot from outside, gravity apart, about the world's origin (6, 1)."""
    move = tree_motion(model, q, v)
    accelerations = body_accelerations(model, move, a)
    forces = [net_force(*each) for each in zip(model.inertias, accelerations, move.W)]
    return _in_world(model, move.X, forces)


def _in_world(model: Model, X: list[Transform], carried: Sequence[Array]) -> Array:
    """The sum of force vectors of the bodies, about the world's origin."""
    return add([pose.force(part) for pose, part in zip(body_poses(model, X), carried)])


def _about_centre(model: Model, q: Array, about_origin: Array) -> Array:
    """Force vectors (6, k) about the centre of mass."""
    c = first_moment(model, q) / total_mass(model)
    linear = about_origin[3:, :]
    turned = columns([cross(c, linear[:, k : k + 1]) for k in range(linear.shape[1])])
    return rows([about_origin[:3, :] - turned, linear])
