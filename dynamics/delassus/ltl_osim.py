"""LTL-OSIM (Featherstone 2010; Sathya 2024a Sec. II-C, Sathya 2024b eqs. 4 to 6): sparse factorization of the mass
matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..algebra.arrays import Array
from ..constraints.constraint import Constraint
from ..constraints.ground import sites
from ..free.crba import blocks
from ..free.kinematics import row_jacobian
from ..free.ltl_factor import LTL, transposed
from ..free.tree_motion import transforms

if TYPE_CHECKING:
    from ..model import Model


def ltl_osim(model: Model, q: Array, constraints: Sequence[Constraint]) -> Array:
    """J M^-1 J' (m, m)."""
    X = transforms(model, q)
    M = LTL(model, blocks(model, X))
    J = [row_jacobian(model, X, site.body, site.frame, site.rows) for site in sites(model, constraints)]
    return M.delassus([M.inward(transposed(model, each)) for each in J])
