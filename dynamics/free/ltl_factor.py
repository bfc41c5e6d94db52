"""Featherstone's sparse factorization M = L' L of the mass matrix (2005): the pattern of the tree lets L keep the zeros
of M. Written with unit L and a diagonal, M = L' D L.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..algebra.arrays import Array, columns, entry, grid, pivot, rows, symmetric

if TYPE_CHECKING:
    from ..model import Model


class LTL:
    """M = L' D L from the blocks M[i, j] of joints i with their ancestors j.

    chain[k] lists dof k and those it hangs on, nearest first; row k of M and of L is kept along its chain, and the
    chain of any dof on it is its tail.
    """

    def __init__(self, model: Model, M: dict[tuple[int, int], Array]):
        self.chain = dof_chains(model)
        row = [dof_row(model, M, k, chain) for k, chain in enumerate(self.chain)]
        self.d: dict[int, Array] = {}
        self.L: dict[int, Array] = {}
        for k in reversed(range(len(row))):
            self.d[k] = 1 / pivot(entry(row[k], 0, 0), np.zeros(1))
            self.L[k] = self.d[k] * row[k]
            for n, i in enumerate(self.chain[k][1:], 1):
                row[i] = row[i] - entry(self.L[k], 0, n) * row[k][:, n:]

    def inward(self, B: dict[int, Array]) -> dict[int, Array]:
        """L'^-1 B for rows B[k] of some dofs and all those they hang on."""
        B = dict(B)
        for k in sorted(B, reverse=True):
            for n, i in enumerate(self.chain[k][1:], 1):
                B[i] = B[i] - entry(self.L[k], 0, n) * B[k]
        return B

    def outward(self, y: dict[int, Array]) -> Array:
        """L^-1 D^-1 y for all dofs, as a column."""
        x: list[Array] = []
        for k, chain in enumerate(self.chain):
            xk = self.d[k] * y[k]
            for n, i in enumerate(chain[1:], 1):
                xk = xk - entry(self.L[k], 0, n) * x[i]
            x.append(xk)
        return rows(x)

    def form(self, Y: Sequence[dict[int, Array]], Z: Sequence[dict[int, Array]]) -> list[list[Array]]:
        """The blocks Y_a D^-1 Z_b' over the dofs that both have, a <= b where Y is Z."""
        scaled = [{k: self.d[k] * z for k, z in each.items()} for each in Z]
        return [
            [sum((y[k].T @ z[k] for k in y.keys() & z.keys()), np.zeros((width(y), width(z)))) for z in scaled]
            for y in Y
        ]

    def delassus(self, Y: Sequence[dict[int, Array]]) -> Array:
        """J M^-1 J' for Y = J L^-1 of each constraint, transposed and by dof."""
        G = self.form(Y, Y)
        return symmetric(grid(G))


def width(rows_by_dof: dict[int, Array]) -> int:
    return next(iter(rows_by_dof.values())).shape[1]


def dof_chains(model: Model) -> list[list[int]]:
    """For each dof itself and those it hangs on, nearest first."""
    chains: list[list[int]] = []
    for parent, part in zip(model.parents, model.v_slices):
        above = chains[model.v_slices[parent].stop - 1] if parent >= 0 else []
        for k in range(part.start, part.stop):
            above = [k, *above]
            chains.append(above)
    return chains


def dof_row(model: Model, M: dict[tuple[int, int], Array], k: int, chain: list[int]) -> Array:
    """Row k of the mass matrix along its chain (1, len)."""
    joint = {dof: i for i, part in enumerate(model.v_slices) for dof in range(part.start, part.stop)}
    start = model.v_slices
    i = joint[k]
    return columns([entry(M[i, joint[c]], k - start[i].start, c - start[joint[c]].start) for c in chain])


def transposed(model: Model, J: dict[int, Array]) -> dict[int, Array]:
    """The transpose of a Jacobian given by joint blocks (m, nv_i): its rows (1, m) by dof."""
    found = {}
    for i, block in J.items():
        for n in range(block.shape[1]):
            found[model.v_slices[i].start + n] = block[:, n : n + 1].T
    return found


def by_dof(x: Array) -> dict[int, Array]:
    """The entries of a column, by dof."""
    return {k: entry(x, k, 0) for k in range(x.shape[0])}


def pushed(y: dict[int, Array], Y: Sequence[dict[int, Array]], forces: Sequence[Array]) -> dict[int, Array]:
    """y + sum Y' lambda."""
    total = dict(y)
    for each, force in zip(Y, forces):
        for k, row in each.items():
            total[k] = total[k] + row @ force
    return total
