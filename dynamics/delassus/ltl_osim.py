"""LTL-OSIM (Featherstone 2010; Sathya 2024a Sec. II-C, Sathya 2024b eqs. 4 to 6): sparse factorization of the mass
matrix. Loops are rows over several branches, along which L'^-1 keeps the zeros of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..algebra.arrays import Array
from ..algebra.spatial import Transform
from ..constraints.constraint import Constraint
from ..constraints.ground import closes_loop, sites
from ..constraints.loops import couplings, jacobian
from ..free.crba import blocks
from ..free.kinematics import row_jacobian
from ..free.ltl_factor import LTL, transposed
from ..free.tree_motion import transforms, tree_motion

if TYPE_CHECKING:
    from ..model import Model


def ltl_osim(model: Model, q: Array, constraints: Sequence[Constraint]) -> Array:
    """J M^-1 J' (m, m)."""
    X = transforms(model, q)
    M = LTL(model, blocks(model, X))
    return M.delassus([M.inward(transposed(model, each)) for each in jacobians(model, q, X, constraints)])


def jacobians(model: Model, q: Array, X: list[Transform], constraints: Sequence[Constraint]) -> list[dict[int, Array]]:
    """J of each constraint, by joints."""
    if not any(closes_loop(model, row) for row in constraints):
        return [row_jacobian(model, X, site.body, site.frame, site.rows) for site in sites(model, constraints)]
    rest = np.zeros((model.nv, 1))
    return [jacobian(model, X, row) for row in couplings(model, constraints, rest, tree_motion(model, q, rest))]
