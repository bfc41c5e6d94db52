"""The extended-force-propagator algorithm (Wensing, Featherstone and Orin 2012; Sathya 2024b Algorithm 2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..algebra.arrays import Array, grid, symmetric
from ..constraints.constraint import Constraint
from ..constraints.ground import Site, sites
from ..free.articulated_tree import articulate
from ..free.tree_motion import transforms

if TYPE_CHECKING:
    from ..model import Model


def efpa(model: Model, q: Array, constraints: Sequence[Constraint]) -> Array:
    """J M^-1 J' (m, m). K[c][i]: constraint c seen from body i; W[c][i]: the acceleration it causes there."""
    X = transforms(model, q)
    joints = articulate(model, X)
    K: list[dict[int, Array]] = []
    where = sites(model, constraints)
    for site in where:
        seen, F = {}, site.K.T
        for i in model.support(site.body):
            seen[i] = F.T
            F = X[i].force(joints[i].force(F))
        K.append(seen)
    W: list[dict[int, Array]] = []
    for seen in K:
        caused: dict[int, Array] = {}
        for i in sorted(seen):
            caused[i] = joints[i].mobility(seen[i].T)
            if model.parents[i] >= 0:
                caused[i] = caused[i] + joints[i].motion(X[i].motion(caused[model.parents[i]]))
        W.append(caused)
    return assemble(model, where, lambda c, d, i: K[c][i] @ W[d][i])


def assemble(model: Model, where: Sequence[Site], block: Callable[[int, int, int], Array]) -> Array:
    """The symmetric matrix of blocks block(c, d, i), c <= d, with i the closest body that supports both c and d."""
    support = [set(model.support(site.body)) for site in where]
    G: list[list[Array]] = [[np.zeros((c.size, d.size)) for d in where] for c in where]
    for c in range(len(where)):
        for d in range(c, len(where)):
            if support[c] & support[d]:
                G[c][d] = block(c, d, max(support[c] & support[d]))
                G[d][c] = G[c][d].T
    return symmetric(grid(G))
