"""Forward dynamics with loops by proxBBO (Sathya 2025 Sec. V, Algorithms 4 and 5), which is PV with early elimination.

The rows of a constraint are carried from its bodies towards the root, as K a + l + L lambda = 0 with the proximal term
L = 1/mu, l = -k - lambda_k/mu at the start (eq. 42). They are solved for at the root of their loop, the nearest body
that carries all of the constraint's; those that hold to the ground, at the world. Letters: H f of the bodies, U D G of
`articulation`, u = tau + S' f, c and d constraints, R those that a body is the root of, N the others it carries.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..algebra.arrays import Array, add, columns, grid, rows, symmetric
from ..algebra.ldl import Factor
from ..free.articulated_tree import ArticulatedTree
from ..free.tree_motion import base_acceleration
from .factorization import ProximalFactorization

if TYPE_CHECKING:
    from ..model import Model

WORLD = -1


class ProxBBO(ProximalFactorization):
    """The factorization at a state: see `factorization`."""

    name, stiffness = "prox-bbo", 1e5

    def factorize(self) -> None:
        """The backward sweep of inertias and rows (eqs. 46a, 46c, 46d, 52a)."""
        model, X = self.model, self.move.X
        roots = [loop_root(model, [body for body, _ in row.parts]) for row in self.held]
        rooted = {i: [c for c, root in enumerate(roots) if root == i] for i in range(WORLD, model.size)}
        self.tree, self.solved = ArticulatedTree(model, X), dict[int, Solved]()
        self.KS: list[dict[int, Array]] = [{} for _ in range(model.size)]
        self.KP: list[dict[int, Array]] = [{} for _ in range(model.size)]
        K: dict[int, dict[int, Array]] = {i: {} for i in range(WORLD, model.size)}
        L: dict[tuple[int, int], Array] = {(c, c): np.eye(row.size) / self.mu for c, row in enumerate(self.held)}
        for c, row in enumerate(self.held):
            for body, part in row.parts:
                K[body][c] = part
        for i in self.tree.inward:
            if rooted[i]:
                self.solved[i] = Solved(rooted[i], K[i], L)
                self.tree.H[i] = self.solved[i].eliminate(self.tree.H[i], K[i], L)
            joint = self.tree.articulate(i)
            self.KS[i] = {c: Kc[:, list(joint.axes)] for c, Kc in K[i].items()}
            self.KP[i] = {c: joint.force(Kc.T) for c, Kc in K[i].items()}
            above = K[model.parents[i]]
            for c, Kc in self.KS[i].items():
                for d in self.KS[i]:
                    if d <= c:
                        block = Kc @ joint.D.solve(self.KS[i][d].T)
                        L[c, d] = L[c, d] + block if (c, d) in L else block
                carried = X[i].force(self.KP[i][c]).T
                above[c] = above[c] + carried if c in above else carried
        if rooted[WORLD]:
            self.solved[WORLD] = Solved(rooted[WORLD], K[WORLD], L)

    def first(self, forces: Sequence[Array]) -> tuple[Array, list[Array]]:
        """Algorithm 4."""
        l = [-row.k - force / self.mu for row, force in zip(self.held, forces)]
        f, a0 = self.problem.applied_forces(), base_acceleration(self.model)
        qdd, reached = self._sweeps(f, l, self.problem.tau, self.move.ab, a0)
        return qdd, [(new - old) / self.mu for new, old in zip(reached, forces)]

    def again(self, residual: Sequence[Array]) -> tuple[Array, list[Array]]:
        """Algorithm 5."""
        nothing: list[Array] = [np.zeros((6, 1))] * self.model.size
        l = [-part for part in residual]
        qdd, more = self._sweeps(list(nothing), l, np.zeros((self.model.nv, 1)), nothing, np.zeros((6, 1)))
        return qdd, [force / self.mu for force in more]

    def _sweeps(
        self, f: list[Array], l: list[Array], tau: Array, ab: Sequence[Array], a0: Array
    ) -> tuple[Array, list[Array]]:
        """Joint accelerations and forces for forces f on the bodies, l of the rows, bias accelerations and a_0."""
        tree, Du = self.tree, {}
        for i in tree.inward:
            if i in self.solved:
                f[i] = self.solved[i].inward(f[i], l)
            Du[i] = tree.push(i, f, tau[self.model.v_slices[i], :], ab[i])
            for c, KS in self.KS[i].items():
                l[c] = l[c] + self.KP[i][c].T @ ab[i] + KS @ Du[i]  # eq. 46e
        forces: dict[int, Array] = {}
        if WORLD in self.solved:
            self.solved[WORLD].outward(a0, l, forces)
        a: list[Array] = []
        qdd = []
        for i in tree.outward:
            pull = [KS.T @ forces[c] for c, KS in self.KS[i].items()]
            own = Du[i] + tree.joints[i].D.solve(add(pull)) if pull else Du[i]
            qdd.append(tree.pull(i, a, own, ab[i], a0))
            if i in self.solved:
                self.solved[i].outward(a[i], l, forces)
        return rows(qdd), [forces[c] for c in range(len(self.held))]


def loop_root(model: Model, bodies: Sequence[int]) -> int:
    """The nearest body that carries all of the bodies, itself among its own; of one body alone, the world."""
    if len(bodies) == 1:
        return WORLD
    shared = set.intersection(*(set(model.support(body)) for body in bodies))
    return max(shared, default=WORLD)


class Solved:
    """Forces R eliminated at a body, U the others it carries (eqs. 51 and 52).

    lambda_R = -L_RR^-1 (K_R a + l_R + L_RU lambda_U)
    """

    def __init__(self, R: list[int], K: dict[int, Array], L: dict[tuple[int, int], Array]):
        self.R, self.U = R, [c for c in K if c not in R]
        self.K = rows([K[c] for c in R])
        self.sizes = [K[c].shape[0] for c in R]
        self.L = Factor(symmetric(grid([[_block(L, c, d, K) for d in R] for c in R])))
        self.L_UR = {c: columns([_block(L, c, d, K) for d in R]) for c in self.U}

    def eliminate(self, H: Array, K: dict[int, Array], L: dict[tuple[int, int], Array]) -> Array:
        """H without R; K and L are brought up to date in place (eq. 52a)."""
        for c in self.R:
            del K[c]
        for c in self.U:
            scaled = self.L.solve(self.L_UR[c].T)
            K[c] = K[c] - scaled.T @ self.K
            for d in self.U:
                if d <= c:
                    L[c, d] = _block(L, c, d, K) - scaled.T @ self.L_UR[d].T
        return H + self.L.inverse_form(self.K)

    def inward(self, f: Array, l: list[Array]) -> Array:
        """f without R; l is brought up to date in place (eq. 52b)."""
        pull = self.L.solve(rows([l[c] for c in self.R]))
        for c in self.U:
            l[c] = l[c] - self.L_UR[c] @ pull
        return f - self.K.T @ pull

    def outward(self, a: Array, l: list[Array], forces: dict[int, Array]) -> None:
        """The forces R for the body's acceleration and the forces U."""
        wanted = self.K @ a + rows([l[c] for c in self.R])
        for c in self.U:
            wanted = wanted + self.L_UR[c].T @ forces[c]
        stacked, start = -self.L.solve(wanted), 0
        for c, size in zip(self.R, self.sizes):
            forces[c] = stacked[start : start + size, :]
            start += size


def _block(L: dict[tuple[int, int], Array], c: int, d: int, K: dict[int, Array]) -> Array:
    """L_cd, of which those with c >= d are kept and those not there are zero."""
    if (c, d) in L:
        return L[c, d]
    return L[d, c].T if (d, c) in L else np.zeros((K[c].shape[0], K[d].shape[0]))
