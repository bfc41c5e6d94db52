"""Distances of points to blocks by whole arrays, beside those of the core and of the expressions."""

import numpy as np


def points_to_blocks(points: np.ndarray, blocks: np.ndarray) -> np.ndarray:
    """The distances (points, blocks), m, of points (count, 3) to blocks (count, 17)."""
    R, half, cylinder = blocks[:, :9].reshape(-1, 3, 3), blocks[:, 12:15], blocks[:, 16] > 0
    local = np.abs(np.einsum("kij,pki->pkj", R, points[:, None] - blocks[:, 9:12]))
    round_ = local[:, cylinder]
    local[:, cylinder, 0], local[:, cylinder, 1] = np.hypot(round_[..., 0], round_[..., 1]), 0.0
    over = local - half
    over[:, cylinder, 1] = over[:, cylinder, 0].clip(max=0.0)
    outside = np.linalg.norm(over.clip(min=0.0), axis=2)
    return outside + over.max(axis=2).clip(max=0.0) - blocks[:, 15]
