"""PV-OSIMr (Sathya 2024b Algorithm 3): the lowest order known, by composing propagators between the links where
constraints meet.

A stretch is the way from a branching link or an end effector inward to the next branching link: P (6, k) carries
forces along it, Omega (k, k) is the inverse inertia its joints add. k is 6, or the rows of the constraint at an end
effector.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..algebra.arrays import Array, rows, symmetric
from ..algebra.spatial import Transform
from ..constraints.constraint import Constraint
from ..constraints.ground import Site, sites
from ..free.articulated_tree import articulate
from ..free.articulation import Articulation
from ..free.tree_motion import transforms
from .efpa import assemble

if TYPE_CHECKING:
    from ..model import Model


@dataclass
class Stretch:
    """From `start` (a branching body, or -2 - c for constraint c) to the body where it is now."""

    start: int
    P: Array
    Omega: Array


def pv_osimr(model: Model, q: Array, constraints: Sequence[Constraint]) -> Array:
    """J M^-1 J' (m, m). A floating base is ground first; its share K_b H_b^-1 K_b' comes last (Sathya 2024a eq. 48)."""
    X, where = transforms(model, q), sites(model, constraints)
    joints = articulate(model, X)
    ground = 0 if model.has_floating_base else -1
    stretches = backward(model, X, joints, where, ground)

    Omega: dict[int, Array] = {}
    inner: dict[int, Stretch] = {}
    for end in sorted(stretches):
        for s in stretches[end]:
            inner[s.start] = Stretch(end, s.P, s.Omega)
            Omega[s.start] = s.Omega if end == ground else s.Omega + symmetric(s.P.T @ (Omega[end] @ s.P))

    K: list[dict[int, Array]] = []
    for c in range(len(where)):
        here, seen, F = inner[-2 - c], {}, None
        while True:
            F = here.P if F is None else here.P @ F
            seen[here.start] = F.T
            if here.start == ground:
                break
            here = inner[here.start]
        K.append(seen)

    caused: dict[tuple[int, int], Array] = {}

    def block(c: int, d: int, i: int) -> Array:
        if c == d:
            return Omega[-2 - c]
        if i == ground:
            return np.zeros((where[c].size, where[d].size))
        if (i, d) not in caused:
            caused[i, d] = Omega[i] @ K[d][i].T
        return K[c][i] @ caused[i, d]

    grounded = assemble(model, where, block)
    if ground < 0:
        return grounded
    K_base = rows([seen[0] for seen in K])
    return grounded + joints[0].D.inverse_form(K_base[:, list(joints[0].axes)].T)


def backward(
    model: Model, X: list[Transform], joints: list[Articulation], where: Sequence[Site], ground: int
) -> dict[int, list[Stretch]]:
    """The stretches that end at each branching body, and at the ground."""
    arriving: dict[int, list[Stretch]] = {i: [] for i in range(-1, model.size)}
    for c, site in enumerate(where):
        arriving[site.body].append(Stretch(-2 - c, site.K.T, np.zeros((site.size, site.size))))
    ended: dict[int, list[Stretch]] = {}
    for i in reversed(range(ground + 1, model.size)):
        if len(arriving[i]) > 1:
            ended[i] = arriving[i]
            arriving[i] = [Stretch(i, np.eye(6), np.zeros((6, 6)))]
        for s in arriving[i]:
            Omega = s.Omega + joints[i].D.inverse_form(s.P[list(joints[i].axes), :])
            passed = X[i].force(joints[i].force(s.P))
            arriving[model.parents[i]].append(Stretch(s.start, passed, Omega))
    ended[ground] = arriving[ground]
    return ended
