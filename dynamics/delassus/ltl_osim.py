"""LTL-OSIM (Featherstone 2010; 000 Sec. II-C, 002 eqs. 4 to 6): sparse factorization of the mass matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..constraint import Constraint
from ..crba import blocks
from ..demand import sites
from ..kinematics import row_jacobian
from ..ltl import LTL, transposed
from ..motion import transforms
from ..scalar import Array

if TYPE_CHECKING:
    from ..model import Model


def ltl_osim(model: Model, q: Array, constraints: Sequence[Constraint]) -> Array:
    """J M^-1 J' (m, m)."""
    X = transforms(model, q)
    M = LTL(model, blocks(model, X))
    J = [row_jacobian(model, X, site.body, site.frame, site.rows) for site in sites(model, constraints)]
    return M.delassus([M.inward(transposed(model, each)) for each in J])
