"""The oracle: the whole KKT system, assembled and solved densely by the null-space method.

    [ H  C' ] [ z ]     [ h ]
    [ C  0  ] [ y ] = - [ c ]        z = (u_0, x_0, u_1, x_1, ...)

with one block row of C a constraint of the problem: the equalities of every stage, A x + B u + b - x_child = 0 on
every edge, and initial_state - x_0 = 0. It shares no code and no idea with the sweeps, and costs O(n^3).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from .problem import Array, LQProblem

# Singular values, residuals and eigenvalues below this share of the largest are taken for zero.
TOLERANCE = 1e-11


@dataclass(frozen=True)
class DenseSystem:
    """H, h, C, c of the drawing above, and where each stage's variables and multipliers stand."""

    H: Array
    h: Array
    C: Array
    c: Array
    u: list[slice]
    x: list[slice]
    costates: list[slice]
    multipliers: list[slice]


@dataclass(frozen=True)
class DenseSolution:
    """The answer of `solve`: z and the multipliers y of least norm, cut by stage; NaN unless the status is solved.

    curvature: the smallest eigenvalue of the reduced Hessian, relative to the largest entry of H
    independent: whether no equality is implied by the others, so that the multipliers are unique
    """

    status: str
    curvature: float
    independent: bool
    u: list[Array]
    x: list[Array]
    costates: list[Array]
    multipliers: list[Array]


def assemble(problem: LQProblem) -> DenseSystem:
    """The KKT system. The root's costate has no rows where the root is free."""
    stages = problem.stages
    n = sum(s.nu + s.nx for s in stages)
    rooted = problem.initial_state is not None
    m = sum(s.ng + s.nx for s in stages) - (0 if rooted else stages[0].nx)
    H, h, C, c = np.zeros((n, n)), np.zeros(n), np.zeros((m, n)), np.zeros(m)
    system = DenseSystem(H, h, C, c, [], [], [], [])
    column = row = 0
    for k, s in enumerate(stages):
        u, x = slice(column, column + s.nu), slice(column + s.nu, column + s.nu + s.nx)
        column = x.stop
        edge = slice(row, row + (s.nx if k > 0 or rooted else 0))
        equality = slice(edge.stop, edge.stop + s.ng)
        row = equality.stop
        H[u, u], H[x, u], H[u, x], H[x, x], h[u], h[x] = s.R, s.S, s.S.T, s.Q, s.r, s.q
        C[equality, u], C[equality, x], c[equality] = s.Gu, s.Gx, s.g
        if s.parent is not None:
            C[edge, system.u[s.parent]], C[edge, system.x[s.parent]], c[edge] = s.B, s.A, s.b
            C[edge, x] = -np.eye(s.nx)
        elif rooted:
            C[edge, x], c[edge] = -np.eye(s.nx), problem.initial_state
        for pieces, piece in (
            (system.u, u),
            (system.x, x),
            (system.costates, edge),
            (system.multipliers, equality),
        ):
            pieces.append(piece)
    return system


def solve(problem: LQProblem) -> DenseSolution:
    """Solve by null space: z = C^+ (-c) + Z w with Z' H Z positive definite, then multipliers of least norm."""
    system = assemble(problem)
    H, h, C, c = system.H, system.h, system.C, system.c
    U, sigma, Vt = scipy.linalg.svd(C) if C.size else (np.eye(len(c)), np.zeros(0), np.eye(len(h)))
    rank = int((sigma > TOLERANCE * max(1.0, sigma.max(initial=0.0))).sum())
    Z = Vt[rank:].T
    z = -Vt[:rank].T @ ((U[:, :rank].T @ c) / sigma[:rank])
    status = "solved"
    if np.abs(C @ z + c).max(initial=0.0) > 1e-9 * (1.0 + np.abs(c).max(initial=0.0)):
        status = "inconsistent"
    reduced = Z.T @ H @ Z
    curvature = np.linalg.eigvalsh(reduced).min(initial=np.inf) / max(np.abs(H).max(initial=0.0), 1e-300)
    if curvature <= TOLERANCE:
        status = "indefinite"
    y = np.full(len(c), np.nan)
    if status != "solved":
        z = np.full(len(h), np.nan)
    else:
        z = z - Z @ np.linalg.solve(reduced, Z.T @ (H @ z + h))
        y = -U[:, :rank] @ ((Vt[:rank] @ (H @ z + h)) / sigma[:rank])
    return DenseSolution(
        status,
        curvature,
        independent=rank == len(c),
        u=[z[piece] for piece in system.u],
        x=[z[piece] for piece in system.x],
        costates=[y[piece] for piece in system.costates],
        multipliers=[y[piece] for piece in system.multipliers],
    )
