"""Expressions of a problem's own variables, checked where they are said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from ...adjoint import nodes_of
from ...errors import ProblemError
from .costs_and_constraints.limits import Limits, checked_limits
from .variables import Free, Variable, uses

if TYPE_CHECKING:
    from .problem import Problem


def own_expression(name: str, value: Any, variables: Sequence[Variable]) -> ca.SX:
    """What the user gave as a column whose symbols are all of these variables, or of nodes that rest on them."""
    try:
        expression = ca.vec(ca.SX(value))
    except (TypeError, ValueError, RuntimeError, NotImplementedError, OverflowError, AttributeError):
        advice = "; vertcat makes one of several" if isinstance(value, (list, tuple)) else ""
        advice = "; the duration is steps * time_step of the problem" if isinstance(value, Free) else advice
        raise ProblemError(f"'{name}' is a {type(value).__name__}, expected numbers or CasADi SX{advice}") from None
    nodes = nodes_of(expression)
    own = [*(column for v in variables for column in v.symbols), *(node.unknowns for node in nodes)]
    known = {s.element_hash() for column in own for s in ca.vertsplit(column)}
    for symbol in ca.symvar(ca.veccat(expression, *(node.sources for node in nodes))):
        if symbol.element_hash() not in known:
            names = ", ".join(v.name for v in variables)
            raise ProblemError(f"'{name}' uses the symbol '{symbol}', which is none of this problem's: {names}")
    numbers = expression if expression.is_constant() else None
    if numbers is not None and not np.isfinite(np.array(ca.DM(numbers))).all():
        raise ProblemError(f"'{name}' is {np.array(ca.DM(numbers)).ravel()}, expected finite numbers")
    return expression


def own_limits(problem: Problem, where: str, size: int, lower: Any, upper: Any) -> Limits:
    """What was given as limits of `size` rows; expressions may use parameters and nothing else."""
    for side, value in (("lower", lower), ("upper", upper)):
        if isinstance(value, (ca.SX, ca.MX)) and not value.is_constant():
            if isinstance(value, ca.MX) or nodes_of(value) or uses(value, [*problem.carried, *problem.controls]):
                raise ProblemError(f"{where}: {side} is the expression {value}, expected numbers or parameters; "
                                   "constrain the difference instead")  # fmt: skip
            problem.expression(f"{where}: {side}", value)
    return checked_limits(where, size, lower, upper)


def add_dynamics(problem: Problem, verb: str, given: dict[str, ca.SX], discrete: bool) -> None:
    """The states' derivatives, or their values at the next stage, by their names."""
    if problem.dynamics and discrete != problem.discrete:
        raise ProblemError(f"{verb}: the dynamics are said by {'next' if problem.discrete else 'derivative'} already")
    problem.discrete = discrete
    states = {v.name: v for v in problem.states}
    for name, value in given.items():
        if name not in states:
            raise ProblemError(f"{verb}: there is no state '{name}'; the states are {', '.join(states) or 'none'}")
        if name in problem.dynamics:
            raise ProblemError(f"{verb}: state '{name}' has dynamics already")
        expression = problem.expression(f"{verb} of {name}", value)
        size = states[name].entries if discrete else states[name].size
        if expression.numel() != size:
            raise ProblemError(
                f"{verb}: '{name}' has {size} entries, but its {verb} has {expression.numel()}"
                if size == states[name].entries
                else f"{verb}: '{name}' is a configuration, expected a velocity ({size},), not {expression.numel()}"
            )
        problem.dynamics[name] = expression
