"""The constraints on each body and its descendants, stacked (Sathya 2024a eqs. 42c to 42e)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..algebra.arrays import Array, block_diagonal, rows


class Stack:
    """K, L and l of the constraints on a body and its descendants; index -1 is the world.

    constraints: for each its body, K (m, 6) and l (m, any number of columns).
    """

    def __init__(self, constraints: Sequence[tuple[int, Array, Array]], bodies: int):
        self.sizes = [K.shape[0] for _, K, _ in constraints]
        self.order: list[list[int]] = [[] for _ in range(bodies + 1)]
        self.blocks: list[list[tuple[Array, Array, Array]]] = [[] for _ in range(bodies + 1)]
        for index, (body, K, l) in enumerate(constraints):
            self.push(body, [index], K, np.zeros((K.shape[0], K.shape[0])), l)

    def push(self, body: int, order: list[int], K: Array, L: Array, l: Array) -> None:
        """Put the rows of the constraints in `order` on a body."""
        self.order[body] = self.order[body] + order
        self.blocks[body].append((K, L, l))

    def at(self, body: int) -> tuple[Array, Array, Array]:
        """K (m, 6), L (m, m) and l of a body."""
        K, L, l = zip(*self.blocks[body])
        return rows(K), block_diagonal(L), rows(l)

    def parts(self, body: int, stacked: Array) -> list[Array]:
        """A stacked vector of a body, one part for each constraint in the body's order."""
        found, start = [], 0
        for c in self.order[body]:
            found.append(stacked[start : start + self.sizes[c], :])
            start += self.sizes[c]
        return found

    def split(self, body: int, stacked: Array) -> list[Array]:
        """A stacked vector of a body that supports all constraints, one part for each constraint."""
        parts = dict(zip(self.order[body], self.parts(body, stacked)))
        return [parts[c] for c in range(len(self.sizes))]

    def positions(self, body: int) -> list[int]:
        """Where the rows of the constraints, in their given order, are in the stack of a body that supports all of
        them.
        """
        starts = np.cumsum([0, *(self.sizes[c] for c in self.order[body])]).tolist()
        places = {c: range(start, start + self.sizes[c]) for c, start in zip(self.order[body], starts)}
        return [place for c in range(len(self.sizes)) for place in places[c]]

    def gather(self, body: int, values: np.ndarray) -> np.ndarray:
        """Values (m,) of all rows, in the order of a body that supports all constraints."""
        found = np.empty(len(values))
        found[self.positions(body)] = values
        return found
