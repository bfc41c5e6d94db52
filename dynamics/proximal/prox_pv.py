"""Forward dynamics with constraints against the ground by the proximal form of Popov and Vereshchagin's solver
(Sathya 2025 Sec. V: proxBBO where no loop has a root but the world).

As `pv`, with L = 1/mu and l = -k - lambda_k/mu of the rows at the start (Sathya 2025 eq. 42), so that the dual
Hessian at the world is regular whatever the rows. Letters of `pv`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..algebra.arrays import Array, rows
from ..algebra.ldl import Factor
from ..constraints.stacked_rows import Stack
from ..free.articulated_tree import ArticulatedTree
from ..free.tree_motion import base_acceleration
from .factorization import ProximalFactorization


class ProxPV(ProximalFactorization):
    """The factorization at a state: see `factorization`."""

    name, stiffness = "prox-pv", 1e5

    def factorize(self) -> None:
        model, X, held = self.model, self.move.X, self.held
        self.tree = ArticulatedTree(model, X)
        self.KS: dict[int, Array] = {}
        self.KP: dict[int, Array] = {}
        self.stack = Stack([(row.parts[0].body, row.parts[0].K, np.zeros((row.size, 0))) for row in held], model.size)
        for i in self.tree.inward:
            joint = self.tree.articulate(i)
            if self.stack.order[i]:
                K, L, nothing = self.stack.at(i)
                self.KS[i], self.KP[i] = K[:, list(joint.axes)], joint.force(K.T)
                L = L + joint.D.inverse_form(self.KS[i].T)
                self.stack.push(model.parents[i], self.stack.order[i], X[i].force(self.KP[i]).T, L, nothing)
        if held:
            self.K, L, _ = self.stack.at(-1)
            self.L = Factor(L + np.eye(L.shape[0]) / self.mu)

    def first(self, forces: Sequence[Array]) -> tuple[Array, list[Array]]:
        f, tau, ab, a0 = self.problem.applied_forces(), self.problem.tau, self.move.ab, base_acceleration(self.model)
        l = [-row.k - force / self.mu for row, force in zip(self.held, forces)]
        Du = {}
        for i in self.tree.inward:
            Du[i] = self.tree.push(i, f, tau[self.model.v_slices[i], :], ab[i])
            if self.stack.order[i]:
                change = self.KP[i].T @ ab[i] + self.KS[i] @ Du[i]
                for c, more in zip(self.stack.order[i], self.stack.parts(i, change)):
                    l[c] = l[c] + more
        reached = self._forces(l, a0)
        return self._roll_out(Du, reached, ab, a0), [(new - old) / self.mu for new, old in zip(reached, forces)]

    def again(self, residual: Sequence[Array]) -> tuple[Array, list[Array]]:
        """No force but the constraints' changes, so nothing is to be swept inwards."""
        more = self._forces([-part for part in residual], np.zeros((6, 1)))
        nothing = [np.zeros((6, 1))] * self.model.size
        Du = {i: np.zeros((joint.nv, 1)) for i, joint in enumerate(self.model.joints)}
        return self._roll_out(Du, more, nothing, np.zeros((6, 1))), [force / self.mu for force in more]

    def _forces(self, l: Sequence[Array], a0: Array) -> list[Array]:
        """The forces at the world (Sathya 2024a eqs. 43 and 47)."""
        if not self.held:
            return []
        stacked = rows([l[c] for c in self.stack.order[-1]])
        return self.stack.split(-1, -self.L.solve(stacked + self.K @ a0))

    def _roll_out(self, Du: Mapping[int, Array], forces: Sequence[Array], ab: Sequence[Array], a0: Array) -> Array:
        """Joint accelerations, from the root outwards."""
        a: list[Array] = []
        qdd = []
        for i in self.tree.outward:
            own = Du[i]
            if self.stack.order[i]:
                pull = self.KS[i].T @ rows([forces[c] for c in self.stack.order[i]])
                own = own + self.tree.joints[i].D.solve(pull)
            qdd.append(self.tree.pull(i, a, own, ab[i], a0))
        return rows(qdd)
