"""The motion of a robot, handed to `drawing` as the poses of its bodies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...errors import ModelError
from ..algebra.arrays import column
from ..free.kinematics import body_poses
from ..free.tree_motion import transforms

if TYPE_CHECKING:
    from ...drawing.triangles import Pose
    from ..model import Model


def animate(model: Model, times: np.ndarray, q: np.ndarray, path: str | Path, title: str = "") -> Path:
    """Write a page that stands alone, for configurations q (n, nq) at times (n,), s."""
    from ...drawing.robot_page import frames, write_page

    times, q = np.asarray(times, dtype=float), np.asarray(q, dtype=float)
    if q.ndim != 2 or q.shape[1] != model.nq or times.shape != q.shape[:1] or not len(times):
        raise ModelError(
            f"animate: q has shape {q.shape} and times {times.shape}, expected (n, {model.nq}) and (n,) with n > 0"
        )
    if not np.isfinite(q).all():
        raise ModelError("animate: q has an entry that is not finite, expected numbers")
    shown = frames(times)
    return write_page(path, title or model.name, model, times[shown], [world_poses(model, row) for row in q[shown]])


def world_poses(model: Model, q: np.ndarray) -> list[Pose]:
    """Rotation (3, 3) and position (3,) of every body in the world, and of the world itself last."""
    poses = body_poses(model, transforms(model, column(model.normalise(q), model.nq, "q")))
    return [*((np.asarray(X.R), np.asarray(X.p).ravel()) for X in poses), (np.eye(3), np.zeros(3))]
