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

import casadi as ca
import numpy as np

from ...errors import ModelError
from ...forks import no_fork
from ..algebra.arrays import Array, numbers_only
from ..constraints.constraint import Constraint
from ..forward_problem import Answer, ForwardProblem

if TYPE_CHECKING:
    from ..model import Model

CONTRADICTORY = "their rows contradict each other at this configuration, expected rows that can hold"
NEARLY_DEPENDENT = (
    "method 'riccati' cannot meet them to rounding at this configuration, expected rows further from depending on each "
    "other"
)


def gauss(problem: ForwardProblem) -> Answer:
    """Joint accelerations (nv, 1) and the constraints' forces; of redundant rows one valid choice of forces."""
    constraints = problem.constraints
    what = "method 'riccati' ('pv' solves the same problem on symbols)"
    numbers_only(what, problem.q, problem.v, problem.tau, *(part for row in constraints for part in (row.K, row.k)))
    status, y = _solver(problem).solve(problem)
    if status == "without inertia" and (problem.model.massless_joints() or problem.model.impossible_bodies()):
        raise ZeroDivisionError("a joint moves no mass")
    if status != "solved":
        links = ", ".join(f"'{row.link}'" for row in constraints)
        raise ModelError(f"constraints on {links}: {CONTRADICTORY if status == 'inconsistent' else NEARLY_DEPENDENT}")
    ends = list(accumulate((row.size for row in constraints), initial=problem.model.nv))
    a, *forces = np.split(y.reshape(-1, 1), ends[:-1])
    return a, [*forces]


class GaussSolver:
    """The core's solver, and compiled code of what it is given at a state with forces on some bodies."""

    def __init__(self, model: Model, constraints: Sequence[Constraint], pushed: Sequence[int]):
        from ...native import compile_function, core
        from ..nodes.recursion import arguments, tree

        self.pushed = pushed
        q, v, tau = (ca.SX.sym(name, size) for name, size in (("q", model.nq), ("v", model.nv), ("tau", model.nv)))
        pushes: dict[int, Array] = {body: ca.SX.sym("push", 6) for body in pushed}
        external = [pushes.get(body) for body in range(model.size)] if pushes else None
        with no_fork():
            given = arguments(ForwardProblem(model, q, v, tau, constraints, external))
            self.arguments = compile_function(ca.Function("arguments", [q, v, tau, *pushes.values()], [given]))
        self.core = core.Gauss(tree(model, constraints, soft=False))

    def solve(self, problem: ForwardProblem) -> tuple[str, np.ndarray]:
        """The status, and (a, forces)."""
        external = problem.external or ()
        given = (problem.q, problem.v, problem.tau, *(external[body] for body in self.pushed))
        at_state = self.arguments(*(np.ravel(np.asarray(part)) for part in given))
        assert isinstance(at_state, np.ndarray)  # the code has one output
        status, y = self.core.solve(at_state)
        return status, y


_solvers: WeakKeyDictionary[Model, dict[tuple[object, ...], GaussSolver]] = WeakKeyDictionary()


def _solver(problem: ForwardProblem) -> GaussSolver:
    pushed = [body for body, push in enumerate(problem.external or ()) if push is not None]
    known, key = _solvers.setdefault(problem.model, {}), (*(row.key for row in problem.constraints), *pushed)
    if key not in known:
        known[key] = GaussSolver(problem.model, problem.constraints, pushed)
    return known[key]
