"""The answer: trajectories, multipliers, statistics, and what it says of itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .settings import Settings
    from .solver import Solver

ADVICE = {
    "solved": "",
    "infeasible": "no motion nearby meets all constraints: relax those named, or start from another guess",
    "iteration limit": "allow more iterations, or start from a better guess",
    "time limit": "allow more seconds, or start from a better guess",
    "interrupted": "the best point so far is here",
    "not finite": "keep the guess away from where the named term is not defined, with bounds if need be",
    "unbounded": "the variables grow without limit while the cost falls: add bounds, or a cost on what grows",
    "not minimal": "the first-order conditions hold, but the cost curves down from here: start elsewhere, or bound the motion",
    "stalled": "no step improves the point: check scaling, derivatives that jump, and constraints that repeat each other",
}


@dataclass(frozen=True)
class Statistics:
    """Counts, and seconds: of the solve, in functions, in linear algebra; of the build before it."""

    iterations: int
    seconds: float
    seconds_functions: float
    seconds_linear: float
    evaluations: int
    differentiations: int
    factorizations: int
    build_seconds: float


@dataclass(frozen=True, eq=False)
class Solution:
    """A solution's states and controls are attributes by their names: `solution.q` (stages, size), `solution.tau` (steps, size)."""

    solver: Solver = field(repr=False)
    status: str
    settings: Settings = field(repr=False)
    u: np.ndarray = field(repr=False)
    x: np.ndarray = field(repr=False)
    result: dict = field(repr=False)
    records: list = field(repr=False)
    gains: list = field(repr=False)
    statistics: Statistics = field(repr=False)
    parameters: tuple = field(repr=False)

    @cached_property
    def trajectories(self) -> dict[str, np.ndarray]:
        """Every state (stages, size) and control (steps, size) by name."""
        found = {}
        for variables, rows in ((self.solver.problem.states, self.x), (self.solver.problem.controls, self.u)):
            at = 0
            for variable in variables:
                found[variable.name] = rows[:, at : at + variable.size]
                at += variable.size
        return found

    def __getattr__(self, name: str):
        if not name.startswith("_"):
            trajectories = self.trajectories
            if name in trajectories:
                return trajectories[name]
        raise AttributeError(f"a Solution has no '{name}'; its trajectories are {', '.join(self.trajectories)}")

    @property
    def objective(self) -> float:
        return self.result["objective"]

    @property
    def advice(self) -> str:
        """One sentence on what to try; empty where there is nothing to."""
        return ADVICE[self.status]

    def __str__(self) -> str:
        s = self.statistics
        return f"{self.status}: objective {self.objective:.9g}, {s.iterations} iterations, {1e3 * s.seconds:.2f} ms"
