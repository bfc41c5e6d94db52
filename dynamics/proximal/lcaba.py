"""Forward dynamics with loops by the loop-constrained articulated-body algorithm (Sathya 2025 Sec. IV, Algorithms 1
and 2).

The augmented Lagrangian of a constraint, mu/2 |sum K a - k|^2 - lambda' sum K a, couples its bodies. Bodies are
eliminated from the leaves of the tree inwards, in `elimination_order`. A coupling is kept by its ends: end e, of some
constraint, sits on a body, feels z_e = K_e a of it, and the cost of all ends is

    1/2 sum z_e' C_ed z_d - sum g_e' z_e        at first C_ed = mu, g_e = lambda + mu k for ends of one constraint,

so that Sathya 2025's coupled inertias are H_ij = K_e' C_ed K_d, in fewer numbers where a constraint has fewer than
six rows. Ends on one body with more than six rows are joined to one with K = 1, whose z is the body's acceleration.
When the turn of body i comes, ends on it add to H_ii; those coupled to ends elsewhere (open) pass the joint, to K P' of
its parent, and the others (closed) are done. With S the joint's motion, w its acceleration less what its parent's
takes, e the ends on the body and d the far ends they are coupled to, the system and its elimination are (eqs. 25, 29,
30)

    [ D      T_1   T_2  ] [ w   ]   [ u   ]      T_d = sum_e S' K_e' C_ed        w    = D^-1 u - sum_d L_d z_d
    [ T_1'   C_11  C_12 ] [ z_1 ] = [ g_1 ]      L_d = D^-1 T_d                  C_dc = C_dc - T_d' L_c
    [ T_2'   C_21  C_22 ] [ z_2 ]   [ g_2 ]      u   = tau + S' f                g_d  = g_d - L_d' u - sum_e C_ed' lag_e

with D = S' H_ii S, lag_e = K_e P' a_b, and U D G of `articulation`. Iterations move only g, w and z, and need
accelerations of bodies for nothing but closed ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..algebra.arrays import Array, add, pick, rows, symmetric
from ..free.articulated_tree import ArticulatedTree, reaction
from ..free.tree_motion import base_acceleration
from .elimination_order import order
from .factorization import ProximalFactorization

STILL = np.zeros((6, 1))  # the world, whose acceleration is in the drift of the first bodies


@dataclass(frozen=True)
class FarEnd:
    """An end d on another body, that ends on the eliminated one are coupled to: L_d, and C_ed by e."""

    end: int
    body: int
    L: Array
    C: dict[int, Array]


@dataclass(frozen=True)
class Eliminated:
    """A body that is eliminated: K S of the ends on it, P K' of the open ones, K of the closed ones, the far ends."""

    KS: dict[int, Array]
    PK: dict[int, Array]
    closed: dict[int, Array]
    far: tuple[FarEnd, ...]


@dataclass(frozen=True)
class JoinedEnd:
    """An end with K = 1 on a body, in the place of crowded ones, given by their K; made before the turn of `turn`."""

    turn: int
    body: int
    end: int
    old: dict[int, Array]


