"""PV-OSIM (Sathya 2024a Algorithm 2, Sathya 2024b Algorithm 1): the dual Hessian L of the PV solver, carried to the
root.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..algebra.arrays import Array
from ..algebra.spatial import Transform
from ..constraints.constraint import Constraint
from ..constraints.ground import sites
from ..constraints.stacked_rows import Stack
from ..free.articulated_tree import articulate
from ..free.articulation import Articulation
from ..free.tree_motion import transforms

if TYPE_CHECKING:
    from ..model import Model


def pv_osim(model: Model, q: Array, constraints: Sequence[Constraint]) -> Array:
    """J M^-1 J' (m, m)."""
    X = transforms(model, q)
    stack = carry(model, X, articulate(model, X), constraints, first=0)
    _, L, _ = stack.at(-1)
    order = stack.positions(-1)
    return L[order, :][:, order]


def carry(
    model: Model,
    X: list[Transform],
    joints: list[Articulation],
    constraints: Sequence[Constraint],
    first: int,
) -> Stack:
    """K and L of all bodies, carried inward through every joint from the last to `first`."""
    stack = Stack([(site.body, site.K, np.zeros((site.size, 0))) for site in sites(model, constraints)], model.size)
    for i in reversed(range(first, model.size)):
        if stack.order[i]:
            K, L, none = stack.at(i)
            L = L + joints[i].D.inverse_form(K[:, list(joints[i].axes)].T)
            stack.push(model.parents[i], stack.order[i], X[i].force(joints[i].force(K.T)).T, L, none)
    return stack
