"""The same problem in other units: every state and control, every row, or the cost, `scale` times as large in number.

    variables:  x = x^ / scale,  the next value or rate of x^ is scale f(x^ / scale),  bounds with them
    rows:       scale g(x) = 0,  scale l <= scale g(x) <= scale h          cost:  scale f(x)

A free duration stays in seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import casadi as ca
import numpy as np
from trisweep import Problem
from trisweep.ocp.statement.costs_and_constraints.limits import Limits
from trisweep.ocp.statement.costs_and_constraints.terms import Kind, Term
from trisweep.ocp.statement.variables import Control, State

KINDS = ("variables", "rows", "cost")


def rescaled(problem: Problem, kind: str, scale: float) -> Problem:
    """A problem of one phase, without states on manifolds, in other units."""
    if problem.links or any(state.manifold.units for state in problem.states):
        raise ValueError(f"rescaled: '{problem.name}' has phases or manifolds, expected one phase of vectors")
    made = object.__new__(type(problem))  # a copy has symbols of its own: here they stay
    made.__dict__.update(problem.__dict__)
    if kind == "variables":
        in_old = _substitution([*problem.states, *problem.controls], scale)
        made.states, made.controls = (
            [replace(v, limits=_times(scale, v.limits)) for v in group] for group in (problem.states, problem.controls)
        )
        made.dynamics = {name: scale * in_old(rate) for name, rate in problem.dynamics.items()}
        made.terms = [replace(term, expression=in_old(term.expression)) for term in problem.terms]
    else:
        made.terms = [_scaled(term, scale) if (term.kind is Kind.OBJECTIVE) == (kind == "cost") else term
                      for term in problem.terms]  # fmt: skip
    return made


def rescaled_guess(problem: Problem, guess: Mapping[str, np.ndarray], kind: str, scale: float) -> dict[str, np.ndarray]:
    """The guess in the units of `rescaled`."""
    names = {v.name for v in (*problem.states, *problem.controls)} if kind == "variables" else set()
    return {name: np.asarray(value) * (scale if name in names else 1.0) for name, value in guess.items()}


def _substitution(variables: list[State | Control], scale: float) -> Callable[[ca.SX], ca.SX]:
    symbols = ca.vertcat(*(v.symbol for v in variables))
    return lambda expression: ca.substitute(expression, symbols, symbols / scale)


def _times(scale: float, limits: Limits) -> Limits:
    return Limits(scale * limits.lower, scale * limits.upper)


def _scaled(term: Term, scale: float) -> Term:
    return replace(term, expression=scale * term.expression, limits=_times(scale, term.limits))
