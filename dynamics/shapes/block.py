"""One description for every primitive: a block, which is a box or a cylinder along z, grown by a radius.

A sphere is a block of no size that has grown, a capsule a segment that has grown, a half-space a box of a kilometre.
A block is a column of 17 numbers, so that what is near can be a parameter of compiled code: moving, resizing or
exchanging an obstacle changes numbers only.

    0 to 8    R, world from block, row after row
    9 to 11   p, its centre in the world, m
    12 to 14  half sizes along its axes; of a cylinder (radius, 0, half length), m
    15        the radius it has grown by, m
    16        1 for a cylinder, else 0
"""

from __future__ import annotations

import numpy as np

from ...errors import ModelError
from ..algebra.arrays import Array, rows
from ..algebra.spatial import Transform
from ..kinematic_tree import Shape

BLOCK = 17
HALF_SPACE = 500.0  # m, half the size of the box that stands for a half-space
FAR_AWAY = np.array([1.0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, -100, 0, 0, 0, 0, 0])  # a point that nothing comes near
SIZES = {"sphere": "(radius,)", "capsule": "(radius, length)", "cylinder": "(radius, length)", "box": "(x, y, z)"}


def checked_shape(what: str, shape: Shape) -> Shape:
    """The shape, if it is a primitive of a sensible size at a place."""
    if shape.kind not in SIZES:
        raise ModelError(f"{what} is a {shape.kind}, expected one of {', '.join(SIZES)}")
    size = np.asarray(shape.size, dtype=float)
    if size.shape != (SIZES[shape.kind].count(",") + (shape.kind != "sphere"),):
        raise ModelError(f"{what}: a {shape.kind} has size {shape.size}, expected {SIZES[shape.kind]}")
    if not np.isfinite(size).all() or (size < 0).any() or not size[0] > 0:
        raise ModelError(f"{what}: a {shape.kind} has size {shape.size}, expected positive numbers {SIZES[shape.kind]}")
    if not (np.isfinite(shape.placement.R).all() and np.isfinite(shape.placement.p).all()):
        raise ModelError(f"{what}: its place has an entry that is not finite, expected numbers")
    return shape


def extents(shape: Shape) -> np.ndarray:
    """The last five of a block's numbers: half sizes, radius, whether it is a cylinder."""
    if shape.kind == "sphere":
        return np.array([0.0, 0.0, 0.0, shape.size[0], 0.0])
    if shape.kind == "capsule":
        return np.array([0.0, 0.0, shape.size[1] / 2, shape.size[0], 0.0])
    if shape.kind == "cylinder":
        return np.array([shape.size[0], 0.0, shape.size[1] / 2, 0.0, 1.0])
    return np.array([*(side / 2 for side in shape.size), 0.0, 0.0])


def block(shape: Shape, pose: Transform) -> Array:
    """The block (17, 1) of a shape whose frame is at a pose in the world."""
    where = shape.placement.after(pose)
    R = where.R
    return rows([R[0:1, :].T, R[1:2, :].T, R[2:3, :].T, where.p, extents(shape).reshape(5, 1)])


def bounding_radius(blocks: np.ndarray) -> np.ndarray:
    """The radii (count,) of balls about the centres of blocks (count, 17) that hold them."""
    return np.linalg.norm(blocks[:, 12:15], axis=1) + blocks[:, 15]
