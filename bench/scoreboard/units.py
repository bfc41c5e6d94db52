"""The same problem in other units: every state and control, every row, or the cost, `scale` times as large in number.

    variables:  x = x^ / scale,  the next value or rate of x^ is scale f(x^ / scale),  bounds with them
    rows:       scale g(x) = 0,  scale l <= scale g(x) <= scale h          cost:  scale f(x)

A free duration stays in seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace

import casadi as ca
import numpy as np
from trisweep import Problem
from trisweep.ocp.statement.variables import Term, Variable

KINDS = ("variables", "rows", "cost")


def rescaled(problem: Problem, kind: str, scale: float) -> Problem:
    """A problem of one phase, without states on manifolds, in other units."""
    if problem.links or any(state.manifold.units for state in problem.states):
        raise ValueError(f"rescaled: '{problem.name}' has phases or manifolds, expected one phase of vectors")
    made = copy(problem)
    if kind == "variables":
        moved = [v for v in (*problem.states, *problem.controls) if v.name not in problem.held]
        in_old = _substitution(moved, scale)
        names = {v.name for v in moved}
        made.states, made.controls = (
            [_bounded(v, scale) if v.name in names else v for v in group]
            for group in (problem.states, problem.controls)
        )
        rates = {name: in_old(rate) for name, rate in problem.dynamics.items()}
        made.dynamics = {name: scale * rate if name in names else rate for name, rate in rates.items()}
        made.terms = [replace(term, expression=in_old(term.expression)) for term in problem.terms]
    else:
        made.terms = [_scaled(term, scale) if (term.kind == "objective") == (kind == "cost") else term
                      for term in problem.terms]  # fmt: skip
    return made


def rescaled_guess(problem: Problem, guess: Mapping[str, np.ndarray], kind: str, scale: float) -> dict[str, np.ndarray]:
    """The guess in the units of `rescaled`."""
    factor = scale if kind == "variables" else 1.0
    return {name: np.asarray(value) * (1.0 if name in problem.held else factor) for name, value in guess.items()}


def _substitution(variables: list[Variable], scale: float) -> Callable[[ca.SX], ca.SX]:
    symbols = ca.vertcat(*(v.symbol for v in variables))
    return lambda expression: ca.substitute(expression, symbols, symbols / scale)


def _bounded(v: Variable, scale: float) -> Variable:
    return replace(v, lower=scale * v.lower, upper=scale * v.upper)


def _scaled(term: Term, scale: float) -> Term:
    limits = {side: scale * at for side in ("lower", "upper") if (at := getattr(term, side)) is not None}
    return replace(term, expression=scale * term.expression, **limits)
