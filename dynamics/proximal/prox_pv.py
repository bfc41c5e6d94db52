"""Forward dynamics with constraints against the ground by the proximal form of Popov and Vereshchagin's solver
(Sathya 2025 Sec. V: proxBBO where no loop has a root but the world).

As `pv`, with L = 1/mu and l = -k - lambda_k/mu of the rows at the start (Sathya 2025 eq. 42), so that the dual
Hessian at the world is regular whatever the rows. Letters of `pv`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..algebra.arrays import Array, pick, rows
from ..algebra.ldl import Factor
from ..constraints.stacked_rows import Stack
from ..free.aba import applied_forces, reaction
from ..free.articulation import Articulation
from ..free.tree_motion import base_acceleration
from .iteration import Factorized


class ProxPV(Factorized):
    """The factorization at a state: see `proximal`."""

    name, stiffness = "prox-pv", 1e5

    def factorize(self) -> None:
        model, move, held, mu = self.model, self.move, self.held, self.mu
        self.f = applied_forces(model.lumped, move, self.external)
        n = model.size
        self.joints: list[Articulation] = [None] * n
        self.Ha: list[Array] = [None] * n
        self.KS: list[Array] = [None] * n
        self.KP: list[Array] = [None] * n
        H = [body.matrix for body in model.lumped]
        rows_on_bodies = [(row.parts[0].body, row.parts[0].K, np.zeros((row.size, 0))) for row in held]
        self.stack = Stack(rows_on_bodies, n)
        for i in reversed(range(n)):
            parent = model.parents[i]
            self.joints[i] = joint = Articulation(model.joints[i].axes, H[i], model.armature[model.v_slices[i]])
            if self.stack.order[i]:
                K, L, nothing = self.stack.at(i)
                self.KS[i], self.KP[i] = K[:, list(joint.axes)], joint.force(K.T)
                L = L + joint.D.inverse_form(self.KS[i].T)
                self.stack.push(parent, self.stack.order[i], move.X[i].force(self.KP[i]).T, L, nothing)
            if parent >= 0:
                self.Ha[i] = joint.inertia()
                H[parent] = H[parent] + move.X[i].inertia(self.Ha[i])
        if held:
            self.K, L, _ = self.stack.at(-1)
            self.L = Factor(L + np.eye(L.shape[0]) / mu)

    def first(self, forces: Sequence[Array]) -> tuple[Array, list[Array]]:
        """Accelerations and what is missing of the rows, from given forces."""
        l = [-row.k - force / self.mu for row, force in zip(self.held, forces)]
        qdd, reached = self._sweeps(list(self.f), l, self.tau, self.move.ab, base_acceleration(self.model))
        return qdd, [(new - old) / self.mu for new, old in zip(reached, forces)]

    def again(self, missing: Sequence[Array]) -> tuple[Array, list[Array]]:
        """The change of the accelerations as mu times `missing` is added to the forces, and what is missing then.

        No force but the constraints' changes, so nothing is to be swept inwards.
        """
        more = self._forces([-part for part in missing], np.zeros((6, 1)))
        nothing = [np.zeros((6, 1))] * self.model.size
        Du = [np.zeros((joint.nv, 1)) for joint in self.model.joints]
        return self._roll_out(Du, more, nothing, np.zeros((6, 1))), [force / self.mu for force in more]

    def _sweeps(
        self, f: list[Array], l: list[Array], tau: Array, ab: Sequence[Array], a0: Array
    ) -> tuple[Array, list[Array]]:
        """Joint accelerations and forces for forces f on the bodies, l of the rows, bias accelerations and a_0."""
        model, X, Du = self.model, self.move.X, [None] * self.model.size
        for i in reversed(range(model.size)):
            joint, parent, part = self.joints[i], model.parents[i], model.v_slices[i]
            u = tau[part, :] + pick(f[i], joint.axes)
            Du[i] = joint.D.solve(u)
            if self.stack.order[i]:
                change = self.KP[i].T @ ab[i] + self.KS[i] @ Du[i]
                for c, more in zip(self.stack.order[i], self.stack.parts(i, change)):
                    l[c] = l[c] + more
            if parent >= 0:
                f[parent] = f[parent] + X[i].force(reaction(joint, f[i] - self.Ha[i] @ ab[i], u, tau[part, :]))
        forces = self._forces(l, a0)
        return self._roll_out(Du, forces, ab, a0), forces

    def _forces(self, l: list[Array], a0: Array) -> list[Array]:
        """The forces at the world (Sathya 2024a eqs. 43 and 47)."""
        if not self.held:
            return []
        stacked = rows([l[c] for c in self.stack.order[-1]])
        return self.stack.split(-1, -self.L.solve(stacked + self.K @ a0))

    def _roll_out(self, Du: list[Array], forces: list[Array], ab: Sequence[Array], a0: Array) -> Array:
        """Joint accelerations, from the root outwards."""
        a, qdd = [], []
        for i, parent in enumerate(self.model.parents):
            joint, own = self.joints[i], Du[i]
            if self.stack.order[i]:
                own = own + joint.D.solve(self.KS[i].T @ rows([forces[c] for c in self.stack.order[i]]))
            above = self.move.X[i].motion(a0 if parent < 0 else a[parent]) + ab[i]
            joint_acceleration, acceleration = joint.accelerate(above, own)
            qdd.append(joint_acceleration)
            a.append(acceleration)
        return rows(qdd)
