"""Constrained forward dynamics as a linear-quadratic problem on a tree, given to the shared Riccati engine (Sathya
2024c Sec. 5, eqs. 37, 38).

The core states and solves it (native/src/bodies/gauss.hpp). Numbers only: the engine decides ranks as it goes, and so
takes singular configurations and redundant rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from ...errors import ModelError
from ..algebra.arrays import numbers_only
from ..constraints.constraint import Constraint
from ..forward_problem import Answer, ForwardProblem

if TYPE_CHECKING:
    from ...native import core
    from ..model import Model

CONTRADICTORY = "their rows contradict each other at this configuration, expected rows that can hold"
NEARLY_DEPENDENT = (
    "method 'riccati' cannot meet them to rounding at this configuration, expected rows further from depending on each "
    "other"
)

_solvers: WeakKeyDictionary[Model, dict[tuple[object, ...], core.Gauss]] = WeakKeyDictionary()


def gauss(problem: ForwardProblem) -> Answer:
    """Joint accelerations (nv, 1) and the constraints' forces; of redundant rows one valid choice of forces."""
    from ..nodes.recursion import arguments

    constraints = problem.constraints
    what = "method 'riccati' ('pv' solves the same problem on symbols)"
    numbers_only(what, problem.q, problem.v, problem.tau, *(part for row in constraints for part in (row.K, row.k)))
    status, y = _solver(problem.model, constraints).solve(np.asarray(arguments(problem), dtype=float).ravel())
    if status == "without inertia" and (problem.model.massless_joints() or problem.model.impossible_bodies()):
        raise ZeroDivisionError("a joint moves no mass")
    if status != "solved":
        links = ", ".join(f"'{row.link}'" for row in constraints)
        raise ModelError(f"constraints on {links}: {CONTRADICTORY if status == 'inconsistent' else NEARLY_DEPENDENT}")
    ends = list(accumulate((row.size for row in constraints), initial=problem.model.nv))
    a, *forces = np.split(y.reshape(-1, 1), ends[:-1])
    return a, [*forces]


def _solver(model: Model, constraints: Sequence[Constraint]) -> core.Gauss:
    from ...native import core
    from ..nodes.recursion import tree

    known, key = _solvers.setdefault(model, {}), tuple(row.key for row in constraints)
    if key not in known:
        known[key] = core.Gauss(tree(model, constraints, soft=False))
    return known[key]
