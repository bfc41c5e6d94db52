"""PV-OSIMr (Sathya 2024b Algorithm 3): the lowest order known, by composing propagators between the links where
constraints meet.

A stretch is the way from a branching link or an end effector inward to the next branching link: P (6, k) carries
forces along it, Omega (k, k) is the inverse inertia its joints add. k is 6, or the rows of the constraint at an end
effector. At a branching link that does not compose, what arrives goes on side by side, as in PV-OSIM: k is then the sum
of all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..algebra.arrays import Array, block_diagonal, columns, rows, symmetric
from ..algebra.spatial import Transform
from ..constraints.constraint import Constraint
from ..constraints.ground import Site, sites
from ..free.articulated_tree import articulate
from ..free.articulation import Articulation
from ..free.tree_motion import transforms
from .efpa import assemble

if TYPE_CHECKING:
    from ..model import Model


@dataclass(eq=False)
class LinkStretch:
    """From where its columns start (a branching body, or -2 - c for constraint c) to the body where it is now."""

    starts: dict[int, slice]
    P: Array
    Omega: Array
    end: int = -1

    def part(self, start: int) -> Array:
        """P from that start."""
        return self.P[:, self.starts[start]]

    def share(self, one: int, other: int) -> Array:
        """Omega between two starts."""
        return self.Omega[self.starts[one], self.starts[other]]


def pv_osimr(model: Model, q: Array, constraints: Sequence[Constraint]) -> Array:
    """J M^-1 J' (m, m)."""
    return composed(model, q, constraints, lambda body: True)


def composed(model: Model, q: Array, constraints: Sequence[Constraint], composes: Callable[[int], bool]) -> Array:
    """J M^-1 J' (m, m), with propagators composed at some branching bodies. A floating base is ground first; its share
    K_b H_b^-1 K_b' comes last (Sathya 2024a eq. 48).
    """
    X, where = transforms(model, q), sites(model, constraints)
    joints = articulate(model, X)
    ground = 0 if model.has_floating_base else -1

    inner: dict[int, LinkStretch] = {}
    for s in sorted(backward(model, X, joints, where, ground, composes), key=lambda s: s.end):
        inner |= dict.fromkeys(s.starts, s)
        if s.end != ground:
            s.Omega = s.Omega + symmetric(s.P.T @ (inner[s.end].share(s.end, s.end) @ s.P))

    ways, at_base = zip(*(_way(inner, -2 - c, ground) for c in range(len(where))))
    caused: dict[tuple[int, int, int], Array] = {}

    def block(c: int, d: int, i: int) -> Array:
        one, other = _meeting(inner, ways[c], ways[d])
        if one is None or other is None:
            return np.zeros((where[c].size, where[d].size))
        F, key = ways[d][other], (one, other, d)
        if key not in caused:
            share = inner[one].share(one, other)
            caused[key] = share if F is None else share @ F
        back = ways[c][one]
        return caused[key] if back is None else back.T @ caused[key]

    grounded = assemble(model, where, block)
    if ground < 0:
        return grounded
    K_base = rows([F.T for F in at_base])
    return grounded + joints[0].D.inverse_form(K_base[:, list(joints[0].axes)].T)


def backward(
    model: Model,
    X: list[Transform],
    joints: list[Articulation],
    where: Sequence[Site],
    ground: int,
    composes: Callable[[int], bool],
) -> list[LinkStretch]:
    """All stretches, each at its end: a branching body that composes, or the ground."""
    arriving: dict[int, list[LinkStretch]] = {i: [] for i in range(-1, model.size)}
    for c, site in enumerate(where):
        whole = slice(0, site.size)
        arriving[site.body].append(LinkStretch({-2 - c: whole}, site.K.T, np.zeros((site.size, site.size))))
    ended: list[LinkStretch] = []
    for i in reversed(range(ground + 1, model.size)):
        here = arriving[i]
        if len(here) > 1 and composes(i):
            ended += [LinkStretch(s.starts, s.P, s.Omega, i) for s in here]
            here = [LinkStretch({i: slice(0, 6)}, np.eye(6), np.zeros((6, 6)))]
        if here:
            s = here[0] if len(here) == 1 else _side_by_side(here)
            Omega = s.Omega + joints[i].D.inverse_form(s.P[list(joints[i].axes), :])
            passed = X[i].force(joints[i].force(s.P))
            arriving[model.parents[i]].append(LinkStretch(s.starts, passed, Omega))
    return ended + [LinkStretch(s.starts, s.P, s.Omega, ground) for s in arriving[ground]]


def _side_by_side(arriving: Sequence[LinkStretch]) -> LinkStretch:
    starts: dict[int, slice] = {}
    first = 0
    for s in arriving:
        starts |= {start: slice(first + part.start, first + part.stop) for start, part in s.starts.items()}
        first += s.P.shape[1]
    return LinkStretch(starts, columns([s.P for s in arriving]), block_diagonal([s.Omega for s in arriving]))


def _way(inner: dict[int, LinkStretch], start: int, ground: int) -> tuple[dict[int, Array | None], Array]:
    """Forces of a constraint seen at each start on its way to the ground, nothing said at its own, and there."""
    seen: dict[int, Array | None] = {}
    F: Array | None = None
    while True:
        seen[start], s = F, inner[start]
        F = s.part(start) if F is None else s.part(start) @ F
        if s.end == ground:
            return seen, F
        start = s.end


def _meeting(
    inner: dict[int, LinkStretch], way: dict[int, Array | None], other: dict[int, Array | None]
) -> tuple[int | None, int | None]:
    """The starts of the outermost stretch that two ways share."""
    for one in way:
        for two in other:
            if inner[one] is inner[two]:
                return one, two
    return None, None
