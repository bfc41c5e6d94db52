"""The sweep in NumPy, to be read: the documentation of the C++ core, which does the same on padded memory.

004 Sec. 3 on a tree. Letters: z = (u, x) a stage's variables, H, h its cost, G, g its equalities, E = [B A] the edge
to a child (x_child = E z + b), P, p the cost-to-go, Gx, gx (hats in the paper) the rows left on x. A bar in the
paper is what has taken in the children. Four verbs: a leaf and a stage are `eliminate`, the root is `eliminate` once
more with its state in the role of the control, and `expand` goes forward.

Two things go beyond the paper. After the controls, the elimination of the rows goes on through the states, so
that a stage never passes more rows than it has states, and what is left over is the test of consistency. And every
row carries the size of the terms that were summed into it, so that a rank decision compares a pivot with the
rounding it could be made of, whatever the units.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from .problem import Array, LQProblem

# A pivot of the equalities counts when it is above this share of the size of the terms summed into its row.
RANK_TOLERANCE = 1e-10
# A row that no variable is left in must have a right-hand side below this share of the terms summed into it.
CONSISTENCY_TOLERANCE = 1e-9
# A pivot of the reduced Hessian is positive when it is above this share of the diagonal entries it came from.
CURVATURE_TOLERANCE = 1e-14


class Indefinite(Exception):
    """The reduced Hessian of a stage is not positive definite."""


@dataclass
class Elimination:
    """min 1/2 z'Hz + h'z over u, subject to G z + g = 0, as a function of x: what `eliminate` found.

    rows, L: the order of the rows and the unit lower factor: L [U1 (I Y); Gx; 0] = G[rows], columns (u1, u2, x)
    free: the indices of u1 (solved from the rows, u1 = -(Y y + w)) in z, and of y = (u2, x)
    H1: the rows of H at u1, columns (u1, y)
    K, Z: Cholesky factor of the Hessian of u2, and Z = S K^-T
    P, Gx: cost-to-go and rows left on x
    """

    nu: int
    rank: int
    rank_x: int
    rows: Array
    L: Array
    U1: Array
    Y: Array
    pivots: Array
    rest: Array
    H1: Array
    K: Array
    Z: Array
    P: Array
    Gx: Array
    Gx_size: Array

    def reduce(self, h: Array, g: Array, g_size: Array):
        """(p, gx, size of gx), and what `expand` needs of this right-hand side; with the left-over rows and sizes."""
        rank, passed = self.rank, self.rank + self.rank_x
        c = g[self.rows].copy()
        size = g_size[self.rows].copy()
        for j in range(passed):
            c[j + 1 :] -= self.L[j + 1 :, j] * c[j]
            size[j + 1 :] += np.abs(self.L[j + 1 :, j]) * size[j]
        w = np.linalg.solve(self.U1, c[:rank])
        h1 = h[self.pivots]
        reduced = h[self.rest] - self.H1[:, rank:].T @ w - self.Y.T @ (h1 - self.H1[:, :rank] @ w)
        nu2 = self.nu - rank
        y_u = scipy.linalg.solve_triangular(self.K, reduced[:nu2], lower=True) if nu2 else np.zeros(0)
        p = reduced[nu2:] - self.Z @ y_u
        self.memory = w, h1, y_u
        return p, c[rank:passed], size[rank:passed], c[passed:], size[passed:]

    def expand(self, x: Array, eta_x: Array) -> tuple[Array, Array]:
        """u and the multipliers of the rows of G, from x and the multipliers of the rows left on x."""
        w, h1, y_u = self.memory
        rank, nu2 = self.rank, self.nu - self.rank
        u2 = -scipy.linalg.solve_triangular(self.K.T, y_u + self.Z.T @ x, lower=False) if nu2 else np.zeros(0)
        y = np.concatenate([u2, x])
        u1 = -(self.Y @ y + w)
        z = np.zeros(self.nu + len(x))
        z[self.pivots], z[self.rest] = u1, y
        eta1 = -(self.H1 @ np.concatenate([u1, y]) + h1)
        eta = np.zeros(len(self.rows))
        eta[self.rows] = self.unwind(np.concatenate([np.linalg.solve(self.U1.T, eta1), eta_x]))
        return z[: self.nu], eta

    def unwind(self, eta: Array) -> Array:
        """L^-T (eta, 0): multipliers of the ordered rows from those of the eliminated ones."""
        full = np.concatenate([eta, np.zeros(len(self.rows) - len(eta))])
        for j in reversed(range(len(eta))):
            full[j] -= self.L[j + 1 :, j] @ full[j + 1 :]
        return full


def eliminate(H: Array, G: Array, G_size: Array, nu: int, diagonal: Array) -> Elimination:
    """Eliminate the first nu variables of z. G_size: (rows, 2), the size of each row's terms in u and in x.

    diagonal: (nu,), the size of the terms summed into the diagonal of H.
    """
    G, size = G.copy(), G_size.copy()
    m, n = G.shape
    rows, columns = np.arange(m), np.arange(n)
    L = np.eye(m)
    rank = _pivot(G, size, L, rows, columns, 0, slice(0, nu), 0)
    total = _pivot(G, size, L, rows, columns, rank, slice(nu, n), 1)
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
    return Elimination(
        nu, rank, total - rank, rows, L, U1, Y, pivots, rest,
        H1=np.hstack([H11, H1y]), K=K, Z=Z, P=Hyy[nu2:, nu2:] - Z @ Z.T,
        Gx=G[rank:total, nu:][:, np.argsort(columns[nu:])], Gx_size=size[rank:total, 1],
    )  # fmt: skip


def _pivot(G, size, L, rows, columns, first, block: slice, part: int) -> int:
    """Gauss elimination of the rows from `first` on, pivots sought among all of them and the columns of `block`.

    Returns the number of eliminated rows. A row's entries are judged by its size in this part of the columns.
    """
    step, m = first, len(G)
    for column in range(block.start, block.stop):
        if step == m:
            break
        scale = np.where(size[step:, part] > 0, size[step:, part], 1.0)
        relative = np.abs(G[step:, column : block.stop]) / scale[:, None]
        i, j = np.unravel_index(relative.argmax(), relative.shape)
        if relative[i, j] <= RANK_TOLERANCE:
            break
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
    return step


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
    free = problem.initial_state is None
    E = [None if s.parent is None else np.hstack([s.B, s.A]) for s in stages]
    sweep: list[Elimination] = [None] * len(stages)
    failed = ReferenceSolution("indefinite", [], [], [], [])

    for k in reversed(range(len(stages))):
        s = stages[k]
        H = np.block([[s.R, s.S.T], [s.S, s.Q]])
        diagonal = np.abs(np.diag(s.R))
        G = [np.hstack([s.Gu, s.Gx])]
        size = [np.column_stack([np.abs(s.Gu).max(1, initial=0.0), np.abs(s.Gx).max(1, initial=0.0)])]
        for c in children[k]:
            H = H + E[c].T @ sweep[c].P @ E[c]
            G.append(sweep[c].Gx @ E[c])
            terms = np.abs(sweep[c].Gx) @ np.abs(E[c])
            size.append(np.column_stack([terms[:, : s.nu].max(1, initial=0.0), terms[:, s.nu :].max(1, initial=0.0)]))
        diagonal = np.maximum(diagonal, np.abs(np.diag(H)[: s.nu]))
        try:
            sweep[k] = eliminate(H, np.vstack(G), np.vstack(size), s.nu, diagonal)
        except Indefinite:
            return failed
    top = sweep[0]
    if free:
        nx = stages[0].nx
        try:
            size = np.column_stack([top.Gx_size, np.zeros_like(top.Gx_size)])
            root = eliminate(top.P, top.Gx, size, nx, np.abs(np.diag(top.P)))
        except Indefinite:
            return failed

    def consistent(rest, rest_size):
        return bool((np.abs(rest) <= CONSISTENCY_TOLERANCE * rest_size).all())

    p, gx, gx_size = [None] * len(stages), [None] * len(stages), [None] * len(stages)
    failed = ReferenceSolution("inconsistent", [], [], [], [])
    for k in reversed(range(len(stages))):
        s = stages[k]
        h, g, size = np.concatenate([s.r, s.q]), [s.g], [np.abs(s.g)]
        for c in children[k]:
            b = stages[c].b
            h = h + E[c].T @ (p[c] + sweep[c].P @ b)
            g.append(gx[c] + sweep[c].Gx @ b)
            size.append(gx_size[c] + np.abs(sweep[c].Gx) @ np.abs(b))
        p[k], gx[k], gx_size[k], *rest = sweep[k].reduce(h, np.concatenate(g), np.concatenate(size))
        if not consistent(*rest):
            return failed

    if free:
        *_, rest, rest_size = root.reduce(p[0], gx[0], gx_size[0])
        x0, eta0 = root.expand(np.zeros(0), np.zeros(0))
    else:
        x0, eta0 = problem.initial_state, np.zeros(len(gx[0]))
        rest, rest_size = top.Gx @ x0 + gx[0], gx_size[0] + np.abs(top.Gx) @ np.abs(x0)
    if not consistent(rest, rest_size):
        return failed

    x, u, costates, multipliers = ([None] * len(stages) for _ in range(4))
    eta_x = [None] * len(stages)
    x[0], eta_x[0] = x0, eta0
    for k, s in enumerate(stages):
        costates[k] = sweep[k].P @ x[k] + p[k] + sweep[k].Gx.T @ eta_x[k]
        u[k], eta = sweep[k].expand(x[k], eta_x[k])
        multipliers[k], row = eta[: s.ng], s.ng
        for c in children[k]:
            x[c] = E[c] @ np.concatenate([u[k], x[k]]) + stages[c].b
            eta_x[c] = eta[row : row + len(gx[c])]
            row += len(gx[c])
    if free:
        costates[0] = np.zeros(0)
    return ReferenceSolution("solved", x, u, costates, multipliers)
