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

from ..algebra.arrays import Array, columns, grid, pick, rows, symmetric
from ..algebra.ldl import Factor
from ..constraints.loops import add
from ..free.aba import applied_forces, reaction
from ..free.articulation import Articulation
from ..free.tree_motion import base_acceleration
from .iteration import Factorized

if TYPE_CHECKING:
    from ..model import Model

WORLD = -1


class ProxBBO(Factorized):
    """The factorization at a state: see `proximal`."""

    name, stiffness = "prox-bbo", 1e5

    def factorize(self) -> None:
        model, move, held = self.model, self.move, self.held
        self.f = applied_forces(model.lumped, move, self.external)
        roots = [loop_root(model, [body for body, _ in row.parts]) for row in held]
        self.rooted = {i: [c for c, root in enumerate(roots) if root == i] for i in range(WORLD, model.size)}
        self.joints: list[Articulation] = [None] * model.size
        self.Ha: list[Array] = [None] * model.size
        self.KS: list[dict[int, Array]] = [{} for _ in range(model.size)]
        self.KP: list[dict[int, Array]] = [{} for _ in range(model.size)]
        self.solved: dict[int, Solved] = {}
        self._factorize()

    def _factorize(self) -> None:
        """The backward sweep of inertias and rows (eqs. 46a, 46c, 46d, 52a)."""
        model, X = self.model, self.move.X
        H = [body.matrix for body in model.lumped]
        K: dict[int, dict[int, Array]] = {i: {} for i in range(WORLD, model.size)}
        L = {(c, c): np.eye(row.size) / self.mu for c, row in enumerate(self.held)}
        for c, row in enumerate(self.held):
            for body, part in row.parts:
                K[body][c] = part
        for i in reversed(range(model.size)):
            parent = model.parents[i]
            if self.rooted[i]:
                self.solved[i] = Solved(self.rooted[i], K[i], L)
                H[i] = self.solved[i].eliminate(H[i], K[i], L)
            self.joints[i] = joint = Articulation(model.joints[i].axes, H[i], model.armature[model.v_slices[i]])
            self.KS[i] = {c: Kc[:, list(joint.axes)] for c, Kc in K[i].items()}
            self.KP[i] = {c: joint.force(Kc.T) for c, Kc in K[i].items()}
            for c, Kc in self.KS[i].items():
                for d in self.KS[i]:
                    if d <= c:
                        block = Kc @ joint.D.solve(self.KS[i][d].T)
                        L[c, d] = L[c, d] + block if (c, d) in L else block
                above = X[i].force(self.KP[i][c]).T
                K[parent][c] = K[parent][c] + above if c in K[parent] else above
            if parent >= 0:
                self.Ha[i] = joint.inertia()
                H[parent] = H[parent] + X[i].inertia(self.Ha[i])
        if self.rooted[WORLD]:
            self.solved[WORLD] = Solved(self.rooted[WORLD], K[WORLD], L)

    def first(self, forces: Sequence[Array]) -> tuple[Array, list[Array]]:
        """Accelerations and what is missing of the rows, from given forces (Algorithm 4)."""
        l = [-row.k - force / self.mu for row, force in zip(self.held, forces)]
        qdd, reached = self._sweeps(list(self.f), l, self.tau, self.move.ab, base_acceleration(self.model))
        return qdd, [(new - old) / self.mu for new, old in zip(reached, forces)]

    def again(self, missing: Sequence[Array]) -> tuple[Array, list[Array]]:
        """The change of the accelerations as mu times `missing` is added to the forces, and what is missing then
        (Algorithm 5).
        """
        zero = np.zeros((6, 1))
        nothing = [zero] * self.model.size
        l = [-part for part in missing]
        qdd, more = self._sweeps(list(nothing), l, np.zeros((self.model.nv, 1)), nothing, zero)
        return qdd, [force / self.mu for force in more]

    def _sweeps(
        self, f: list[Array], l: list[Array], tau: Array, ab: Sequence[Array], a0: Array
    ) -> tuple[Array, list[Array]]:
        """Joint accelerations and forces for forces f on the bodies, l of the rows, bias accelerations and a_0."""
        model, X, Du = self.model, self.move.X, [None] * self.model.size
        for i in reversed(range(model.size)):
            joint, parent, part = self.joints[i], model.parents[i], model.v_slices[i]
            if i in self.solved:
                f[i] = self.solved[i].inward(f[i], l)
            u = tau[part, :] + pick(f[i], joint.axes)
            Du[i] = joint.D.solve(u)
            for c, KS in self.KS[i].items():
                l[c] = l[c] + self.KP[i][c].T @ ab[i] + KS @ Du[i]  # eq. 46e
            if parent >= 0:
                f[parent] = f[parent] + X[i].force(reaction(joint, f[i] - self.Ha[i] @ ab[i], u, tau[part, :]))
        forces: list[Array] = [None] * len(self.held)
        if WORLD in self.solved:
            self.solved[WORLD].outward(a0, l, forces)
        a, qdd = [], []
        for i, parent in enumerate(model.parents):
            above = X[i].motion(a0 if parent < 0 else a[parent]) + ab[i]
            pull = [KS.T @ forces[c] for c, KS in self.KS[i].items()]
            own = Du[i] + self.joints[i].D.solve(add(pull)) if pull else Du[i]
            joint_acceleration, acceleration = self.joints[i].accelerate(above, own)
            qdd.append(joint_acceleration)
            a.append(acceleration)
            if i in self.solved:
                self.solved[i].outward(a[i], l, forces)
        return rows(qdd), forces


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

    def outward(self, a: Array, l: list[Array], forces: list[Array]) -> None:
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
