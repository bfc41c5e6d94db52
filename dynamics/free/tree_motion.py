"""The first forward sweep that all algorithms share: where the joints have carried the bodies, and how they turn.

X_i the transform from body i to its parent, w_i the angular velocity, W_i = w x w x, a_bi = (w x w_J, W p + (2 w -
w_J) x u_J) the bias acceleration, the linear part classical (Sathya 2024a eqs. 9 to 11, with (w_J, u_J) = S_i v_i
the joint's velocity). Body frames.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..algebra.arrays import Array, put, rows
from ..algebra.spatial import Transform, cross, spin_square

if TYPE_CHECKING:
    from ..model import Model


@dataclass(frozen=True)
class TreeMotion:
    """What the sweep leaves behind, a list entry per body."""

    X: list[Transform]
    w: list[Array]
    W: list[Array]
    ab: list[Array]


def transforms(model: Model, q: Array) -> list[Transform]:
    """X_i for every body; sine and cosine of each joint once."""
    X = []
    for joint, fixed, part in zip(model.joints, model.placements, model.q_slices):
        rotation, slide = joint.pose(q[part, :])
        X.append(Transform(fixed.fixed, fixed.p + fixed.fixed @ slide, rotation))
    return X


def tree_motion(model: Model, q: Array, v: Array) -> TreeMotion:
    """Transforms, angular velocities and bias accelerations."""
    return tree_motion_along(model, transforms(model, q), v)


def tree_motion_along(model: Model, X: list[Transform], v: Array) -> TreeMotion:
    """The same for bodies that are carried to X already."""
    w: list[Array] = []
    W: list[Array] = []
    ab: list[Array] = []
    for i, parent in enumerate(model.parents):
        joint_velocity = put(v[model.v_slices[i], :], model.joints[i].axes, 6)
        wJ, uJ = joint_velocity[:3, :], joint_velocity[3:, :]
        if parent < 0:
            w.append(wJ)
            drag: Array = np.zeros((3, 1))
        else:
            w.append(X[i].outward(w[parent]) + wJ)
            drag = X[i].outward(W[parent] @ X[i].p)
        W.append(spin_square(w[i]))
        ab.append(rows([cross(w[i], wJ), drag + cross(2 * w[i] - wJ, uJ)]))
    return TreeMotion(X, w, W, ab)


def base_acceleration(model: Model) -> np.ndarray:
    """a_0 = -gravity (6, 1)."""
    return np.concatenate([np.zeros(3), -model.gravity]).reshape(6, 1)
