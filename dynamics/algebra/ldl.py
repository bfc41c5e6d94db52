"""L D L' of a symmetric positive definite matrix, of numbers or of symbols, with its solves."""

from __future__ import annotations

import numpy as np

from .arrays import DEPENDENT, Array, entry, independent, is_symbolic, largest, pivot, rows, symmetric, where


class Factor:
    """L D L' of a symmetric positive definite matrix, unrolled: structural zeros of symbols stay zero.

    Only the lower triangle of what is left is ever used, so of symbols only that is ever computed.
    """

    def __init__(self, A: Array):
        self.size = A.shape[0]
        self.L, self.d = [], []
        scale = [entry(A, k, k) for k in range(self.size)]
        for k in range(self.size):
            d = 1.0 / self.pivot(entry(A, 0, 0), scale[k], k)
            below = A[1:, 0:1]
            l = below * d
            A = A[1:, 1:] - l @ below.T
            self.L.append(l)
            self.d.append(d)

    def pivot(self, d: Array, scale: Array, k: int) -> Array:
        """Pivot k beside the diagonal entry it started from; of numbers one that has vanished is refused."""
        del k
        return pivot(d, scale)

    def solve(self, B: Array) -> Array:
        """A^-1 B for a matrix B."""
        return self.back(rows([self.d[k] * y for k, y in enumerate(self.forward(B))]))

    def forward(self, B: Array) -> list[Array]:
        """The rows of L^-1 B."""
        y = []
        for l in self.L:
            y.append(B[0:1, :])
            B = B[1:, :] - l @ y[-1]
        return y

    def back(self, Y: Array) -> Array:
        """L'^-1 Y."""
        X = Y[self.size :, :]
        for k in reversed(range(self.size)):
            X = rows([Y[k : k + 1, :] - self.L[k].T @ X, X])
        return X

    def inverse_form(self, B: Array) -> Array:
        """B' A^-1 B, symmetric."""
        Y = rows(self.forward(B))
        scaled = rows([d * Y[k : k + 1, :] for k, d in enumerate(self.d)])
        return symmetric(Y.T @ scaled)


class RowFactor(Factor):
    """L D L' of a matrix that is singular where rows depend on each other; there, symbols become NaN.

    least (m,): what pivots must be, of rows that can vanish altogether.
    share: what a pivot must be of the diagonal entry it started from, and what `balance` may grow by, inversely.
    """

    def __init__(self, A: Array, least: np.ndarray, share: float = DEPENDENT):
        self.least, self.share = least, share
        self.diagonal = rows([entry(A, k, k) for k in range(A.shape[0])])
        super().__init__(A)

    def pivot(self, d: Array, scale: Array, k: int) -> Array:
        return independent(d, scale, self.share, float(self.least[k]))

    def balance(self, b: Array) -> Array:
        """A^-1 b for a column b, unless it grows, with rows scaled to a unit diagonal, as only that of a matrix with
        less than a share of full rank can: several pivots, each above it, may be below it together.
        """
        x = self.solve(b)
        grown, given = largest(x * x * self.diagonal), largest(b * b / self.diagonal)
        within = given >= self.share**2 * grown
        if is_symbolic(x):
            return where(within, x, np.nan)
        if not within:
            raise ZeroDivisionError("the matrix is singular")
        return x
