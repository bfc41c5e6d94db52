"""Featherstone's sparse factorization M = L' L of the mass matrix (2005), and constrained forward dynamics on it (2010).

The pattern of the tree lets L keep the zeros of M. Written with unit L and a diagonal, M = L' D L. 000 Sec. II-C: Y = J L^-1, the
Delassus matrix is Y D^-1 Y'. Needs constraints with independent rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .constraint import Constraint, Rows, prepare
from .crba import blocks
from .kinematics import row_jacobian
from .motion import Motion, base_acceleration, motion
from .pv_soft import SOFTNESS
from .rnea import rnea
from .scalar import Array, Factor, columns, entry, grid, pivot, place, rows, symmetric
from .spatial import Transform

if TYPE_CHECKING:
    from .model import Model


class LTL:
    """M = L' D L from the blocks M[i, j] of joints i with their ancestors j.

    chain[k] lists dof k and those it hangs on, nearest first; row k of M and of L is kept along its chain, and the chain of any
    dof on it is its tail.
    """

    def __init__(self, model: Model, M: dict[tuple[int, int], Array]):
        self.chain = dof_chains(model)
        row = [dof_row(model, M, k, chain) for k, chain in enumerate(self.chain)]
        self.d, self.L = [None] * len(row), [None] * len(row)
        for k in reversed(range(len(row))):
            self.d[k] = 1 / pivot(entry(row[k], 0, 0), np.zeros(1))
            self.L[k] = self.d[k] * row[k]
            for place, i in enumerate(self.chain[k][1:], 1):
                row[i] = row[i] - entry(self.L[k], 0, place) * row[k][:, place:]

    def inward(self, B: dict[int, Array]) -> dict[int, Array]:
        """L'^-1 B for rows B[k] of some dofs and all those they hang on."""
        B = dict(B)
        for k in sorted(B, reverse=True):
            for place, i in enumerate(self.chain[k][1:], 1):
                B[i] = B[i] - entry(self.L[k], 0, place) * B[k]
        return B

    def solve(self, b: Array) -> Array:
        """M^-1 b for a column."""
        y = self.inward({k: entry(b, k, 0) for k in range(len(self.d))})
        x: list[Array] = []
        for k, chain in enumerate(self.chain):
            xk = self.d[k] * y[k]
            for place, i in enumerate(chain[1:], 1):
                xk = xk - entry(self.L[k], 0, place) * x[i]
            x.append(xk)
        return rows(x)

    def delassus(self, jacobians: Sequence[dict[int, Array]]) -> Array:
        """J M^-1 J' for the transposed Jacobian rows of each constraint, by dof."""
        Y = [self.inward(J) for J in jacobians]
        scaled = [{k: self.d[k] * y for k, y in each.items()} for each in Y]
        G = [[None] * len(Y) for _ in Y]
        for a, b in ((a, b) for a in range(len(Y)) for b in range(a, len(Y))):
            common = sorted(Y[a].keys() & Y[b].keys())
            zero = np.zeros((_width(Y[a]), _width(Y[b])))
            G[a][b] = sum((Y[a][k].T @ scaled[b][k] for k in common), zero)
            G[b][a] = G[a][b].T
            if a == b:
                G[a][a] = symmetric(G[a][a])
        return grid(G)


def _width(rows_by_dof: dict[int, Array]) -> int:
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


def jacobian_rows(model: Model, X: list[Transform], body: int, K: Array) -> dict[int, Array]:
    """The transposed Jacobian of rows K (m, 6) on a body: (1, m) for each dof that moves it."""
    found = {}
    for i, block in row_jacobian(model, X, body, K).items():
        for n in range(block.shape[1]):
            found[model.v_slices[i].start + n] = block[:, n : n + 1].T
    return found


def ltl(
    model: Model,
    q: Array,
    v: Array,
    tau: Array,
    constraints: Sequence[Constraint],
    external: Sequence[Array | None] | None = None,
) -> tuple[Array, list[Array]]:
    """Joint accelerations (nv, 1) and the constraints' forces, by the Delassus matrix."""
    move = motion(model, q, v)
    prepared = prepare(model, constraints, q, v, move)
    J = [jacobian_rows(model, move.X, row.body, row.K) for row in prepared]
    M = LTL(model, blocks(model, q))
    free = M.solve(tau - rnea(model, q, v, np.zeros((model.nv, 1)), external))
    if not constraints:
        return free, []
    target = rows([row.k for row in prepared]) - rows(accelerations(model, move, prepared, free))
    stacked = Factor(M.delassus(J)).solve(target)
    ends = np.cumsum([row.k.shape[0] for row in prepared])
    forces = [stacked[end - row.k.shape[0] : end, :] for end, row in zip(ends, prepared)]
    push = generalized(model, J, forces)
    return free + M.solve(push), forces


def ltl_soft(
    model: Model,
    q: Array,
    v: Array,
    tau: Array,
    constraints: Sequence[Constraint],
    external: Sequence[Array | None] | None = None,
    softness: float = SOFTNESS,
) -> tuple[Array, list[Array]]:
    """The soft Gauss principle of `pv_soft` in joint space: M + J' R^-1 J has the zeros of M."""
    move = motion(model, q, v)
    prepared = prepare(model, constraints, q, v, move)
    blocks_of_M, pull = blocks(model, q), np.zeros((model.nv, 1))
    zero = np.zeros((model.nv, 1))
    drift = accelerations(model, move, prepared, zero)
    for row, at_rest in zip(prepared, drift):
        J = row_jacobian(model, move.X, row.body, row.K)
        for i, Ji in J.items():
            for j, Jj in J.items():
                if j <= i:
                    blocks_of_M[i, j] = blocks_of_M[i, j] + Ji.T @ Jj / softness
        transposed = jacobian_rows(model, move.X, row.body, row.K)
        pull = pull + generalized(model, [transposed], [(row.k - at_rest) / softness])
    h = rnea(model, q, v, zero, external)
    qdd = LTL(model, blocks_of_M).solve(tau - h + pull)
    reached = accelerations(model, move, prepared, qdd)
    return qdd, [(row.k - a) / softness for row, a in zip(prepared, reached)]


def accelerations(model: Model, move: Motion, prepared: Sequence[Rows], qdd: Array) -> list[Array]:
    """K a of every constraint for joint accelerations qdd, gravity taken off."""
    a: list[Array] = []
    for i, parent in enumerate(model.parents):
        above = move.X[i].motion(base_acceleration(model) if parent < 0 else a[parent])
        a.append(above + move.ab[i] + place(qdd[model.v_slices[i], :], model.joints[i].axes, 6))
    return [row.K @ a[row.body] for row in prepared]


def generalized(model: Model, jacobians: Sequence[dict[int, Array]], forces: Sequence[Array]) -> Array:
    """J' lambda (nv, 1)."""
    total: list[Array] = [np.zeros((1, 1))] * model.nv
    for J, force in zip(jacobians, forces):
        for k, row in J.items():
            total[k] = total[k] + row @ force
    return rows(total)
