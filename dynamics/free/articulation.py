"""Elimination of one joint's acceleration: the step that ABA, the PV family and the inverse inertias share.

With S the joint's motion subspace: U = H S, D = S' U + armature, G = U D^-1, and what its parent feels of the
articulated inertia H is Ha = H - G U' (Sathya 2024a eqs. 19, 20a). Without armature Ha S = 0 and S' G = 1 hold
exactly, which is said here so that symbols are not spent on it.
"""

from __future__ import annotations

import numpy as np

from ..algebra.arrays import Array, pick, put, symmetric
from ..algebra.ldl import Factor


class Articulation:
    """The joint with motion along `axes`, and the articulated inertia H (6, 6) of its body."""

    def __init__(self, axes: tuple[int, ...], H: Array, armature: np.ndarray):
        self.axes, self.H = axes, H
        self.free = not armature.any()
        self.U = H[:, list(axes)]
        self.D = Factor(pick(self.U, axes) + np.diag(armature))
        self.mask = np.ones((6, 1))
        if self.free:
            self.mask[list(axes)] = 0.0
        self.G = self.clear(self.D.solve(self.U.T).T)

    def clear(self, x: Array) -> Array:
        """x with the rows of the joint's axes zero, where they are so without armature."""
        return x * (self.mask @ np.ones((1, x.shape[1]))) if self.free else x

    def inertia(self) -> Array:
        """Ha (6, 6)."""
        Ha = symmetric(self.H - self.G @ self.U.T)
        return Ha * (self.mask @ self.mask.T) if self.free else Ha

    def force(self, f: Array) -> Array:
        """P f = f - G S' f (6, k): what passes the joint of forces on its body."""
        return self.clear(f - self.G @ pick(f, self.axes))

    def motion(self, a: Array) -> Array:
        """P' a = a - S G' a (6, k): what passes the joint of motions of the parent, in the body's frame."""
        return self.clear(a) - put(self.G.T @ a, self.axes, 6)

    def accelerate(self, a: Array, Du: Array) -> tuple[Array, Array]:
        """Joint and body acceleration from a = a_parent + a_b, in the body's frame, and D^-1 u."""
        w = Du - self.G.T @ a
        if self.free:
            return w - pick(a, self.axes), self.clear(a) + put(w, self.axes, 6)
        return w, a + put(w, self.axes, 6)

    def mobility(self, f: Array) -> Array:
        """S D^-1 S' f (6, k): the body's acceleration under forces f, its parent held."""
        return put(self.D.solve(pick(f, self.axes)), self.axes, 6)
