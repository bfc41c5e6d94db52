"""The default weight mu of constraints in the proximal methods: from the model, for a given stiffness.

In each eigenvector of G = J M^-1 J', of eigenvalue s, an iteration leaves 1 / (1 + mu s) of what is missing; the
stiffness is mu times the largest s.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..constraints.constraint import Constraint
from ..constraints.row_sizes import row_sizes

if TYPE_CHECKING:
    from ..model import Model


def weight(model: Model, constraints: Sequence[Constraint], stiffness: float) -> float:
    """mu with the given product with the largest eigenvalue of J M^-1 J' at a few random configurations."""
    return stiffness / (row_sizes(model, constraints).largest or 1.0)
