"""PV-OSIMr (002 Algorithm 3): the lowest order known, by composing propagators between the links where constraints meet.

A stretch is the way from a branching link or an end effector inward to the next branching link: P (6, k) carries forces along it,
Omega (k, k) is the inverse inertia its joints add. k is 6, or the rows of the constraint at an end effector.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..articulation import articulate
from ..constraint import Constraint, body_rows
from ..motion import transforms
from ..scalar import Array
from .efpa import assemble

if TYPE_CHECKING:
    from ..model import Model


@dataclass
class Stretch:
    """From `start` (a branching body, or -1 - c for constraint c) to the body where it is now."""

    start: int
    P: Array
    Omega: Array


def pv_osimr(model: Model, q: Array, constraints: Sequence[Constraint]) -> Array:
    """J M^-1 J' (m, m)."""
    rows = body_rows(model, constraints)
    stretches = backward(model, q, rows)

    Omega: dict[int, Array] = {}
    inner: dict[int, int] = {}
    for end in sorted(stretches):
        for s in stretches[end]:
            inner[s.start] = end
            Omega[s.start] = s.Omega if end < 0 else s.Omega + s.P.T @ (Omega[end] @ s.P)

    P = {s.start: s.P for each in stretches.values() for s in each}
    K: list[dict[int, Array]] = []
    for c in range(len(constraints)):
        here, seen = -1 - c, {}
        F = None
        while inner[here] >= 0:
            F = P[here] if F is None else P[here] @ F
            here = inner[here]
            seen[here] = F.T
        K.append(seen)

    caused: dict[tuple[int, int], Array] = {}

    def block(c: int, d: int, i: int) -> Array:
        if c == d:
            return Omega[-1 - c]
        if (i, d) not in caused:
            caused[i, d] = Omega[i] @ K[d][i].T
        return K[c][i] @ caused[i, d]

    return assemble(model, rows, block)


def backward(model: Model, q: Array, rows: Sequence[tuple[int, Array]]) -> dict[int, list[Stretch]]:
    """The stretches that end at each branching body, and at the world (-1)."""
    X = transforms(model, q)
    joints = articulate(model, X)
    arriving: dict[int, list[Stretch]] = {i: [] for i in range(-1, model.size)}
    for c, (body, K) in enumerate(rows):
        arriving[body].append(Stretch(-1 - c, K.T, np.zeros((K.shape[0], K.shape[0]))))
    ended: dict[int, list[Stretch]] = {}
    for i in reversed(range(model.size)):
        if len(arriving[i]) > 1:
            ended[i] = arriving[i]
            arriving[i] = [Stretch(i, np.eye(6), np.zeros((6, 6)))]
        for s in arriving[i]:
            Omega = s.Omega + joints[i].D.inverse_form(s.P[list(joints[i].axes), :])
            passed = X[i].force(joints[i].force(s.P))
            arriving[model.parents[i]].append(Stretch(s.start, passed, Omega))
    ended[-1] = arriving[-1]
    return ended
