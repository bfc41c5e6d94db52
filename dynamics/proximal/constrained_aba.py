"""Forward dynamics with constraints against the ground by the constrained articulated-body algorithm (Sathya 2025
Sec. II and IV-A: LCABA where no bodies are coupled).

The augmented Lagrangian of a constraint is an inertia mu K' K on its body and a force K' (lambda + mu k); what remains
is ABA, and iterations that only push (Sathya 2025 Algorithm 2). Letters of `aba`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..algebra.arrays import Array, rows, symmetric
from ..constraints.loops import on_bodies
from ..free.articulated_tree import ArticulatedTree
from ..free.tree_motion import base_acceleration
from .factorization import ProximalFactorization


class ConstrainedABA(ProximalFactorization):
    """The factorization at a state: see `factorization`."""

    name, stiffness, refines = "constrained-aba", 1e6, True

    def factorize(self) -> None:
        self.tree = ArticulatedTree(self.model, self.move.X)
        for row in self.held:
            for body, K in row.parts:
                self.tree.H[body] = self.tree.H[body] + self.mu * symmetric(K.T @ K)
        for i in self.tree.inward:
            self.tree.articulate(i)

    def first(self, forces: Sequence[Array]) -> tuple[Array, list[Array]]:
        pushes = [force + self.mu * row.k for force, row in zip(forces, self.held)]
        f = on_bodies(self.problem.applied_forces(), self.held, pushes)
        qdd, a = self._sweeps(f, self.problem.tau, self.move.ab, base_acceleration(self.model))
        return qdd, [row.residual(a) for row in self.held]

    def again(self, residual: Sequence[Array]) -> tuple[Array, list[Array]]:
        f = on_bodies(self._nothing, self.held, [self.mu * part for part in residual])
        qdd, a = self._sweeps(f, np.zeros((self.model.nv, 1)), self._nothing, np.zeros((6, 1)))
        return qdd, [part - row.felt(a) for row, part in zip(self.held, residual)]

    def response(self, tau: Array) -> tuple[Array, list[Array]]:
        qdd, a = self._sweeps(list(self._nothing), tau, self._nothing, np.zeros((6, 1)))
        return qdd, [row.felt(a) for row in self.held]

    @property
    def _nothing(self) -> list[Array]:
        return [np.zeros((6, 1))] * self.model.size

    def _sweeps(self, f: list[Array], tau: Array, ab: Sequence[Array], a0: Array) -> tuple[Array, list[Array]]:
        """Accelerations of the joints and the bodies for forces f, bias accelerations and a_0."""
        tree, parts = self.tree, self.model.v_slices
        Du = {i: tree.push(i, f, tau[parts[i], :], ab[i]) for i in tree.inward}
        a: list[Array] = []
        return rows([tree.pull(i, a, Du[i], ab[i], a0) for i in tree.outward]), a
