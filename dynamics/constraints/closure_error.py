"""How far a constraint is from being met in position: the pose of its frame against its target."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..algebra import quaternion
from ..algebra.arrays import Array, numbers, rows
from ..algebra.spatial import Transform
from ..free.tree_motion import transforms
from .loops import relative_pose

if TYPE_CHECKING:
    from ..model import Model
    from .constraint import Constraint


def frame_pose(model: Model, q: Array, constraint: Constraint) -> Transform:
    """The constraint's frame as the body of the other link sees it, or the world."""
    one, base = model.frame(constraint.link), -1
    if constraint.other is not None:
        base = model.frame(constraint.other).body
    return relative_pose(model, transforms(model, q), one.body, base, constraint.frame.after(one.placement))


def target_pose(model: Model, constraint: Constraint) -> Transform | None:
    """Where the frame is to be, for the same body."""
    if constraint.target is None or constraint.other is None:
        return constraint.target
    return constraint.target.after(model.frame(constraint.other).placement)


def displacement(model: Model, q: Array, constraint: Constraint, target: Transform) -> Array:
    """e (6, 1) from the target to the frame, in the frame: a rotation vector, rad, then m. Motions that the rows do not
    hold are left out.
    """
    at, K = frame_pose(model, q, constraint), numbers(constraint.K, f"displacement of '{constraint.link}'")
    turn = quaternion.log(quaternion.near_identity(target.R.T @ at.R)) if K[:, :3].any() else np.zeros((3, 1))
    return np.linalg.pinv(K) @ K @ rows([turn, at.outward(at.p - target.p)])
