"""Integrators: from the states' derivatives to the next state, on expressions.

The derivatives f may rest on implicit nodes (forward dynamics); where a method needs f at another state than x, the nodes are
laid out again there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca

if TYPE_CHECKING:
    from .problem import Problem


def step(problem: Problem) -> ca.SX:
    """The next state (nx), by the problem's integrator."""
    x = ca.vertcat(*(v.symbol for v in problem.states))
    h = problem.time_step
    rates = {v.name: problem.dynamics[v.name] for v in problem.states if v.name != "duration" or not _free(problem)}
    f = ca.vertcat(*(rates.get(v.name, ca.SX(1, 1)) for v in problem.states))
    return {"euler": euler}[problem.integrator](f, x, h)


def _free(problem: Problem) -> bool:
    return bool(problem.states) and problem.states[0].name == "duration" and not isinstance(problem.duration, (float, int, type(None)))


def euler(f: ca.SX, x: ca.SX, h: ca.SX | float) -> ca.SX:
    """x + h f(x): explicit, first order."""
    return x + h * f
