"""The algorithm of Kreutz-Delgado, Jain and Rodriguez 1992: spatial inverse inertias carried outward along every path.

Omega_i (6, 6) is the inverse inertia of body i; between two bodies it is carried from their closest common ancestor
to both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..algebra.arrays import Array, symmetric
from ..constraints.constraint import Constraint
from ..constraints.ground import sites
from ..free.articulated_tree import articulate
from ..free.tree_motion import transforms
from .efpa import assemble

if TYPE_CHECKING:
    from ..model import Model


def kjr(model: Model, q: Array, constraints: Sequence[Constraint]) -> Array:
    """J M^-1 J' (m, m)."""
    X = transforms(model, q)
    joints = articulate(model, X)

    def outward(W: Array, i: int) -> Array:
        """What the columns of W, accelerations of body i's parent, pass on to body i."""
        return joints[i].motion(X[i].motion(W))

    where = sites(model, constraints)
    K = [site.K for site in where]
    Omega: dict[int, Array] = {}
    for i in sorted({i for site in where for i in model.support(site.body)}):
        Omega[i] = joints[i].mobility(np.eye(6))
        if model.parents[i] >= 0:
            above = outward(Omega[model.parents[i]], i)
            Omega[i] = symmetric(Omega[i] + outward(above.T, i))

    def block(c: int, d: int, common: int) -> Array:
        W = Omega[common]
        for i in reversed([i for i in model.support(where[c].body) if i > common]):
            W = outward(W, i)
        for i in reversed([i for i in model.support(where[d].body) if i > common]):
            W = outward(W.T, i).T
        return K[c] @ (W @ K[d].T)

    return assemble(model, where, block)
