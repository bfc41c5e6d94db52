"""The default weight mu of constraints in the proximal methods: from the model, for a given stiffness.

In each eigenvector of G = J M^-1 J', of eigenvalue s, an iteration leaves 1 / (1 + mu s) of what is missing; the
stiffness is mu times the largest s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from ..algebra.arrays import sample
from ..constraints.constraint import Constraint, Further
from ..constraints.loops import constraint_jacobian
from ..free.crba import crba

if TYPE_CHECKING:
    from ..model import Model

# Configurations that are looked at.
SAMPLES = 3

_weights: WeakKeyDictionary[Model, dict[tuple[object, ...], float]] = WeakKeyDictionary()


def weight(model: Model, constraints: Sequence[Constraint], stiffness: float) -> float:
    """mu with the given product with the largest eigenvalue of J M^-1 J' at a few random configurations."""
    known = _weights.setdefault(model, {})
    key = tuple(constraint.key for constraint in constraints)
    if key not in known:
        rng = np.random.default_rng(4)
        known[key] = max((_largest_eigenvalue(model, constraints, rng) for _ in range(SAMPLES)), default=1.0) or 1.0
    return stiffness / known[key]


def _largest_eigenvalue(model: Model, constraints: Sequence[Constraint], rng: np.random.Generator) -> float:
    """Of J M^-1 J' at a random configuration; rows of symbols take random numbers."""
    q = np.concatenate([joint.random(rng, -np.ones((joint.nq, 1)), np.ones((joint.nq, 1))) for joint in model.joints])
    J = np.asarray(constraint_jacobian(model, q, [_sampled(constraint, rng) for constraint in constraints]))
    try:
        G = J @ np.linalg.solve(crba(model, q), J.T)
    except np.linalg.LinAlgError:
        raise ZeroDivisionError("a joint moves no mass") from None
    return float(np.linalg.eigvalsh(G)[-1]) if len(G) else 0.0


def _sampled(constraint: Constraint, rng: np.random.Generator) -> Constraint:
    """The constraint with numbers for symbols, and no demand."""
    more = tuple(Further(each.link, sample(each.K, rng), each.frame) for each in constraint.more)
    return replace(constraint, K=sample(constraint.K, rng), k=np.zeros(constraint.size), more=more)
