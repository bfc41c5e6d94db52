"""Frames, rotations and the moments of a body's mass.

Spatial vectors are Featherstone's, angular part first. The linear part of an acceleration is, inside the algorithms,
the classical acceleration of the frame's origin: then no linear velocity enters the equations of motion.
Featherstone's spatial acceleration is that minus (0, omega x v).

The inertia of a body is kept as the moments of its mass about the origin of its frame, of which the usual tensor is
I = trace(J) 1 - J:  mass m = sum dm,  h = sum r dm,  J = sum r r' dm.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .arrays import Array, Given, columns, entry, grid, rows, symmetric

# Entries of constant rotations this near to 0, 1 and -1 are taken for them: cos(pi/2) is not 6e-17. An angle that a
# file prints with eleven digits stays what it is.
ROUND = 1e-14


def skew(p: Array) -> Array:
    """The matrix of p x."""
    x, y, z = (entry(p, k, 0) for k in range(3))
    o = np.zeros((1, 1))
    return grid([[o, -z, y], [z, o, -x], [-y, x, o]])


def axial(A: Array) -> Array:
    """sum of r x (A r) over matter of unit second moment: the axial vector of A - A'."""
    pairs = ((2, 1), (0, 2), (1, 0))
    return rows([entry(A, i, j) - entry(A, j, i) for i, j in pairs])


def cross(x: Array, y: Array) -> Array:
    """x x y for columns of three."""
    return skew(x) @ y


def spin_square(w: Array) -> Array:
    """w x (w x .) as a matrix: w w' - |w|^2 1."""
    x, y, z = (entry(w, k, 0) for k in range(3))
    xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
    return grid([[-(yy + zz), xy, xz], [xy, -(xx + zz), yz], [xz, yz, -(xx + yy)]])


@dataclass(frozen=True)
class Turn:
    """Rotation about coordinate axis k by the angle with cosine c and sine s."""

    axis: int
    c: Array
    s: Array

    @property
    def inverse(self) -> Turn:
        return Turn(self.axis, self.c, -self.s)

    def rotate(self, x: Array) -> Array:
        """R x for x of three rows."""
        k, i, j = self.axis, (self.axis + 1) % 3, (self.axis + 2) % 3
        y = {k: x[k : k + 1, :]}
        y[i] = self.c * x[i : i + 1, :] - self.s * x[j : j + 1, :]
        y[j] = self.s * x[i : i + 1, :] + self.c * x[j : j + 1, :]
        return rows([y[0], y[1], y[2]])

    def congruence(self, A: Array) -> Array:
        """R A R': the block of the plane needs eleven operations, not twenty-one."""
        k, i, j = self.axis, (self.axis + 1) % 3, (self.axis + 2) % 3
        a, b, g, d = entry(A, i, i), entry(A, i, j), entry(A, j, i), entry(A, j, j)
        u = self.s * (a - d) + self.c * (b + g)
        su, cu = self.s * u, self.c * u
        B = {(i, i): a - su, (j, j): d + su, (i, j): cu - g, (j, i): cu - b, (k, k): entry(A, k, k)}
        right, below = self.rotate(A[:, k : k + 1]), self.rotate(A[k : k + 1, :].T)
        for n in (i, j):
            B[n, k], B[k, n] = entry(right, n, 0), entry(below, n, 0)
        return grid([[B[row, col] for col in range(3)] for row in range(3)])


@dataclass(frozen=True)
class Rotation:
    """Rotation by a general matrix R."""

    R: Array

    @property
    def inverse(self) -> Rotation:
        return Rotation(self.R.T)

    def rotate(self, x: Array) -> Array:
        return self.R @ x

    def congruence(self, A: Array) -> Array:
        return self.R @ (A @ self.R.T)


@dataclass(frozen=True)
class Twice:
    """One rotation after another: `inner` acts first."""

    outer: Turn | Rotation | Twice
    inner: Turn | Rotation | Twice

    @property
    def inverse(self) -> Twice:
        return Twice(self.inner.inverse, self.outer.inverse)

    def rotate(self, x: Array) -> Array:
        return self.outer.rotate(self.inner.rotate(x))

    def congruence(self, A: Array) -> Array:
        return self.outer.congruence(self.inner.congruence(A))


STILL = Rotation(np.eye(3))


