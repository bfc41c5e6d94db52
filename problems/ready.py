"""A ready problem with all that a solve of it needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import ArrayLike

from ..ocp import Problem, Settings, Solution, Solver


@dataclass(frozen=True, eq=False)
class Task:
    """A problem, a guess by the names of its variables, and values for its parameters.

    published: the objective that the problem's source gives, where it gives one for this discretisation.

    solution = pendulum_swing_up().solve()
    """

    name: str
    problem: Problem = field(repr=False)
    guess: Mapping[str, ArrayLike] = field(default_factory=dict, repr=False)
    parameters: Mapping[str, ArrayLike] = field(default_factory=dict, repr=False)
    published: float | None = None

    def build(self, hessian: str = "exact", backend: str = "native") -> Solver:
        """A solver, to be called with this task's guess and parameters or with others; see Problem.build."""
        return self.problem.build(hessian, backend)

    def solve(self, settings: Settings | None = None, hessian: str = "exact", backend: str = "native") -> Solution:
        """Build, and solve from the guess."""
        parameters: dict[str, Any] = dict(self.parameters)
        return self.build(hessian, backend).solve(self.guess, settings=settings, **parameters)
