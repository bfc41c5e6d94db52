"""Forward dynamics with loops by the loop-constrained articulated-body algorithm (001 Sec. IV, Algorithms 1 and 2).

The augmented Lagrangian of a constraint is an inertia mu K' K that its bodies share. Bodies are eliminated from the
leaves of the tree inwards, in `elimination_order`; what is left of a body's cost when its turn comes is

    1/2 [a_i; a_N]' [H_ii H_iN; H_Ni H_NN] [a_i; a_N] - [f_i; f_N]' [a_i; a_N]        (eq. 23)

with N its neighbours, the bodies it is coupled to. Letters U D G of `articulation`, u = tau + S' f, and for neighbours
P H_ij = (1 - G S') H_ij and L_ij = D^-1 S' H_ij; H_ij (6, 6) has its rows in the frame of i, its columns in that of j.
Without loops this is `constrained_aba`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .aba import applied_forces, reaction
from .articulation import Articulation
from .coupling import Coupling, add, on_bodies
from .elimination_order import order
from .motion import Motion, base_acceleration
from .scalar import Array, pick, rows, symmetric

if TYPE_CHECKING:
    from .model import Model


class LCABA:
    """The factorization at a state: see `proximal`."""

    name, stiffness = "lcaba", 1e6

    def __init__(
        self,
        model: Model,
        move: Motion,
        tau: Array,
        held: Sequence[Coupling],
        external: Sequence[Array | None] | None,
        mu: float,
    ):
        self.model, self.move, self.tau, self.held, self.mu = model, move, tau, held, mu
        self.f = applied_forces(model.lumped, move, external)
        self.steps = order(model.parents, [[body for body, _ in row.parts] for row in held])
        n = model.size
        self.joints: list[Articulation] = [None] * n
        self.Ha: list[Array] = [None] * n
        self.PH: list[dict[int, Array]] = [{} for _ in range(n)]
        self.L: list[dict[int, Array]] = [{} for _ in range(n)]
        self._factorize(coupled_inertias(model, held, mu))

    def _factorize(self, H: Inertias) -> None:
        """The backward sweep of the inertias (eqs. 30a, 30c, 30d)."""
        model, X = self.model, self.move.X
        for i, neighbours in self.steps:
            parent = model.parents[i]
            self.joints[i] = joint = Articulation(model.joints[i].axes, H[i, i], model.armature[model.v_slices[i]])
            HS = {j: pick(H[i, j], joint.axes) for j in neighbours}
            self.PH[i] = {j: joint.force(H[i, j]) for j in neighbours}
            self.L[i] = {j: joint.D.solve(HS[j]) for j in neighbours}
            for j in neighbours:
                H.add(j, -symmetric(HS[j].T @ self.L[i][j]))
                for k in neighbours[: neighbours.index(j)]:
                    H.couple(j, k, -HS[j].T @ self.L[i][k])
            if parent >= 0:
                self.Ha[i] = joint.inertia()
                H.add(parent, X[i].inertia(self.Ha[i]))
                for j in neighbours:
                    H.couple(parent, j, X[i].force(self.PH[i][j]))

    def first(self, forces: Sequence[Array]) -> tuple[Array, list[Array]]:
        """Accelerations and what is missing of the rows, from given forces (Algorithm 1)."""
        model, move, a0 = self.model, self.move, base_acceleration(self.model)
        f = on_bodies(self.f, self.held, [force + self.mu * row.k for force, row in zip(forces, self.held)])
        Du: list[Array] = [None] * model.size
        drift = list(move.ab)
        for i, neighbours in self.steps:
            joint, parent, tau = self.joints[i], model.parents[i], self.tau[model.v_slices[i], :]
            u = tau + pick(f[i], joint.axes)
            Du[i] = joint.D.solve(u)
            if parent < 0:
                drift[i] = drift[i] + move.X[i].motion(a0)
            for j in neighbours:
                f[j] = f[j] - self.L[i][j].T @ u - self.PH[i][j].T @ drift[i]  # eq. 30e
            if parent >= 0:
                f[parent] = f[parent] + move.X[i].force(reaction(joint, f[i] - self.Ha[i] @ move.ab[i], u, tau))
        qdd, a = self._roll_out(Du, drift)
        return qdd, [row.missing(a) for row in self.held]

    def again(self, missing: Sequence[Array]) -> tuple[Array, list[Array]]:
        """The change of the accelerations as mu times `missing` is added to the forces, and what is missing then
        (Algorithm 2).
        """
        model = self.model
        f = on_bodies([np.zeros((6, 1))] * model.size, self.held, [self.mu * part for part in missing])
        Du: list[Array] = [None] * model.size
        for i, neighbours in self.steps:
            joint, parent = self.joints[i], model.parents[i]
            u = pick(f[i], joint.axes)
            Du[i] = joint.D.solve(u)
            for j in neighbours:
                f[j] = f[j] - self.L[i][j].T @ u
            if parent >= 0:
                f[parent] = f[parent] + self.move.X[i].force(joint.force(f[i]))
        qdd, a = self._roll_out(Du, [np.zeros((6, 1))] * model.size)
        return qdd, [part - row.felt(a) for row, part in zip(self.held, missing)]

    def _roll_out(self, Du: list[Array], drift: Sequence[Array]) -> tuple[Array, list[Array]]:
        """Accelerations of the joints and of the bodies, in the reverse order of the elimination (eq. 29)."""
        qdd: list[Array] = [None] * self.model.size
        a: list[Array] = [None] * self.model.size
        for i, neighbours in reversed(self.steps):
            parent = self.model.parents[i]
            above = drift[i] if parent < 0 else self.move.X[i].motion(a[parent]) + drift[i]
            own = Du[i] - add([self.L[i][j] @ a[j] for j in neighbours]) if neighbours else Du[i]
            qdd[i], a[i] = self.joints[i].accelerate(above, own)
        return rows(qdd), a


class Inertias:
    """The blocks H_ij of bodies and of pairs of bodies that are coupled."""

    def __init__(self, own: Sequence[Array]):
        self.blocks: dict[tuple[int, int], Array] = {(i, i): H for i, H in enumerate(own)}

    def __getitem__(self, pair: tuple[int, int]) -> Array:
        i, j = pair
        return self.blocks[i, j] if (i, j) in self.blocks else self.blocks[j, i].T

    def add(self, i: int, block: Array) -> None:
        """Add to a body's own inertia."""
        self.blocks[i, i] = self.blocks[i, i] + block

    def couple(self, i: int, j: int, block: Array) -> None:
        """Add a_i' block a_j to the cost; a body coupled to itself feels it from both sides (eq. 34)."""
        if i == j:
            self.add(i, symmetric(block + block.T))
        elif (j, i) in self.blocks:
            self.blocks[j, i] = self.blocks[j, i] + block.T
        else:
            self.blocks[i, j] = self.blocks[i, j] + block if (i, j) in self.blocks else block


def coupled_inertias(model: Model, held: Sequence[Coupling], mu: float) -> Inertias:
    """The bodies' own inertias with mu K' K of the constraints added (eq. 25)."""
    H = Inertias([body.matrix for body in model.lumped])
    for row in held:
        for place, (i, K) in enumerate(row.parts):
            H.add(i, mu * symmetric(K.T @ K))
            for j, other in row.parts[:place]:
                H.couple(i, j, mu * (K.T @ other))
    return H
