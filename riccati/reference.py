"""The sweep in NumPy, to be read: the documentation of the C++ core, which does the same on padded memory.

Sathya 2024c Sec. 3 on a tree. Letters: z = (u, x) a stage's variables, H, h its cost, G, g its equalities, E = [B
A] the edge to a child (x_child = E z + b), P, p the cost-to-go, Gx, gx (hats in the paper) the rows left on x. A
bar in the paper is what has taken in the children. Four verbs: a leaf and a stage are `eliminate`, the root is
`eliminate` once more with its state in the role of the control, and `expand` goes forward.

Two things go beyond the paper. After the controls, the elimination of the rows goes on through the states, so
that a stage never passes more rows than it has states; rows in which no variable is left are implied by the others,
or contradict them, and the finished trajectory tells which. And every row carries the size of the terms that were
summed into it, so that a rank decision compares a pivot with the rounding it could be made of, whatever the units.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from .problem import Array, LQProblem

# A pivot of the equalities counts when it is above this share of the size of the terms summed into its row.
RANK_TOLERANCE = 1e-10
# A control whose entry in a row has cancelled to less than this share of its terms would need large gains to meet the
# row: the row is passed on instead, without the entry, to be met further up. If it is met nowhere, the pivot is taken.
COMFORTABLE_PIVOT = 1e-6
# Entries below this share of the largest terms of their row are taken for rounding of whoever wrote the row.
ROW_ROUNDING = 1e-14
# A row of the equalities is violated when its residual is above the first share of its terms plus the second share, for
# rounding, of what they would be if every variable had the size of the terms that it was itself summed from.
CONSISTENCY_TOLERANCE, ROUNDING_TOLERANCE = 1e-9, 1e-13
# A pivot of the reduced Hessian is positive when it is above this share of the diagonal entries it came from.
CURVATURE_TOLERANCE = 1e-14


class Indefinite(Exception):
    """The reduced Hessian of a stage is not positive definite."""


@dataclass
class Elimination:
    """min 1/2 z'Hz + h'z over u, subject to G z + g = 0, as a function of x: what `eliminate` found.

    rows, L: the order of the rows and the unit lower factor: L [U1 (I Y); Gx; 0] = G[rows], columns (u1, u2, x)
    pivots, rest: the indices in z of u1 (solved from the rows, u1 = -(Y y + w)) and of y = (u2, x)
    H1: the rows of H at u1, columns (u1, y)
    K, Z: Cholesky factor of the Hessian of u2, and Z = S K^-T
    P, Gx: cost-to-go, and rows left on x, scaled to a largest entry of 1
    declined: whether a row was passed on though a control had a small pivot in it
    """

    nu: int
    rank: int
    rows: NDArray[np.intp]
    L: Array
    U1: Array
    Y: NDArray[np.floating]
    pivots: NDArray[np.intp]
    rest: NDArray[np.intp]
    H1: Array
    K: Array
    Z: Array
    P: Array
    Gx: Array
    scale: Array
    declined: bool
    memory: tuple[NDArray[np.floating], Array, Array] = field(init=False, repr=False)

    def reduce(self, h: Array, g: Array) -> tuple[Array, Array]:
        """p and the right-hand side of the rows left on x; what `expand` needs of it is kept."""
        rank, passed = self.rank, self.rank + len(self.Gx)
        c = g[self.rows].copy()
        for j in range(passed):
            c[j + 1 :] -= self.L[j + 1 :, j] * c[j]
        w = np.linalg.solve(self.U1, c[:rank])
        h1 = h[self.pivots]
        reduced = h[self.rest] - self.H1[:, rank:].T @ w - self.Y.T @ (h1 - self.H1[:, :rank] @ w)
        nu2 = self.nu - rank
        y_u = scipy.linalg.solve_triangular(self.K, reduced[:nu2], lower=True) if nu2 else np.zeros(0)
        p = reduced[nu2:] - self.Z @ y_u
        self.memory = w, h1, y_u
        return p, self.scale * c[rank:passed]

    def expand(self, x: Array, eta_x: Array) -> tuple[Array, Array]:
        """u and the multipliers of the rows of G, from x and the multipliers of the rows left on x."""
        w, h1, y_u = self.memory
        nu2 = self.nu - self.rank
        u2 = -scipy.linalg.solve_triangular(self.K.T, y_u + self.Z.T @ x, lower=False) if nu2 else np.zeros(0)
        y = np.concatenate([u2, x])
        u1 = -(self.Y @ y + w)
        z = np.zeros(self.nu + len(x))
        z[self.pivots], z[self.rest] = u1, y
        eta1 = -(self.H1 @ np.concatenate([u1, y]) + h1)
        eta = np.zeros(len(self.rows))
        eta[self.rows] = self.unwind(np.concatenate([np.linalg.solve(self.U1.T, eta1), self.scale * eta_x]))
        return z[: self.nu], eta

    def unwind(self, eta: Array) -> Array:
        """L^-T (eta, 0): multipliers of the ordered rows from those of the eliminated ones."""
        full = np.concatenate([eta, np.zeros(len(self.rows) - len(eta))])
        for j in reversed(range(len(eta))):
            full[j] -= self.L[j + 1 :, j] @ full[j + 1 :]
        return full


def eliminate(H: Array, G: Array, G_size: Array, nu: int, diagonal: Array, smallest: float) -> Elimination:
    """Eliminate the first nu variables of z. G_size: (rows, 2), the size of each row's terms in u and in x.

    diagonal: (nu,), the size of the terms summed into the diagonal of H. smallest: pivot of a control, as a share.
    """
    G, size = G.copy(), G_size.copy()
    m, n = G.shape
    rows, columns = np.arange(m), np.arange(n)
    L = np.eye(m)
    rank, declined = _pivot(G, size, L, rows, columns, 0, slice(0, nu), 0, smallest)
    total, _ = _pivot(G, size, L, rows, columns, rank, slice(nu, n), 1, RANK_TOLERANCE)
    U1 = np.triu(G[:rank, :rank])
    Y = np.linalg.solve(U1, np.hstack([G[:rank, rank:nu], G[:rank, nu:][:, np.argsort(columns[nu:])]]))
    pivots = columns[:rank]
    rest = np.concatenate([columns[rank:nu], np.arange(nu, n)])
    H11, H1y, Hyy = H[np.ix_(pivots, pivots)], H[np.ix_(pivots, rest)], H[np.ix_(rest, rest)]
    N = H1y - 0.5 * H11 @ Y
    Hyy = Hyy - Y.T @ N - N.T @ Y
    nu2 = nu - rank
    K = _cholesky(Hyy[:nu2, :nu2], np.maximum(diagonal[columns[rank:nu]], np.abs(np.diag(Hyy)[:nu2])))
    Z = scipy.linalg.solve_triangular(K, Hyy[nu2:, :nu2].T, lower=True).T if nu2 else Hyy[nu2:, :nu2]
    P = Hyy[nu2:, nu2:] - Z @ Z.T
    Gx = G[rank:total, nu:][:, np.argsort(columns[nu:])]
    scale = 1.0 / np.abs(Gx).max(1, initial=0.0)
    H1 = np.hstack([H11, H1y])
    return Elimination(nu, rank, rows, L, U1, Y, pivots, rest, H1, K, Z, P, scale[:, None] * Gx, scale, declined)


def _pivot(
    G: Array,
    size: Array,
    L: Array,
    rows: NDArray[np.intp],
    columns: NDArray[np.intp],
    first: int,
    block: slice[int, int, None],
    part: int,
    smallest: float,
) -> tuple[int, bool]:
    """Gauss elimination of the rows from `first` on, pivots sought among all of them and the columns of `block`.

    Returns the number of eliminated rows, and whether a pivot was left that is not noise but below `smallest`. A row's
    entries are judged by its size in this part of the columns.
    """
    step, m = first, len(G)
    for column in range(block.start, block.stop):
        if step == m:
            break
        scale = np.where(size[step:, part] > 0, size[step:, part], 1.0)
        relative = np.abs(G[step:, column : block.stop]) / scale[:, None]
        i, j = map(int, np.unravel_index(relative.argmax(), relative.shape))
        if relative[i, j] <= max(smallest, RANK_TOLERANCE):
            return step, bool(relative[i, j] > RANK_TOLERANCE)
        i, j = i + step, j + column
        for array in (G, size, rows):
            array[[step, i]] = array[[i, step]]
        L[[step, i], :step] = L[[i, step], :step]
        G[:, [column, j]] = G[:, [j, column]]
        columns[[column, j]] = columns[[j, column]]
        L[step + 1 :, step] = G[step + 1 :, column] / G[step, column]
        G[step + 1 :] -= np.outer(L[step + 1 :, step], G[step])
        G[step + 1 :, column] = 0.0
        size[step + 1 :] += np.outer(np.abs(L[step + 1 :, step]), size[step])
        step += 1
    return step, False


def _cholesky(A: Array, size: Array) -> Array:
    K = np.tril(A)
    for j in range(len(K)):
        K[j:, j] -= K[j:, :j] @ K[j, :j]
        if not K[j, j] > CURVATURE_TOLERANCE * size[j]:
            raise Indefinite
        K[j:, j] /= np.sqrt(K[j, j])
    return K


@dataclass
class ReferenceSolution:
    """Status and, if solved, one vector a stage."""

    status: str
    x: list[Array]
    u: list[Array]
    costates: list[Array]
    multipliers: list[Array]


def solve(problem: LQProblem) -> ReferenceSolution:
    """Backward over the matrices, backward over the vectors, forward."""
    stages = problem.stages
    children = [[c for c, s in enumerate(stages) if s.parent == k] for k in range(len(stages))]
    E, b = [s.E for s in stages], [s.b if s.b is not None else np.zeros(0) for s in stages]
    try:
        sweep, root = factor(problem, children, E)
    except Indefinite:
        return ReferenceSolution("indefinite", [], [], [], [])

    p, gx = ([np.zeros(0)] * len(stages) for _ in range(2))
    for k in reversed(range(len(stages))):
        s = stages[k]
        h, g = np.concatenate([s.r, s.q]), [s.g]
        for c in children[k]:
            h = h + E[c].T @ (p[c] + sweep[c].P @ b[c])
            g.append(gx[c] + sweep[c].Gx @ b[c])
        p[k], gx[k] = sweep[k].reduce(h, np.concatenate(g))

    x, u, costates, multipliers, eta_x = ([np.zeros(0)] * len(stages) for _ in range(5))
    if problem.initial_state is not None:
        x[0], eta_x[0] = problem.initial_state, np.zeros(len(gx[0]))
    elif root is not None:
        root.reduce(p[0], gx[0])
        x[0], eta_x[0] = root.expand(np.zeros(0), np.zeros(0))
    for k, s in enumerate(stages):
        costates[k] = sweep[k].P @ x[k] + p[k] + sweep[k].Gx.T @ eta_x[k]
        u[k], eta = sweep[k].expand(x[k], eta_x[k])
        multipliers[k], row = eta[: s.ng], s.ng
        for c in children[k]:
            x[c] = E[c] @ np.concatenate([u[k], x[k]]) + b[c]
            eta_x[c] = eta[row : row + len(gx[c])]
            row += len(gx[c])
    if root is not None:
        costates[0] = np.zeros(0)
    status = "inconsistent" if _violates_equalities(problem, x, u) else "solved"
    return ReferenceSolution(status, x, u, costates, multipliers)


def factor(
    problem: LQProblem, children: list[list[int]], E: list[Array]
) -> tuple[dict[int, Elimination], Elimination | None]:
    """The elimination of every stage, leaves first, and of the root's state where it is free.

    Where a row that a stage declined to meet is met nowhere, once more with small pivots.
    """
    sweep, root = _factor(problem, children, E, COMFORTABLE_PIVOT)
    last = len(sweep[0].Gx) if root is None else len(root.rows) - root.rank
    lost = last or any(len(each.rows) > each.rank + len(each.Gx) for each in sweep.values())
    if lost and any(each.declined for each in sweep.values()):
        return _factor(problem, children, E, RANK_TOLERANCE)
    return sweep, root


def _factor(
    problem: LQProblem, children: list[list[int]], E: list[Array], smallest: float
) -> tuple[dict[int, Elimination], Elimination | None]:
    stages = problem.stages
    sweep: dict[int, Elimination] = {}
    for k in reversed(range(len(stages))):
        s = stages[k]
        H = np.block([[s.R, s.S.T], [s.S, s.Q]])
        G, terms = [np.hstack([s.Gu, s.Gx])], [np.abs(np.hstack([s.Gu, s.Gx]))]
        for c in children[k]:
            H = H + E[c].T @ sweep[c].P @ E[c]
            G.append(sweep[c].Gx @ E[c])
            terms.append(np.abs(sweep[c].Gx) @ np.abs(E[c]))
        summed = np.vstack(terms)
        size = np.column_stack([summed[:, : s.nu].max(1, initial=0.0), summed[:, s.nu :].max(1, initial=0.0)])
        size = np.maximum(size, ROW_ROUNDING / RANK_TOLERANCE * size[:, ::-1])
        diagonal = np.maximum(np.abs(np.diag(s.R)), np.abs(np.diag(H)[: s.nu]))
        sweep[k] = eliminate(H, np.vstack(G), size, s.nu, diagonal, smallest)
    if problem.initial_state is not None:
        return sweep, None
    P, Gx = sweep[0].P, sweep[0].Gx
    size = np.column_stack([np.ones(len(Gx)), np.zeros(len(Gx))])
    return sweep, eliminate(P, Gx, size, len(P), np.abs(np.diag(P)), RANK_TOLERANCE)


def _violates_equalities(problem: LQProblem, x: list[Array], u: list[Array]) -> bool:
    for s, x_k, u_k in zip(problem.stages, x, u):
        G, z = np.hstack([s.Gu, s.Gx]), np.concatenate([u_k, x_k])
        size = np.abs(z)
        if s.parent is not None and s.b is not None:
            size[s.nu :] += np.abs(s.E) @ np.abs(np.concatenate([u[s.parent], x[s.parent]])) + np.abs(s.b)
        limit = CONSISTENCY_TOLERANCE * (np.abs(s.g) + np.abs(G) @ np.abs(z)) + ROUNDING_TOLERANCE * np.abs(G) @ size
        if (np.abs(G @ z + s.g) > limit).any():
            return True
    return False
