"""Forward dynamics with loops by the loop-constrained articulated-body algorithm (Sathya 2025 Sec. IV, Algorithms 1
and 2).

The augmented Lagrangian of a constraint, mu/2 |sum K a - k|^2 - lambda' sum K a, couples its bodies. Bodies are
eliminated from the leaves of the tree inwards, in `elimination_order`. A coupling is kept by its ends: end e, of some
constraint, sits on a body, feels z_e = K_e a of it, and the cost of all ends is

    1/2 sum z_e' C_ed z_d - sum g_e' z_e        at first C_ed = mu, g_e = lambda + mu k for ends of one constraint,

so that Sathya 2025's coupled inertias are H_ij = K_e' C_ed K_d, in fewer numbers where a constraint has fewer than
six rows. Ends on one body with more than six rows are joined to one with K = 1, whose z is the body's acceleration.
When the turn of body i comes, ends on it add to H_ii; those coupled to ends elsewhere (open) pass the joint, to K P' of
its parent, and the others (closed) are done. Letters U D G of `articulation`, u = tau + S' f, T_d = sum S' K_e' C_ed,
L_d = D^-1 T_d; a joint's acceleration is w = D^-1 u - sum L_d z_d, less what its parent's takes (eq. 29). Iterations
move only g, w and z, and need accelerations of bodies for nothing but closed ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..algebra.arrays import Array, pick, rows, symmetric
from ..constraints.loops import add
from ..free.aba import applied_forces, reaction
from ..free.articulation import Articulation
from ..free.tree_motion import base_acceleration
from .elimination_order import order
from .iteration import Factorized


@dataclass(frozen=True)
class Eliminated:
    """A body that is eliminated: its joint, K S of the ends on it, P K' of the open ones and K of the closed ones; for
    the ends d elsewhere that they are coupled to, L_d, C_ed by d and e, and the body d is on.
    """

    joint: Articulation
    KS: dict[int, Array]
    PK: dict[int, Array]
    closed: dict[int, Array]
    L: dict[int, Array]
    C: dict[int, dict[int, Array]]
    at: dict[int, int]
    Ha: Array | None


class LCABA(Factorized):
    """The factorization at a state: see `proximal`."""

    name, stiffness, refines = "lcaba", 1e6, True

    def factorize(self) -> None:
        model, move, held = self.model, self.move, self.held
        self.f = applied_forces(model.lumped, move, self.external)
        self.order = [i for i, _ in order(model.parents, [[body for body, _ in row.parts] for row in held])]
        self.ends = [(c, part) for c, row in enumerate(held) for part in row.parts]
        self.bodies: list[Eliminated] = [None] * model.size
        self.joined: dict[int, list[tuple[int, int, dict[int, Array]]]] = {}
        self.replaced: dict[int, list[tuple[int, dict[int, Array]]]] = {}
        self._factorize()
        self.felt = {j for i, body in enumerate(self.bodies) if body.closed for j in model.support(i)}
        a0, parts = base_acceleration(model), zip(move.ab, move.X, model.parents)
        self.drift = [ab + X.motion(a0) if parent < 0 else ab for ab, X, parent in parts]

    def _factorize(self) -> None:
        """The backward sweep of the inertias (eqs. 25, 30a, 30c, 30d)."""
        H = [body.matrix for body in self.model.lumped]
        K: list[dict[int, Array]] = [{} for _ in H]
        C, at = Blocks(), {}
        for e, (c, (body, rows_of_end)) in enumerate(self.ends):
            K[body][e], at[e] = rows_of_end, body
            for d in (d for d in range(e + 1) if self.ends[d][0] == c):
                C.add(e, d, self.mu * np.eye(self.held[c].size))
        for i in self.order:
            self._join_crowded(i, K, C, at)
            parent, near = self.model.parents[i], list(K[i])
            self.bodies[i] = body = self._eliminate(i, H[i], K[i], C, at)
            C.drop((e, d) for e in near for d in (near if parent >= 0 else [*near, *body.L]))
            for e in near:
                del at[e]
            if parent >= 0:
                H[parent] = H[parent] + self.move.X[i].inertia(body.Ha)
                K[parent] |= {e: self.move.X[i].force(PK).T for e, PK in body.PK.items()}
                at |= dict.fromkeys(body.PK, parent)

    def _join_crowded(self, i: int, K: list[dict[int, Array]], C: Blocks, at: dict[int, int]) -> None:
        """Where coupled ends on a body have more than six rows, put one end with K = 1 in their place."""
        coupled = [(e, d) for e in K[i] for d in at if at[d] != i and C.has(e, d)]
        crowds = [(i, list(dict.fromkeys(e for e, _ in coupled)))]
        crowds += [(b, list(dict.fromkeys(d for _, d in coupled if at[d] == b))) for b in {at[d] for _, d in coupled}]
        for b, ends in crowds:
            if sum(K[b][e].shape[0] for e in ends) > 6:
                new = len(self.ends) + sum(map(len, self.joined.values()))
                old = {e: K[b].pop(e) for e in ends}
                C.join(new, old)
                for e in ends:
                    del at[e]
                K[b][new], at[new] = np.eye(6), b
                self.joined.setdefault(i, []).append((b, new, old))
                self.replaced.setdefault(b, []).append((new, old))

    def _eliminate(self, i: int, H: Array, K: dict[int, Array], C: Blocks, at: dict[int, int]) -> Eliminated:
        """A body and its joint, with what the ends elsewhere feel of it put into C."""
        far = [d for d in at if at[d] != i and any(C.has(e, d) for e in K)]
        coupled = {d: {e: C[e, d] for e in K if C.has(e, d)} for d in far}
        opened = [e for e in K if any(e in each for each in coupled.values())]
        for e, d in C.pairs(K):
            block = K[e].T @ C[e, d] @ K[d]
            H = H + symmetric(block if e == d else block + block.T)
        joint = Articulation(self.model.joints[i].axes, H, self.model.armature[self.model.v_slices[i]])
        KS = {e: K[e][:, list(joint.axes)] for e in K}
        T = {d: add([KS[e].T @ block for e, block in each.items()]) for d, each in coupled.items()}
        L = {d: joint.D.solve(T[d]) for d in far}
        for d in far:
            for other in (other for other in far if other <= d):
                block = T[d].T @ L[other]
                C.add(d, other, -(symmetric(block) if d == other else block))
        PK = {e: joint.force(K[e].T) for e in opened}
        closed = {e: K[e] for e in K if e not in PK}
        Ha = joint.inertia() if self.model.parents[i] >= 0 else None
        return Eliminated(joint, KS, PK, closed, L, coupled, {d: at[d] for d in far}, Ha)

    def first(self, forces: Sequence[Array]) -> tuple[Array, list[Array]]:
        """w and what is missing of the rows, from given forces (Algorithm 1)."""
        g = [forces[c] + self.mu * self.held[c].k for c, _ in self.ends]
        w, z = self._sweeps(list(self.f), g, self.tau, self.move.ab, self.drift)
        return w, [row.k - felt for row, felt in zip(self.held, self._rows(z))]

    def again(self, missing: Sequence[Array]) -> tuple[Array, list[Array]]:
        """The change of w as mu times `missing` is added to the forces, and what is missing then (Algorithm 2)."""
        nothing = [np.zeros((6, 1))] * self.model.size
        g = [self.mu * missing[c] for c, _ in self.ends]
        w, z = self._sweeps(list(nothing), g, np.zeros((self.model.nv, 1)), nothing, nothing)
        return w, [part - felt for part, felt in zip(missing, self._rows(z))]

    def pushed(self, tau: Array) -> tuple[Array, list[Array]]:
        """The change of w for more joint forces, and what the rows feel of it."""
        nothing = [np.zeros((6, 1))] * self.model.size
        g = [np.zeros((self.held[c].size, 1)) for c, _ in self.ends]
        w, z = self._sweeps(list(nothing), g, tau, nothing, nothing)
        return w, self._rows(z)

    def finished(self, w: Array) -> Array:
        """Joint accelerations (nv, 1), by the last sweep from the root outwards."""
        qdd, a = [], []
        for i, parent in enumerate(self.model.parents):
            above = self.drift[i] if parent < 0 else self.move.X[i].motion(a[parent]) + self.drift[i]
            joint_acceleration, acceleration = self.bodies[i].joint.accelerate(above, w[self.model.v_slices[i], :])
            qdd.append(joint_acceleration)
            a.append(acceleration)
        return rows(qdd)

    def _sweeps(
        self, f: list[Array], g: list[Array], tau: Array, ab: Sequence[Array], drift: Sequence[Array]
    ) -> tuple[Array, dict[tuple[int, int], Array]]:
        """w, and z by body and end, for forces f on the bodies and g on the ends (eqs. 29, 30b, 30e)."""
        model, X, Du, lag = self.model, self.move.X, [None] * self.model.size, {}
        g = dict(enumerate(g))
        for i in self.order:
            for _, new, old in self.joined.get(i, ()):
                g[new] = add([K.T @ g[e] for e, K in old.items()])
            body, parent, part = self.bodies[i], model.parents[i], tau[model.v_slices[i], :]
            own = add([f[i], *(K.T @ g[e] for e, K in body.closed.items())])
            u_own = part + pick(own, body.joint.axes)
            u = add([u_own, *(body.KS[e].T @ g[e] for e in body.PK)])
            Du[i] = body.joint.D.solve(u)
            lag |= {(i, e): PK.T @ drift[i] for e, PK in body.PK.items()}
            for d, L in body.L.items():
                g[d] = g[d] - L.T @ u - add([C.T @ lag[i, e] for e, C in body.C[d].items()])
            if parent >= 0:
                f[parent] = f[parent] + X[i].force(reaction(body.joint, own - body.Ha @ ab[i], u_own, part))
        return self._outward(Du, lag, drift)

    def _outward(
        self, Du: list[Array], lag: dict[tuple[int, int], Array], drift: Sequence[Array]
    ) -> tuple[Array, dict[tuple[int, int], Array]]:
        """w, and z by body and end: K a = K P' a' + K S w, of which the first part is the parent's z."""
        w: list[Array] = [None] * self.model.size
        a, z = {}, {}
        for i in reversed(self.order):
            body, parent = self.bodies[i], self.model.parents[i]
            w[i] = add([Du[i], *(-(L @ z[body.at[d], d]) for d, L in body.L.items())])
            for e in body.PK:
                z[i, e] = lag[i, e] + body.KS[e] @ w[i] + (z[parent, e] if parent >= 0 else 0.0)
            if i in self.felt:
                above = drift[i] if parent < 0 else self.move.X[i].motion(a[parent]) + drift[i]
                a[i] = body.joint.accelerate(above, w[i])[1]
                z |= {(i, e): K @ a[i] for e, K in body.closed.items()}
            for new, old in reversed(self.replaced.get(i, ())):
                z |= {(i, e): K @ z[i, new] for e, K in old.items()}
        return rows(w), z

    def _rows(self, z: dict[tuple[int, int], Array]) -> list[Array]:
        """sum K a of each constraint."""
        return [
            add([z[part.body, e] for e, (c, part) in enumerate(self.ends) if c == row]) for row in range(len(self.held))
        ]


