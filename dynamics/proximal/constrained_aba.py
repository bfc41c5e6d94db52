"""Forward dynamics with constraints against the ground by the constrained articulated-body algorithm (Sathya 2025
Sec. II and IV-A: LCABA where no bodies are coupled).

The augmented Lagrangian of a constraint is an inertia mu K' K on its body and a force K' (lambda + mu k); what remains
is ABA, and iterations that only push (Sathya 2025 Algorithm 2). Letters of `aba`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..algebra.arrays import Array, pick, rows, symmetric
from ..constraints.loops import on_bodies
from ..free.aba import applied_forces, reaction
from ..free.articulation import Articulation
from ..free.tree_motion import base_acceleration
from .iteration import Factorized


class ConstrainedABA(Factorized):
    """The factorization at a state: see `proximal`."""

    name, stiffness, refines = "constrained-aba", 1e6, True

    def factorize(self) -> None:
        model, move, held, mu = self.model, self.move, self.held, self.mu
        self.f = applied_forces(model.lumped, move, self.external)
        self.joints: list[Articulation] = [None] * model.size
        self.Ha: list[Array] = [None] * model.size
        H = [body.matrix for body in model.lumped]
        for row in held:
            for body, K in row.parts:
                H[body] = H[body] + mu * symmetric(K.T @ K)
        for i in reversed(range(model.size)):
            parent = model.parents[i]
            self.joints[i] = Articulation(model.joints[i].axes, H[i], model.armature[model.v_slices[i]])
            if parent >= 0:
                self.Ha[i] = self.joints[i].inertia()
                H[parent] = H[parent] + move.X[i].inertia(self.Ha[i])

    def first(self, forces: Sequence[Array]) -> tuple[Array, list[Array]]:
        """Accelerations and what is missing of the rows, from given forces."""
        pushes = [force + self.mu * row.k for force, row in zip(forces, self.held)]
        f = on_bodies(self.f, self.held, pushes)
        qdd, a = self._sweeps(f, self.tau, self.move.ab, base_acceleration(self.model))
        return qdd, [row.missing(a) for row in self.held]

    def again(self, missing: Sequence[Array]) -> tuple[Array, list[Array]]:
        """The change of the accelerations as mu times `missing` is added to the forces, and what is missing then."""
        zero = np.zeros((6, 1))
        nothing = [zero] * self.model.size
        f = on_bodies(nothing, self.held, [self.mu * part for part in missing])
        qdd, a = self._sweeps(f, np.zeros((self.model.nv, 1)), nothing, zero)
        return qdd, [part - row.felt(a) for row, part in zip(self.held, missing)]

    def pushed(self, tau: Array) -> tuple[Array, list[Array]]:
        """The change of the accelerations for more joint forces, and what the rows feel of it."""
        zero = np.zeros((6, 1))
        nothing = [zero] * self.model.size
        qdd, a = self._sweeps(list(nothing), tau, nothing, zero)
        return qdd, [row.felt(a) for row in self.held]

    def _sweeps(self, f: list[Array], tau: Array, ab: Sequence[Array], a0: Array) -> tuple[Array, list[Array]]:
        """Accelerations of the joints and the bodies for forces f, bias accelerations and a_0."""
        model, X, Du = self.model, self.move.X, [None] * self.model.size
        for i in reversed(range(model.size)):
            joint, parent, part = self.joints[i], model.parents[i], model.v_slices[i]
            u = tau[part, :] + pick(f[i], joint.axes)
            Du[i] = joint.D.solve(u)
            if parent >= 0:
                f[parent] = f[parent] + X[i].force(reaction(joint, f[i] - self.Ha[i] @ ab[i], u, tau[part, :]))
        a, qdd = [], []
        for i, parent in enumerate(model.parents):
            above = X[i].motion(a0 if parent < 0 else a[parent]) + ab[i]
            joint_acceleration, acceleration = self.joints[i].accelerate(above, Du[i])
            qdd.append(joint_acceleration)
            a.append(acceleration)
        return rows(qdd), a