class LCABA(ProximalFactorization):
    """The factorization at a state: see `factorization`."""

    name, stiffness, refines = "lcaba", 1e6, True

    def factorize(self) -> None:
        model, move, held = self.model, self.move, self.held
        self.order = [i for i, _ in order(model.parents, [[body for body, _ in row.parts] for row in held])]
        self.ends = [(c, part) for c, row in enumerate(held) for part in row.parts]
        self.joined: list[JoinedEnd] = []
        self.tree = ArticulatedTree(model, move.X)
        self.bodies = self._eliminated()
        self.felt = {j for i, body in self.bodies.items() if body.closed for j in model.support(i)}
        a0, parts = base_acceleration(model), zip(move.ab, move.X, model.parents)
        self.drift = [ab + X.motion(a0) if parent < 0 else ab for ab, X, parent in parts]

    def _eliminated(self) -> dict[int, Eliminated]:
        """The backward sweep of the inertias (eqs. 25, 30a, 30c, 30d)."""
        bodies: dict[int, Eliminated] = {}
        K: list[dict[int, Array]] = [{} for _ in self.model.parents]
        C, at = Blocks(), dict[int, int]()
        for e, (c, (body, rows_of_end)) in enumerate(self.ends):
            K[body][e], at[e] = rows_of_end, body
            for d in (d for d in range(e + 1) if self.ends[d][0] == c):
                C.add(e, d, self.mu * np.eye(self.held[c].size))
        for i in self.order:
            self._join_crowded(i, K, C, at)
            parent, near = self.model.parents[i], list(K[i])
            bodies[i] = gone = self._eliminate(i, K[i], C, at)
            beside = near if parent >= 0 else [*near, *(far.end for far in gone.far)]
            C.drop((e, d) for e in near for d in beside)
            for e in near:
                del at[e]
            if parent >= 0:
                self.tree.hand_on(i, self.tree.joints[i].inertia())
                K[parent] |= {e: self.move.X[i].force(PK).T for e, PK in gone.PK.items()}
                at |= dict.fromkeys(gone.PK, parent)
        return bodies

    def _join_crowded(self, i: int, K: list[dict[int, Array]], C: Blocks, at: dict[int, int]) -> None:
        """Where coupled ends on a body have more than six rows, put one end with K = 1 in their place."""
        coupled = [(e, d) for e in K[i] for d in at if at[d] != i and C.has(e, d)]
        crowds = [(i, list(dict.fromkeys(e for e, _ in coupled)))]
        crowds += [(b, list(dict.fromkeys(d for _, d in coupled if at[d] == b))) for b in {at[d] for _, d in coupled}]
        for b, ends in crowds:
            if sum(K[b][e].shape[0] for e in ends) > 6:
                new = len(self.ends) + len(self.joined)
                old = {e: K[b].pop(e) for e in ends}
                C.join(new, old)
                for e in ends:
                    del at[e]
                K[b][new], at[new] = np.eye(6), b
                self.joined.append(JoinedEnd(i, b, new, old))

    def _eliminate(self, i: int, K: dict[int, Array], C: Blocks, at: dict[int, int]) -> Eliminated:
        """A body and its joint, with what the far ends feel of it put into C."""
        far = [d for d in at if at[d] != i and any(C.has(e, d) for e in K)]
        coupled = {d: {e: C[e, d] for e in K if C.has(e, d)} for d in far}
        opened = [e for e in K if any(e in each for each in coupled.values())]
        for e, d in C.pairs(K):
            block = K[e].T @ C[e, d] @ K[d]
            self.tree.H[i] = self.tree.H[i] + symmetric(block if e == d else block + block.T)
        joint = self.tree.join(i)
        KS = {e: K[e][:, list(joint.axes)] for e in K}
        T = {d: add([KS[e].T @ block for e, block in each.items()]) for d, each in coupled.items()}
        L = {d: joint.D.solve(T[d]) for d in far}
        for d in far:
            for other in (other for other in far if other <= d):
                block = T[d].T @ L[other]
                C.add(d, other, -(symmetric(block) if d == other else block))
        PK = {e: joint.force(K[e].T) for e in opened}
        closed = {e: K[e] for e in K if e not in PK}
        far_ends = tuple(FarEnd(d, at[d], L[d], coupled[d]) for d in far)
        return Eliminated(KS, PK, closed, far_ends)

    def first(self, forces: Sequence[Array]) -> tuple[Array, list[Array]]:
        """Algorithm 1."""
        g = [forces[c] + self.mu * self.held[c].k for c, _ in self.ends]
        w, felt = self._sweeps(self.problem.applied_forces(), g, self.problem.tau, self.move.ab, self.drift)
        return w, [row.k - part for row, part in zip(self.held, felt)]

    def again(self, residual: Sequence[Array]) -> tuple[Array, list[Array]]:
        """Algorithm 2."""
        g = [self.mu * residual[c] for c, _ in self.ends]
        w, felt = self._sweeps(self._nothing, g, np.zeros((self.model.nv, 1)), self._nothing, self._nothing)
        return w, [old - part for old, part in zip(residual, felt)]

    def response(self, tau: Array) -> tuple[Array, list[Array]]:
        g = [np.zeros((self.held[c].size, 1)) for c, _ in self.ends]
        return self._sweeps(self._nothing, g, tau, self._nothing, self._nothing)

    @property
    def _nothing(self) -> list[Array]:
        return [np.zeros((6, 1))] * self.model.size

    def accelerations(self, w: Array) -> Array:
        """Joint accelerations (nv, 1), by the last sweep from the root outwards."""
        a: list[Array] = []
        parts, drift = self.model.v_slices, self.drift
        return rows([self.tree.pull(i, a, w[parts[i], :], drift[i], STILL) for i in self.tree.outward])

    def _sweeps(
        self, f: list[Array], on_ends: Sequence[Array], tau: Array, ab: Sequence[Array], drift: Sequence[Array]
    ) -> tuple[Array, list[Array]]:
        """w, and sum K a of each constraint, for forces f on the bodies and g on the ends (eqs. 29, 30b, 30e)."""
        model, tree = self.model, self.tree
        Du: dict[int, Array] = {}
        lag: dict[tuple[int, int], Array] = {}
        g = dict(enumerate(on_ends))
        for i in self.order:
            for joined in self.joined:
                if joined.turn == i:
                    g[joined.end] = add([K.T @ g[e] for e, K in joined.old.items()])
            body, joint, part = self.bodies[i], tree.joints[i], tau[model.v_slices[i], :]
            own = add([f[i], *(K.T @ g[e] for e, K in body.closed.items())])
            u_own = part + pick(own, joint.axes)
            u = add([u_own, *(body.KS[e].T @ g[e] for e in body.PK)])
            Du[i] = joint.D.solve(u)
            lag |= {(i, e): PK.T @ drift[i] for e, PK in body.PK.items()}
            for far in body.far:
                g[far.end] = g[far.end] - far.L.T @ u - add([C.T @ lag[i, e] for e, C in far.C.items()])
            if model.parents[i] >= 0:
                tree.hand_force(i, f, reaction(joint, own - tree.Ha[i] @ ab[i], u_own, part))
        return self._outward(Du, lag, drift)

    def _outward(
        self, Du: dict[int, Array], lag: dict[tuple[int, int], Array], drift: Sequence[Array]
    ) -> tuple[Array, list[Array]]:
        """w, and sum K a; z by body and end is K a = K P' a' + K S w, of which the first part is the parent's z."""
        w: dict[int, Array] = {}
        a: dict[int, Array] = {}
        z: dict[tuple[int, int], Array] = {}
        for i in reversed(self.order):
            body, parent = self.bodies[i], self.model.parents[i]
            w[i] = add([Du[i], *(-(far.L @ z[far.body, far.end]) for far in body.far)])
            for e in body.PK:
                z[i, e] = lag[i, e] + body.KS[e] @ w[i] + (z[parent, e] if parent >= 0 else 0.0)
            if i in self.felt:
                a[i] = self.tree.joints[i].accelerate(self.tree.above(i, a, drift[i], STILL), w[i])[1]
                z |= {(i, e): K @ a[i] for e, K in body.closed.items()}
            for joined in reversed(self.joined):
                if joined.body == i:
                    z |= {(i, e): K @ z[i, joined.end] for e, K in joined.old.items()}
        found = [(c, z[part.body, e]) for e, (c, part) in enumerate(self.ends)]
        felt = [add([each for c, each in found if c == row]) for row in range(len(self.held))]
        return rows([w[i] for i in range(self.model.size)]), felt


class Blocks:
    """C_ed of pairs of ends that are coupled, each kept once, as (larger, smaller)."""

    def __init__(self) -> None:
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
