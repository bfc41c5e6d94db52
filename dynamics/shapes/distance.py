"""Distances of points and segments to blocks, as expressions with exact derivatives.

Positive outside, negative inside where a depth is known: a point knows how deep it is in a box or cylinder, a segment
that cuts one has distance 0. A ball or capsule is a point or segment less its radius, so it stays away from the edges
and the faces, where the distance has kinks: for centres outside the block it is once differentiable, and twice but
where the closest feature changes.

The point of a segment that is closest to a convex set is a root of a monotone function. Halving finds it without
derivatives (comparisons have none); two steps of Newton's method from there leave the value and bring its first and
second derivatives along.
"""

from __future__ import annotations

import numpy as np

from ..algebra.arrays import Array, dot, entry, rows, sqrt, where

HALVINGS = 30


def point_to_block(point: Array, block: Array) -> Array:
    """The distance (1, 1) of a point (3, 1) in the world to a block (17, 1), m."""
    return _depth(_within(point, block), block) - block[15:16, :]


def segment_to_block(a: Array, b: Array, block: Array) -> Array:
    """The distance (1, 1) between the segment from a to b, (3, 1) in the world, and a block (17, 1), m."""
    start = _within(a, block)
    along = _within(b, block) - start
    low: Array = np.zeros((1, 1))
    high: Array = np.ones((1, 1))
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        receding = _slopes(start + middle * along, along, block)[0] > 0
        low, high = where(receding, low, middle), where(receding, middle, high)
    t: Array = (low + high) / 2
    for _ in range(2):
        slope, curvature = _slopes(start + t * along, along, block)
        step = slope / where(curvature > 0, curvature, 1.0)
        t = where((curvature > 0) * (t - step > 0) * (t - step < 1), t - step, t)
    t = where(_slopes(start, along, block)[0] >= 0, 0.0, where(_slopes(start + along, along, block)[0] <= 0, 1.0, t))
    return _depth(start + t * along, block) - block[15:16, :]


def _within(point: Array, block: Array) -> Array:
    """A point of the world in the block's frame."""
    d = point - block[9:12, :]
    return block[0:3, :] * entry(d, 0, 0) + block[3:6, :] * entry(d, 1, 0) + block[6:9, :] * entry(d, 2, 0)


def _reaches(local: Array, block: Array) -> tuple[Array, Array]:
    """How far out a point of the block's frame is along the block's axes (of a cylinder: radially, not, along z), and
    the same less the half sizes.
    """
    x, y, z = (entry(local, k, 0) for k in range(3))
    cylinder = block[16:17, :] > 0
    rho = _root(x * x + y * y)
    x, y, z = (where(side > 0, side, -side) for side in (x, y, z))
    out = rows([where(cylinder, rho, x), where(cylinder, 0.0, y), z])
    return out, out - block[12:15, :]


def _depth(local: Array, block: Array) -> Array:
    _, over = _reaches(local, block)
    outside = where(over > 0, over, 0.0)
    a, b, c = (entry(over, k, 0) for k in range(3))
    b = where(block[16:17, :] > 0, a, b)
    inside = where(a > b, a, b)
    inside = where(inside > c, inside, c)
    return _root(dot(outside, outside)) + where(inside < 0, inside, 0.0)


def _slopes(local: Array, along: Array, block: Array) -> tuple[Array, Array]:
    """First and second derivative of half the squared distance along a line."""
    out, over = _reaches(local, block)
    x, y, z = (entry(local, k, 0) for k in range(3))
    dx, dy, dz = (entry(along, k, 0) for k in range(3))
    rho = entry(out, 0, 0)
    radial = (x * dx + y * dy) / where(rho > 0, rho, 1.0)
    bend = (dx * dx + dy * dy - radial * radial) / where(rho > 0, rho, 1.0)
    cylinder = block[16:17, :] > 0
    first = rows(
        [
            where(cylinder, radial, where(x > 0, dx, -dx)),
            where(cylinder, 0.0, where(y > 0, dy, -dy)),
            where(z > 0, dz, -dz),
        ]
    )
    second = rows([where(cylinder, bend, 0.0), np.zeros((2, 1))])
    outside = where(over > 0, over, 0.0)
    return dot(outside, first), dot(where(over > 0, 1.0, 0.0), first * first) + dot(outside, second)


def _root(square: Array) -> Array:
    """The square root, whose derivative at zero is zero."""
    return where(square > 0, sqrt(where(square > 0, square, 1.0)), 0.0)
