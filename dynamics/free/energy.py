"""Centre of mass and energies, summed body by body from the moments of mass. SI units."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..algebra.arrays import Array, add, dot
from .kinematics import body_poses, body_velocities
from .tree_motion import transforms, tree_motion

if TYPE_CHECKING:
    from ..model import Model


def total_mass(model: Model) -> float:
    """The mass of all moving bodies, kg."""
    return sum(body.m for body in model.inertias)


def first_moment(model: Model, q: Array) -> Array:
    """sum m c in the world (3, 1), kg m."""
    poses = body_poses(model, transforms(model, q))
    return add([body.m * pose.p + pose.inward(body.h) for body, pose in zip(model.inertias, poses)])


def centre_of_mass(model: Model, q: Array) -> Array:
    """The centre of mass of all moving bodies, in the world (3, 1)."""
    return first_moment(model, q) / total_mass(model)


def kinetic_energy(model: Model, q: Array, v: Array) -> Array:
    """1/2 v' M v (1, 1), J."""
    velocities = body_velocities(model, tree_motion(model, q, v), v)
    bodies = add([dot(twist, body.matrix @ twist) for body, twist in zip(model.inertias, velocities)])
    return (bodies + dot(v, model.armature.reshape(-1, 1) * v)) / 2


def potential_energy(model: Model, q: Array) -> Array:
    """-gravity . sum m c (1, 1), J."""
    return -dot(model.gravity.reshape(3, 1), first_moment(model, q))
