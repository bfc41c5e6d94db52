"""PV-OSIM-fast (Sathya 2024a Sec. VII-B, eqs. 53 to 55): the Delassus matrix of a floating base as an operator,
never formed.

L_0 = L_b + K_b H_b^-1 K_b' with L_b block-diagonal over the branches of the base: solved by the matrix inversion
lemma. Needs branches that are each full rank without the base.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...errors import ModelError
from ..algebra.arrays import Array, pick
from ..algebra.ldl import Factor
from ..constraints.constraint import Constraint
from ..free.articulated_tree import articulate
from ..free.tree_motion import transforms
from .pv_osim import carry

if TYPE_CHECKING:
    from ..model import Model


class DelassusOperator:
    """J M^-1 J' as something to solve with."""

    def __init__(self, H: Array, K: Array, L: Array, order: list[int]):
        self.order, self.K = order, K
        self.L = Factor(L)
        self.LK = self.L.solve(K)
        self.base = Factor(H + self.L.inverse_form(K))

    def solve(self, b: Array) -> Array:
        """(J M^-1 J')^-1 b for b (m, k), rows in the order of the constraints."""
        inverse_order = sorted(range(len(self.order)), key=self.order.__getitem__)
        b = pick(b, inverse_order)
        return pick(self.L.solve(b) - self.LK @ self.base.solve(self.LK.T @ b), self.order)


def pv_osim_fast(model: Model, q: Array, constraints: Sequence[Constraint]) -> DelassusOperator:
    """J M^-1 J' as an operator."""
    if not model.has_floating_base:
        raise ModelError(f"method 'pv-osim-fast': model '{model.name}' is fixed to the world, expected a floating base")
    X = transforms(model, q)
    joints = articulate(model, X)
    stack = carry(model, X, joints, constraints, first=1)
    K, L, _ = stack.at(0)
    return DelassusOperator(joints[0].H, K, L, stack.positions(0))
