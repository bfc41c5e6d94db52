"""How far a constraint is from being met in position: the pose of its frame against its target."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import quaternion
from .kinematics import body_poses
from .motion import transforms
from .scalar import Array, rows
from .spatial import Rotation, Transform

if TYPE_CHECKING:
    from .constraint import Constraint
    from .model import Model


def relative_pose(model: Model, q: Array, constraint: Constraint) -> Transform:
    """The constraint's frame as the other link sees it, or the world."""
    poses = body_poses(model, transforms(model, q))
    one = model.frame(constraint.link)
    frame = constraint.frame.after(one.placement)
    seen = frame.after(poses[one.body]) if one.body >= 0 else frame
    if constraint.other is None:
        return seen
    two = model.frame(constraint.other)
    base = two.placement.after(poses[two.body]) if two.body >= 0 else two.placement
    return Transform(np.eye(3), base.outward(seen.p - base.p), Rotation(base.outward(seen.R)))


def displacement(model: Model, q: Array, constraint: Constraint, target: Transform) -> Array:
    """e (6, 1) from the target to the frame, in the frame: a rotation vector, rad, then m. Motions that the rows do not
    hold are left out.
    """
    pose, K = relative_pose(model, q, constraint), constraint.K
    turn = quaternion.log(quaternion.near_identity(target.R.T @ pose.R)) if K[:, :3].any() else np.zeros((3, 1))
    return np.linalg.pinv(K) @ K @ rows([turn, pose.outward(pose.p - target.p)])
