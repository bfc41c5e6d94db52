"""Paths among obstacles, without time: RRT-Connect and shortening in the core (`native/src/paths/connect.hpp`)."""

from __future__ import annotations

import numpy as np

from .cloud import Cloud
from .scene import Scene

REACH = 2 * np.pi  # rad: how far random configurations lie from the ends where a joint has no limit


def find_path(
    cloud: Cloud,
    scene: Scene,
    start: np.ndarray,
    goal: np.ndarray,
    margin: float = 0.0,
    iterations: int = 20000,
    seed: int = 0,
) -> tuple[np.ndarray, int]:
    """Rows (points, nq) of a path that keeps a margin, m, none where none was found, and the iterations it took.

    Joints are taken as numbers on a line, so a robot's joints must all have one coordinate.
    """
    from ...native import core

    search = core.Search()
    low, high = cloud.model.q_lower, cloud.model.q_upper
    search.lower = np.where(np.isfinite(low), low, np.minimum(start, goal) - REACH).tolist()
    search.upper = np.where(np.isfinite(high), high, np.maximum(start, goal) + REACH).tolist()
    search.scale = [1.0] * cloud.model.nq
    search.margin, search.iterations, search.seed = margin, iterations, seed
    path, taken = cloud.clearance(scene).find_path(search, np.ascontiguousarray(start), np.ascontiguousarray(goal))
    return path, taken