@dataclass(frozen=True)
class Transform:
    """Where a child's frame is in its parent's: x_parent = fixed rotation(x_child) + p."""

    fixed: np.ndarray
    p: Array
    rotation: Turn | Rotation | Twice = STILL

    @property
    def R(self) -> Array:
        """The whole rotation, child to parent."""
        return self.fixed @ self.rotation.rotate(np.eye(3))

    def outward(self, x: Array) -> Array:
        """A free vector of the parent's frame, in the child's."""
        return self.rotation.inverse.rotate(self.fixed.T @ x)

    def inward(self, x: Array) -> Array:
        """A free vector of the child's frame, in the parent's."""
        return self.fixed @ self.rotation.rotate(x)

    def motion(self, m: Array) -> Array:
        """A motion vector of the parent, in the child's frame."""
        w, u = m[:3, :], m[3:, :]
        return rows([self.outward(w), self.outward(u - skew(self.p) @ w)])

    def force(self, f: Array) -> Array:
        """A force vector of the child, in the parent's frame (also 6 x k, a force a column)."""
        n, g = self.inward(f[:3, :]), self.inward(f[3:, :])
        return rows([n + skew(self.p) @ g, g])

    def inverse_force(self, f: Array) -> Array:
        """A force vector of the parent, in the child's frame."""
        n, g = f[:3, :], f[3:, :]
        return rows([self.outward(n - skew(self.p) @ g), self.outward(g)])

    def inverse_motion(self, m: Array) -> Array:
        """A motion vector of the child, in the parent's frame."""
        w, u = self.inward(m[:3, :]), self.inward(m[3:, :])
        return rows([w, u + skew(self.p) @ w])

    def _congruence(self, A: Array) -> Array:
        return self.fixed @ (self.rotation.congruence(A) @ self.fixed.T)

    def inertia(self, H: Array) -> Array:
        """A symmetric 6 x 6 inertia of the child, in the parent's frame."""
        A, B, C = (self._congruence(block) for block in (H[:3, :3], H[:3, 3:], H[3:, 3:]))
        P = skew(self.p)
        C = symmetric(C)
        moved = B + P @ C
        return grid([[symmetric(A + P @ B.T - moved @ P), moved], [moved.T, C]])

    def mobility(self, W: Array) -> Array:
        """A symmetric 6 x 6 inverse inertia of the parent, in the child's frame."""
        A, B, C = W[:3, :3], W[:3, 3:], W[3:, 3:]
        P = skew(self.p)
        moved = B + A @ P
        C = symmetric(C - P @ moved + B.T @ P)
        back = self.rotation.inverse
        A, B, C = (back.congruence(self.fixed.T @ (block @ self.fixed)) for block in (A, moved, C))
        return grid([[symmetric(A), B], [B.T, symmetric(C)]])

    def after(self, parent: Transform) -> Transform:
        """This placement seen from the parent's own parent."""
        return Transform(np.eye(3), parent.p + parent.inward(self.p), Rotation(parent.inward(self.R)))


def from_rpy(rpy: ArrayLike) -> np.ndarray:
    """The rotation matrix of URDF's roll, pitch, yaw (rad): about fixed x, then y, then z."""
    angles = np.asarray(rpy, dtype=float)
    (cr, cp, cy), (sr, sp, sy) = np.cos(angles), np.sin(angles)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def placement(R: Given, p: Given) -> Transform:
    """A constant transform; rounding is taken out of its rotation."""
    given = np.asarray(R, dtype=float)
    exact = np.rint(given)
    fixed = np.where(abs(given - exact) < ROUND, exact, given) + 0.0  # without -0
    return Transform(fixed, np.array(p, dtype=float).reshape(3, 1))


def moments_text(moments: np.ndarray) -> str:
    """Principal moments of inertia (3,) in a sentence."""
    return ", ".join(f"{moment:.3g}" for moment in moments) + " kg m^2"


@dataclass(frozen=True)
class Inertia:
    """The moments of a body's mass about its frame's origin: m in kg, h (3, 1) in kg m, J (3, 3) in kg m^2."""

    m: float
    h: Array
    J: Array

    @staticmethod
    def of(mass: float, com: np.ndarray, about_com: np.ndarray) -> Inertia:
        """From mass, centre of mass (3,) and the inertia tensor about it (3, 3)."""
        c = np.array(com, dtype=float).reshape(3, 1)
        I = np.asarray(about_com, dtype=float)
        return Inertia(float(mass), mass * c, 0.5 * np.trace(I) * np.eye(3) - I + mass * (c @ c.T))

    @staticmethod
    def zero() -> Inertia:
        return Inertia(0.0, np.zeros((3, 1)), np.zeros((3, 3)))

    @property
    def about_com(self) -> np.ndarray:
        """Of numbers, the inertia tensor (3, 3) about the centre of mass."""
        J = np.asarray(self.J - (self.h @ self.h.T / self.m if self.m > 0 else 0.0))
        return J.trace() * np.eye(3) - J

    @property
    def principal_moments(self) -> np.ndarray:
        """Of numbers, the eigenvalues (3,) of the inertia tensor about the centre of mass, the smallest first."""
        return np.linalg.eigvalsh(self.about_com)

    @property
    def possible(self) -> bool:
        """Of numbers, False if some motion of the body has a negative energy, rounding aside."""
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = self.about_com.tolist()
        if xx >= abs(xy) + abs(xz) and yy >= abs(xy) + abs(yz) and zz >= abs(xz) + abs(yz):
            return True  # as Gershgorin's circles have it
        smallest, *_, largest = self.principal_moments
        return bool(smallest >= -1e-6 * max(abs(smallest), abs(largest)) - 1e-9 * self.m)

    def __add__(self, other: Inertia) -> Inertia:
        return Inertia(self.m + other.m, self.h + other.h, self.J + other.J)

    def __sub__(self, other: Inertia) -> Inertia:
        return Inertia(self.m - other.m, self.h - other.h, self.J - other.J)

    def seen(self, X: Transform) -> Inertia:
        """The same matter in the parent's frame."""
        h = X.inward(self.h)
        hp = h @ X.p.T
        J = symmetric(X._congruence(self.J) + hp + hp.T + self.m * (X.p @ X.p.T))
        return Inertia(self.m, h + self.m * X.p, J)

    @property
    def tensor(self) -> Array:
        """The usual rotational inertia about the origin (3, 3)."""
        x, y, z = (entry(self.J, k, k) for k in range(3))
        xy, xz, yz = (-entry(self.J, i, j) for i, j in ((0, 1), (0, 2), (1, 2)))
        return grid([[y + z, xy, xz], [xy, x + z, yz], [xz, yz, x + y]])

    @property
    def matrix(self) -> Array:
        """The spatial inertia (6, 6)."""
        h = skew(self.h)
        return rows([columns([self.tensor, h]), columns([-h, self.m * np.eye(3)])])

    def spin_force(self, W: Array) -> Array:
        """The force (6, 1) that keeps the body turning with W = omega x omega x, its origin at rest."""
        return rows([axial(W @ self.J), W @ self.h])
