"""Which constraint rows a joint's motion can meet, and the elimination of those rows at the joint (Sathya 2024a
Sec. VIII).

Rows are carried as Z = (K, l), (m, 7), meaning K a + l = 0. The letters H f U D u are the joint's, as in `aba`; a' is
its parent's acceleration in the body's frame, a = a' + S qdd the body's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...errors import ModelError
from ..algebra.arrays import (
    Array,
    add,
    dot,
    entry,
    independent,
    pick,
    put,
    rows,
    sample,
    sqrt,
    symmetric,
    where,
)
from ..algebra.ldl import Factor
from ..algebra.spatial import Transform
from ..constraints.constraint import Constraint
from ..constraints.ground import sites
from ..free.articulated_tree import reaction
from ..free.articulation import Articulation
from ..free.tree_motion import transforms

if TYPE_CHECKING:
    from ..model import Model

# Below this a row, which has the size of a link's arm in m, does not feel a joint at any configuration.
UNFELT = 1e-9

# The same at a state: what is less is rounding of K S = 0, and the row passes the joint (Sathya 2024a Remark 8).
ROUNDING = 1e-13

# The least share of its square that a row must feel of the joint that meets it: some seven digits are left there.
SHARE = 1e-9

Pivots = list[tuple[int, int]]


def row_pivots(model: Model, constraints: Sequence[Constraint]) -> list[Pivots]:
    """For each joint the pairs (row, dof) in which it meets rows, found at one random configuration."""
    rng = np.random.default_rng(4)
    q = np.concatenate([joint.random(rng, -np.ones((joint.nq, 1)), np.ones((joint.nq, 1))) for joint in model.joints])
    return pivots_at(model, constraints, transforms(model, q), rng, UNFELT)


def state_pivots(model: Model, constraints: Sequence[Constraint], X: Sequence[Transform]) -> list[Pivots]:
    """The same at a state of numbers, where rows pass joints that they do not feel there; ZeroDivisionError where some
    are left over.
    """
    try:
        return pivots_at(model, constraints, X, np.random.default_rng(4), ROUNDING)
    except ModelError:
        raise ZeroDivisionError("rows depend on each other") from None


def pivots_at(
    model: Model, constraints: Sequence[Constraint], X: Sequence[Transform], rng: np.random.Generator, least: float
) -> list[Pivots]:
    """For each joint, at transforms X, the pairs (row, dof) in which it meets rows that feel it at least so much."""
    carried: list[list[np.ndarray]] = [[] for _ in range(model.size + 1)]
    for site in sites(model, constraints):
        carried[site.body].append(sample(site.K, rng))
    pivots: list[Pivots] = [[] for _ in range(model.size)]
    for i in reversed(range(model.size)):
        if carried[i]:
            Z = np.concatenate([*carried[i]])
            Z = np.concatenate([Z, np.zeros((len(Z), 1))], axis=1)
            pivots[i] = _choose(Z, model.joints[i].axes, least)
            turned = np.asarray(reflect(Z, pivots[i], model.joints[i].axes)[0])
            rest = turned[left_over(Z, pivots[i])]
            if len(rest):
                carried[model.parents[i]].append(np.asarray(X[i].force(rest[:, :6].T).T))
    if carried[-1]:
        links = ", ".join(f"'{constraint.link}'" for constraint in constraints)
        raise ModelError(
            f"constraints on {links}: {sum(map(len, carried[-1]))} rows are more than the joints can meet, "
            "expected independent rows (method='prox-ltl' takes dependent ones)"
        )
    return pivots


def _choose(Z: np.ndarray, axes: tuple[int, ...], least: float) -> Pivots:
    """Pivots by reflections with column pivoting: the dof most felt, in the row that feels it most."""
    pivots: Pivots = []
    for _ in range(min(len(Z), len(axes))):
        turned = np.asarray(reflect(Z, pivots, axes)[0])
        free = left_over(Z, pivots)
        felt = abs(turned[np.ix_(free, list(axes))])
        felt[:, [dof for _, dof in pivots]] = 0.0
        dof = int(np.argmax(np.linalg.norm(felt, axis=0)))
        if np.linalg.norm(felt[:, dof]) < least:
            break
        pivots.append((free[int(np.argmax(felt[:, dof]))], dof))
    return pivots


def left_over(Z: Array, pivots: Pivots) -> list[int]:
    """The rows that are no pivot's."""
    return [row for row in range(Z.shape[0]) if row not in {row for row, _ in pivots}]


@dataclass(frozen=True)
class Reflection:
    """1 - beta w w' on some rows."""

    rows: list[int]
    w: Array
    beta: Array

    def __call__(self, Z: Array) -> Array:
        others = [row for row in range(Z.shape[0]) if row not in self.rows]
        Y = pick(Z, self.rows)
        turned = put(Y - self.w @ (self.beta * (self.w.T @ Y)), self.rows, Z.shape[0])
        return turned + put(pick(Z, others), others, Z.shape[0]) if others else turned


