"""Meshes as sets of spheres: cut along their longest axis into pieces about as long as wide, a ball about each.

The balls hold points of the surface, a centimetre apart at most, and stand out of it by so much that what lies between
the points is held too. Reading meshes is trimesh's work.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...errors import ModelError

if TYPE_CHECKING:
    from ..kinematic_tree import Shape

SPACING = 0.01  # m, between points of a surface


def fitted_spheres(shape: Shape) -> list[tuple[np.ndarray, float]]:
    """Centre (3,) in the mesh's frame and radius of spheres that hold the mesh."""
    assert shape.mesh is not None
    if not Path(shape.mesh).is_file():
        raise ModelError(f"link '{shape.link}': its mesh '{shape.mesh}' is not there, expected a file")
    return [*_fitted(shape.mesh, tuple(shape.size))]


@lru_cache(maxsize=256)
def _fitted(path: str, scale: tuple[float, ...]) -> tuple[tuple[np.ndarray, float], ...]:
    points = _surface(_triangles(path) * np.array(scale))
    axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)[2]
    along, *across = (points @ axes.T).T
    width = max(float(np.ptp(side)) for side in across)
    count = max(1, min(8, round(float(np.ptp(along)) / max(width, SPACING) * 1.5)))
    edges = np.linspace(along.min(), along.max(), count + 1)
    pieces = [points[(along >= low) & (along <= high)] for low, high in pairwise(edges)]
    return tuple(_ball(piece) for piece in pieces if len(piece))


def _triangles(path: str) -> np.ndarray:
    """The corners (count, 3, 3) of a mesh."""
    try:
        import trimesh
    except ImportError:
        raise ModelError(f"mesh '{path}' needs trimesh to be read, expected `pip install trisweep[mesh]`") from None
    try:
        return np.asarray(trimesh.load_mesh(path).triangles, dtype=float)
    except Exception as error:  # whatever its many readers raise
        raise ModelError(f"mesh '{path}' cannot be read: {error}") from None


def _surface(triangles: np.ndarray) -> np.ndarray:
    """Points (count, 3) on triangles, their corners among them, none of the rest further than SPACING from one."""
    found = [triangles.reshape(-1, 3)]
    longest = np.linalg.norm(triangles - np.roll(triangles, 1, axis=1), axis=2).max(axis=1)
    for cuts in np.unique(np.ceil(longest / SPACING).astype(int)):
        chosen = triangles[np.ceil(longest / SPACING).astype(int) == cuts]
        i, j = (each.ravel() for each in np.meshgrid(np.arange(cuts + 1), np.arange(cuts + 1)))
        i, j = i[i + j <= cuts] / max(cuts, 1), j[i + j <= cuts] / max(cuts, 1)
        weights = np.column_stack([i, j, 1 - i - j])
        found.append(np.einsum("wk,tkx->twx", weights, chosen).reshape(-1, 3))
    return np.concatenate(found)


def _ball(points: np.ndarray) -> tuple[np.ndarray, float]:
    """A ball about points, nearly the smallest: the centre walks to the furthest one by ever shorter steps (Badoiu and
    Clarkson 2003).
    """
    centre = points.mean(axis=0)
    for step in range(1, 200):
        centre = centre + (points[np.linalg.norm(points - centre, axis=1).argmax()] - centre) / (step + 1)
    return centre, float(np.linalg.norm(points - centre, axis=1).max()) + SPACING