class Blocks:
    """C_ed of pairs of ends that are coupled, each kept once, as (larger, smaller)."""

    def __init__(self):
        self.kept: dict[tuple[int, int], Array] = {}

    def has(self, e: int, d: int) -> bool:
        return (max(e, d), min(e, d)) in self.kept

    def __getitem__(self, pair: tuple[int, int]) -> Array:
        e, d = pair
        return self.kept[e, d] if e >= d else self.kept[d, e].T

    def pairs(self, ends: Iterable[int]) -> list[tuple[int, int]]:
        """The coupled pairs among some ends."""
        return [(e, d) for e in ends for d in ends if d <= e and self.has(e, d)]

    def add(self, e: int, d: int, block: Array) -> None:
        """Add to C_ed, e >= d."""
        self.kept[e, d] = self.kept[e, d] + block if (e, d) in self.kept else block

    def join(self, new: int, old: dict[int, Array]) -> None:
        """Put an end of a larger number in the place of others of one body, given by their K, and feel its acceleration
        itself.
        """
        for e, d in self.pairs(old):
            block = old[e].T @ self[e, d] @ old[d]
            self.add(new, new, symmetric(block if e == d else block + block.T))
        others = {end for pair in self.kept for end in pair} - {new, *old}
        for d in sorted(others):
            blocks = [K.T @ self[e, d] for e, K in old.items() if self.has(e, d)]
            if blocks:
                self.add(new, d, add(blocks))
        self.drop([pair for pair in self.kept if pair[0] in old or pair[1] in old])

    def drop(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Forget couplings."""
        for e, d in pairs:
            self.kept.pop((max(e, d), min(e, d)), None)
