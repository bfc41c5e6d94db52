"""How much the joints feel of constraints, from the model: G = J M^-1 J' at a few random configurations.

Its largest eigenvalue is what the weights of the proximal methods are measured by, its diagonal what the rows are. A
row of which less than `UNRESOLVED` is left, where a robot is stretched or rows depend on each other, rests on rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import casadi as ca
import numpy as np

from ..algebra.arrays import Array, sample
from ..free.crba import crba
from .constraint import Constraint, Further
from .loops import constraint_jacobian

if TYPE_CHECKING:
    from ..model import Model

# Configurations that are looked at.
SAMPLES = 3

# The squared share of a row below which it is rounding of its terms.
UNRESOLVED = 1e-13**2


@dataclass(frozen=True)
class RowSizes:
    """largest: eigenvalue of G over the configurations. least (m,): what must be left of each entry of its diagonal in
    a factorization, by the largest of the constraint's rows, whose rounding reaches the others by their lever arms.
    """

    largest: float
    least: np.ndarray


_sizes: WeakKeyDictionary[Model, dict[tuple[object, ...], RowSizes]] = WeakKeyDictionary()


def row_sizes(model: Model, constraints: Sequence[Constraint]) -> RowSizes:
    """Found once for each model and constraints."""
    known, key = _sizes.setdefault(model, {}), tuple(constraint.key for constraint in constraints)
    if key not in known:
        rng = np.random.default_rng(4)
        found = [_delassus(model, constraints, rng) for _ in range(SAMPLES)]
        largest = max(float(np.linalg.eigvalsh(G)[-1]) if len(G) else 0.0 for G in found)
        known[key] = RowSizes(largest, UNRESOLVED * _sizes_of(constraints, np.max([np.diag(G) for G in found], axis=0)))
    return known[key]


def _delassus(model: Model, constraints: Sequence[Constraint], rng: np.random.Generator) -> np.ndarray:
    """J M^-1 J' at a random configuration; rows of symbols take random numbers, inertias of symbols ones."""
    q = np.concatenate([joint.random(rng, -np.ones((joint.nq, 1)), np.ones((joint.nq, 1))) for joint in model.joints])
    J = np.asarray(constraint_jacobian(model, q, [_sampled(constraint, rng) for constraint in constraints]))
    try:
        return J @ np.linalg.solve(_numbers(model, crba(model, q)), J.T)
    except np.linalg.LinAlgError:
        raise ZeroDivisionError("a joint moves no mass") from None


def _sizes_of(constraints: Sequence[Constraint], felt: np.ndarray) -> np.ndarray:
    """Of each row (m,) the largest that is felt of the rows of its constraint, all taken as rows of size one."""
    found, rng = [np.zeros(0)], np.random.default_rng(4)
    for constraint, part in zip(constraints, np.split(felt, np.cumsum([row.size for row in constraints])[:-1])):
        squares = (sample(constraint.K, rng) ** 2).sum(axis=1)
        found.append(squares * (part / np.maximum(squares, np.finfo(float).tiny)).max(initial=0.0))
    return np.concatenate(found)


def _numbers(model: Model, M: Array) -> np.ndarray:
    return M if isinstance(M, np.ndarray) else np.array(ca.DM(ca.substitute(M, model.symbols, 1.0)))


def _sampled(constraint: Constraint, rng: np.random.Generator) -> Constraint:
    """The constraint with numbers for symbols, and no demand."""
    more = tuple(Further(each.link, sample(each.K, rng), each.frame) for each in constraint.more)
    return replace(constraint, K=sample(constraint.K, rng), k=np.zeros(constraint.size), more=more)
