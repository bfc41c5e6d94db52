"""Poses, velocities, accelerations and Jacobians of bodies and links (Featherstone 2008, Ch. 4; Sathya 2024a eqs. 2, 9
to 11).

Velocities, accelerations and Jacobian rows are in the body's or link's own frame, angular part first; accelerations
here are Featherstone's spatial ones, without gravity.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..algebra.arrays import Array, columns, put, rows
from ..algebra.spatial import Transform, cross
from .tree_motion import TreeMotion, transforms, tree_motion

if TYPE_CHECKING:
    from ..model import Model


def body_poses(model: Model, X: list[Transform]) -> list[Transform]:
    """Where the bodies are in the world."""
    poses: list[Transform] = []
    for i, parent in enumerate(model.parents):
        poses.append(X[i] if parent < 0 else X[i].after(poses[parent]))
    return poses


def body_velocities(model: Model, move: TreeMotion, v: Array) -> list[Array]:
    """Spatial velocities (6, 1) of the bodies."""
    velocities: list[Array] = []
    for i, parent in enumerate(model.parents):
        joint = put(v[model.v_slices[i], :], model.joints[i].axes, 6)
        velocities.append(joint if parent < 0 else move.X[i].motion(velocities[parent]) + joint)
    return velocities


def link_pose(model: Model, q: Array, link: str) -> Transform:
    """Where the link is in the world."""
    frame = model.frame(link)
    if frame.body < 0:
        return frame.placement
    return frame.placement.after(body_poses(model, transforms(model, q))[frame.body])


def link_velocity(model: Model, q: Array, v: Array, link: str) -> Array:
    """Spatial velocity (6, 1) of the link."""
    frame = model.frame(link)
    if frame.body < 0:
        return np.zeros((6, 1))
    return frame.placement.motion(body_velocities(model, tree_motion(model, q, v), v)[frame.body])


def link_acceleration(model: Model, q: Array, v: Array, a: Array, link: str) -> Array:
    """Spatial acceleration (6, 1) of the link for joint accelerations a; with a = 0 the drift of its Jacobian, J' v."""
    frame = model.frame(link)
    if frame.body < 0:
        return np.zeros((6, 1))
    move = tree_motion(model, q, v)
    velocities = body_velocities(model, move, v)
    accelerations: list[Array] = []
    for i, parent in enumerate(model.parents):
        above = np.zeros((6, 1)) if parent < 0 else move.X[i].motion(accelerations[parent])
        joint = put(a[model.v_slices[i], :], model.joints[i].axes, 6)
        accelerations.append(above + move.ab[i] + joint)
    w, u = velocities[frame.body][:3, :], velocities[frame.body][3:, :]
    return frame.placement.motion(accelerations[frame.body] - rows([np.zeros((3, 1)), cross(w, u)]))


def link_jacobian(model: Model, q: Array, link: str) -> Array:
    """J (6, nv) with J v the spatial velocity of the link."""
    frame = model.frame(link)
    blocks = row_jacobian(model, transforms(model, q), frame.body, frame.placement, np.eye(6))
    return columns([blocks.get(i, np.zeros((6, joint.nv))) for i, joint in enumerate(model.joints)])


def row_jacobian(model: Model, X: list[Transform], body: int, frame: Transform, K: Array) -> dict[int, Array]:
    """The Jacobian of rows K (m, 6) on a frame of a body: blocks (m, nv_i), one for each joint that moves it."""
    blocks = {}
    for i in model.support(body):
        blocks[i] = K @ frame.motion(np.eye(6)[:, list(model.joints[i].axes)])
        frame = frame.after(X[i])
    return blocks
