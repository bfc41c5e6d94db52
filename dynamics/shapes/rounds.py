"""The round parts of a robot: what its shapes are for distances, each a point or a segment on a body, with a radius.

Spheres and capsules are taken as they are. Boxes and cylinders, and capsules where spheres alone are asked for, are
covered by spheres, which stand out of them a little: a cell of a box by the ball through its corners, a piece of a
cylinder or capsule by the ball through its rims.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from ...errors import ModelError
from ..algebra.arrays import Array
from ..algebra.spatial import Transform
from .block import checked_shape

if TYPE_CHECKING:
    from ..kinematic_tree import Shape
    from ..model import Model


@dataclass(frozen=True, eq=False)
class Round:
    """The segment from a to b, (3, 1) in the frame of a body (-1: the world), grown by a radius; a sphere where b is
    None. link: whose shape it is.
    """

    link: str
    body: int
    a: np.ndarray
    b: np.ndarray | None
    radius: float

    def ends(self, poses: list[Transform]) -> tuple[Array, Array | None]:
        """Where a and b are in the world, the bodies being at these poses."""
        if self.body < 0:
            return self.a, self.b
        pose = poses[self.body]
        return pose.p + pose.inward(self.a), None if self.b is None else pose.p + pose.inward(self.b)


def shapes_of(model: Model) -> tuple[Shape, ...]:
    """The shapes that a robot collides with: those its file has for it, or what it is drawn by."""
    shapes = model.collision_shapes or model.shapes
    if not shapes:
        raise ModelError(f"model '{model.name}' has no shapes, expected <collision> or <visual> elements in its file")
    return shapes


def rounds_of(model: Model) -> list[Round]:
    """The round parts of a robot, capsules kept."""
    return [part for shape in shapes_of(model) for part in _of_shape(model, shape, _pieces(shape, keep=True))]


def spheres_of(model: Model) -> list[Round]:
    """The round parts of a robot as spheres alone."""
    return [part for shape in shapes_of(model) for part in _of_shape(model, shape, _pieces(shape, keep=False))]


def _of_shape(model: Model, shape: Shape, pieces: list[tuple[np.ndarray, np.ndarray | None, float]]) -> list[Round]:
    frame = model.frame(shape.link)
    where = shape.placement.after(frame.placement)

    def on_body(x: np.ndarray) -> np.ndarray:
        return np.asarray(where.p + where.inward(x.reshape(3, 1)))

    return [Round(shape.link, frame.body, on_body(a), None if b is None else on_body(b), r) for a, b, r in pieces]


def _pieces(shape: Shape, keep: bool) -> list[tuple[np.ndarray, np.ndarray | None, float]]:
    """(a, b, radius) in the shape's own frame."""
    if shape.kind == "mesh":
        from .meshes import fitted_spheres

        return [(centre, None, radius) for centre, radius in fitted_spheres(shape)]
    size = checked_shape(f"link '{shape.link}'", shape).size
    if shape.kind == "sphere":
        return [(np.zeros(3), None, size[0])]
    if shape.kind == "box":
        counts = [max(1, round(side / max(min(size), max(size) / 8))) for side in size]
        cell = np.array(size) / counts
        indices = np.array(list(product(*map(range, counts))))
        centres = (indices + 0.5) * cell - np.array(size) / 2
        return [(centre, None, float(np.linalg.norm(cell) / 2)) for centre in centres]
    radius, length = size
    if shape.kind == "capsule" and keep:
        return [(np.array([0, 0, -length / 2]), np.array([0, 0, length / 2]), radius)]
    count = max(1, int(np.ceil(length / radius)))
    heights = (np.arange(count) + 0.5) * length / count - length / 2
    if shape.kind == "capsule":
        heights = np.linspace(-length / 2, length / 2, count + 1)
    over = float(np.hypot(radius, length / count / 2))
    return [(np.array([0.0, 0.0, z]), None, over) for z in heights]
