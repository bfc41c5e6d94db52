"""How long a problem is: its steps, their lengths, and the duration of all together, checked where they are said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ...errors import ProblemError, said
from .costs_and_constraints.limits import constant_limits
from .manifold import Manifold
from .variables import Free, Parameter, State, is_seconds, new_state

if TYPE_CHECKING:
    from .problem import Problem

MOST_STEPS = 10**7


def check_steps(steps: object) -> None:
    """Of a problem: a whole number."""
    whole = isinstance(steps, (int, np.integer)) and not isinstance(steps, bool)
    if not whole or not 1 <= steps <= MOST_STEPS:  # type: ignore[operator]
        raise ProblemError(
            f"Problem: steps is {said(steps)}, expected a whole number of at least 1, at most {MOST_STEPS}"
        )


def free_duration(duration: float | Free | None) -> State | None:
    """The state that a free duration is; none where it is a number or not said."""
    if not isinstance(duration, Free):
        _check_seconds("duration", duration)
        return None
    if not 0 < duration.lower <= duration.guess <= duration.upper:
        raise ProblemError(f"Problem: duration is {duration}, expected 0 < lower <= guess <= upper")
    limits = constant_limits(np.array([float(duration.lower)]), np.array([float(duration.upper)]))
    return new_state("duration", Manifold(1), limits)


def step_lengths(step: float | Sequence[float] | np.ndarray | str | None, steps: int) -> Parameter | None:
    """The parameter that the lengths of steps are, where they differ or come with every solve."""
    if isinstance(step, str):
        return Parameter(step, ca.SX.sym(step), True, True)
    if not isinstance(step, Sequence) and not (isinstance(step, np.ndarray) and step.ndim > 0):
        _check_seconds("step", step)
        return None
    given = list(step)
    for length in given:
        _check_seconds("one of step", length)
    if len(given) != steps:
        raise ProblemError(f"Problem: step has {len(given)} lengths, expected {steps}, one a step")
    return Parameter("step", ca.SX.sym("step"), True, True, np.array([*given, given[-1]], dtype=float)[:, None])


def time_step(problem: Problem) -> ca.SX | float:
    """The length of a step, in s; an expression where the duration is free, or steps differ."""
    if problem.lengths is not None:
        return problem.lengths.symbol
    if problem.free_duration is not None:
        return problem.free_duration.symbol / problem.steps
    if problem.duration is not None and not isinstance(problem.duration, Free):
        return problem.duration / problem.steps
    if problem.step is None:
        raise ProblemError("Problem: neither step nor duration is given, but the dynamics need the length of a step")
    assert isinstance(problem.step, (int, float, np.integer, np.floating))  # others have lengths
    return float(problem.step)


def _check_seconds(name: str, value: object) -> None:
    if value is not None and not is_seconds(value):
        raise ProblemError(f"Problem: {name} is {said(value)}, expected a positive number of seconds")