def reflect(Z: Array, pivots: Pivots, axes: tuple[int, ...]) -> tuple[Array, list[Reflection]]:
    """Z turned so that, pivot by pivot, only the pivot's row still feels its dof of those left (eqs. 65 to 68)."""
    active, reflections = list(range(Z.shape[0])), list[Reflection]()
    size = add([dot(Z[:, k : k + 1], Z[:, k : k + 1]) for k in range(6)])
    for row, dof in pivots:
        column = axes[dof]
        x = pick(Z, active)[:, column : column + 1]
        square = independent(dot(x, x), size, SHARE)
        if len(active) > 1:
            first = entry(x, active.index(row), 0)
            norm = sqrt(square)
            signed = where(first < 0, -norm, norm)
            w = x + put(signed, [active.index(row)], len(active))
            reflection = Reflection(list(active), w, 1 / (square + signed * first))
            known = np.ones(Z.shape)
            known[active, column] = 0.0
            exact = np.zeros((1, Z.shape[1]))
            exact[0, column] = 1.0
            Z = reflection(Z) * known + put(-signed @ exact, [row], Z.shape[0])
            reflections.append(reflection)
        active.remove(row)
    return Z, reflections


class Taken:
    """The rows take all of the joint's motion: qdd = -(kappa a' + c)."""

    def __init__(self, joint: Articulation, f: Array, tau: Array, armature: np.ndarray, met: Array, pivots: Pivots):
        self.joint, self.f, self.tau = joint, f, tau
        self.armature = np.diag(armature)
        self.dofs = [dof for _, dof in pivots]
        self.KS = [[entry(met, a, joint.axes[dof]) for dof in self.dofs] for a in range(len(pivots))]
        solved: dict[int, Array] = {}
        for a in reversed(range(len(pivots))):
            row = met[a : a + 1, :]
            for b in range(a + 1, len(pivots)):
                row = row - self.KS[a][b] * solved[self.dofs[b]]
            solved[self.dofs[a]] = row / self.KS[a][a]
        Z = rows([solved[dof] for dof in range(len(pivots))])
        kept = np.ones((len(pivots), 6))
        kept[:, list(joint.axes)] = 0.0
        self.kappa, self.c = Z[:, :6] * kept, Z[:, 6:]  # along the joint's axes kappa is 1
        self.D = pick(joint.U, joint.axes) + self.armature
        self.u = tau + pick(f, joint.axes)

    def cost(self) -> tuple[Array, Array]:
        """H and f as the parent feels them, in the body's frame."""
        joint, U, D = self.joint, self.joint.U, self.D
        kappa = self.kappa + put(np.eye(len(self.dofs)), joint.axes, 6).T
        V = (U - kappa.T @ D / 2) @ kappa
        H = symmetric(joint.H - V - V.T)
        f = self.f + U @ self.c - kappa.T @ (self.u + D @ self.c)
        if not joint.free:
            return H, f
        return H * (joint.mask @ joint.mask.T), joint.clear(f) - put(self.tau, joint.axes, 6)

    def roll_out(self, above: Array) -> tuple[Array, Array, Array]:
        """Joint acceleration, body acceleration and the forces of the rows met."""
        axes = self.joint.axes
        along = -(self.kappa @ above + self.c)
        qdd = along - pick(above, axes)
        others = [axis for axis in range(6) if axis not in axes]
        a = put(pick(above, others), others, 6) + put(along, axes, 6) if others else put(along, axes, 6)
        needed = self.joint.U.T @ a + self.armature @ qdd - self.u
        forces: list[Array] = []
        for b, dof in enumerate(self.dofs):
            force = entry(needed, dof, 0)
            for a_, earlier in enumerate(forces):
                force = force - self.KS[a_][b] * earlier
            forces.append(force / self.KS[b][b])
        return qdd, a, rows(forces)


class Shared:
    """The rows take some of the joint's motion or none, and the cost decides the rest."""

    def __init__(self, joint: Articulation, f: Array, tau: Array, armature: np.ndarray, met: Array, pivots: Pivots):
        del armature
        self.joint, self.f, self.tau = joint, f, tau
        self.u = tau + pick(f, joint.axes)
        self.Du = joint.D.solve(self.u)
        self.some = bool(pivots)
        if self.some:
            self.KS = met[:, list(joint.axes)]
            self.KP = joint.force(met[:, :6].T)
            self.l = met[:, 6:] + self.KS @ self.Du
            self.Sigma = Factor(joint.D.inverse_form(self.KS.T))

    def cost(self) -> tuple[Array, Array]:
        """H and f as the parent feels them, in the body's frame (eq. 63)."""
        H, f = self.joint.inertia(), reaction(self.joint, self.f, self.u, self.tau)
        if not self.some:
            return H, f
        return H + self.Sigma.inverse_form(self.KP.T), f - self.KP @ self.Sigma.solve(self.l)

    def roll_out(self, above: Array) -> tuple[Array, Array, Array]:
        """Joint acceleration, body acceleration and the forces of the rows met (eq. 62)."""
        if not self.some:
            return *self.joint.accelerate(above, self.Du), np.zeros((0, 1))
        force = -self.Sigma.solve(self.KP.T @ above + self.l)
        return *self.joint.accelerate(above, self.Du + self.joint.D.solve(self.KS.T @ force)), force
