"""Rotations as unit quaternions (x, y, z, w) in columns, and the maps between SO(3), SE(3) and their tangent spaces.

The functions of t = angle^2 below are smooth through 0, and so are their derivatives as symbols.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .arrays import Array, arctan2, cos, dot, entry, grid, rows, sin, sqrt, where
from .spatial import cross, skew

# Below this square of an angle the power series is exact to rounding (its first dropped term is t^5/11!).
SMALL = 1e-2


def _smooth(t: Array, series: tuple[float, ...], exact: Callable[[Array], Array]) -> Array:
    """The power series in t where t is small, else exact(angle); the branch not taken stays finite."""
    small = t < SMALL
    total = series[-1] + 0.0 * t
    for coefficient in reversed(series[:-1]):
        total = coefficient + t * total
    return where(small, total, exact(sqrt(where(small, 1.0, t))))


def sinc(t: Array) -> Array:
    """sin(a) / a."""
    return _smooth(t, (1, -1 / 6, 1 / 120, -1 / 5040, 1 / 362880), lambda a: sin(a) / a)


def versine(t: Array) -> Array:
    """(1 - cos a) / a^2."""
    return _smooth(t, (1 / 2, -1 / 24, 1 / 720, -1 / 40320, 1 / 3628800), lambda a: (1 - cos(a)) / (a * a))


def cubic(t: Array) -> Array:
    """(a - sin a) / a^3."""
    return _smooth(t, (1 / 6, -1 / 120, 1 / 5040, -1 / 362880, 1 / 39916800), lambda a: (a - sin(a)) / (a * a * a))


def half_cotangent(t: Array) -> Array:
    """(a / 2) / tan(a / 2)."""
    series = (1, -1 / 12, -1 / 720, -1 / 30240, -1 / 1209600, -1 / 47900160)
    return _smooth(t, series, lambda a: a / 2 * cos(a / 2) / sin(a / 2))


def matrix(q: Array) -> Array:
    """The rotation matrix of a unit quaternion."""
    x, y, z, w = (entry(q, k, 0) for k in range(4))
    x2, y2, z2 = x + x, y + y, z + z
    xx, yy, zz, xy, xz, yz = x * x2, y * y2, z * z2, x * y2, x * z2, y * z2
    wx, wy, wz = w * x2, w * y2, w * z2
    return grid(
        [
            [1 - (yy + zz), xy - wz, xz + wy],
            [xy + wz, 1 - (xx + zz), yz - wx],
            [xz - wy, yz + wx, 1 - (xx + yy)],
        ]
    )


def of_matrix(R: np.ndarray) -> np.ndarray:
    """The unit quaternion (4, 1) of a rotation matrix, numbers only, w >= 0."""
    K = np.array(
        [
            [R[0, 0] - R[1, 1] - R[2, 2], 0, 0, 0],
            [R[0, 1] + R[1, 0], R[1, 1] - R[0, 0] - R[2, 2], 0, 0],
            [R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], R[2, 2] - R[0, 0] - R[1, 1], 0],
            [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1], np.trace(R)],
        ]
    )
    q = np.linalg.eigh(K)[1][:, -1:]
    return q if q[3, 0] >= 0 else -q


def near_identity(R: Array) -> Array:
    """The unit quaternion of a rotation by less than pi, on numbers and symbols."""
    x, y, z = (entry(R, i, j) - entry(R, j, i) for i, j in ((2, 1), (0, 2), (1, 0)))
    w = sqrt(1 + entry(R, 0, 0) + entry(R, 1, 1) + entry(R, 2, 2)) / 2
    return rows([x / (4 * w), y / (4 * w), z / (4 * w), w])


def product(p: Array, q: Array) -> Array:
    """The rotation q followed, in the outer frame, by p."""
    u, s, v, t = p[:3, :], entry(p, 3, 0), q[:3, :], entry(q, 3, 0)
    return rows([s * v + t * u + cross(u, v), s * t - dot(u, v)])


def conjugate(q: Array) -> Array:
    return rows([-q[:3, :], q[3:, :]])


def exp(w: Array) -> Array:
    """The quaternion of the rotation vector w."""
    half = w / 2
    t = dot(half, half)
    return rows([sinc(t) * half, 1 - t * versine(t)])


def log(q: Array) -> Array:
    """The rotation vector of a quaternion, of length at most pi."""
    u, s = q[:3, :], entry(q, 3, 0)
    flip = where(s < 0, -1.0, 1.0)
    t = dot(u, u)
    small = t < 1e-6
    sine = sqrt(where(small, 1.0, t))
    # 2 asin(x) / x about 0, exact to rounding below 1e-3
    series = 2 + t * (1 / 3 + t * (3 / 20 + t * (5 / 56)))
    return where(small, series, 2 * arctan2(sine, flip * s) / sine) * flip * u


def arc(w: Array) -> Array:
    """The chord of a screw motion is arc(w) v: the mean of the rotation on the way (3, 3)."""
    W, t = skew(w), dot(w, w)
    return np.eye(3) + versine(t) * W + cubic(t) * (W @ W)


def inverse_arc(w: Array) -> Array:
    W, t = skew(w), dot(w, w)
    small = t < SMALL
    series = 1 / 12 + t * (1 / 720 + t * (1 / 30240 + t * (1 / 1209600 + t / 47900160)))
    return np.eye(3) - W / 2 + where(small, series, (1 - half_cotangent(t)) / where(small, 1.0, t)) * (W @ W)
