"""The answer: trajectories, multipliers, gains, statistics, and what it says of itself.

solution = solver.solve(goal=...)
print(solution)                                # status, time, objective, residuals, worst constraint, advice
solution.q, solution["q"], solution.times      # a row a stage; controls a row a step
solution.multipliers["reach the goal"]         # a row for each stage of the constraint
solution.check()                               # the KKT conditions, computed again by CasADi alone
solution.plot("reach.png"); solution.animate("reach.html", arm); solution.save("reach.npz")
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..riccati import ProblemError
from .diagnosis import Fault, Violation, violations
from .kkt import Measured, Point, Residual
from .layout import Layout

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..dynamics import Model
    from .solver import Solver

ADVICE = {
    "solved": "",
    "infeasible": "no motion nearby meets all constraints: relax those named, or start from another guess",
    "iteration limit": "allow more iterations (Settings.iterations), or start from a better guess",
    "time limit": "allow more seconds (Settings.seconds), or start from a better guess",
    "interrupted": "the last point is here: solve again with guess=solution to go on",
    "not finite": "keep the guess away from where the named term is not defined, if need be with limits on variables",
    "unbounded": "the variables grow without limit while the cost falls: add limits, or a cost on what grows",
    "not minimal": "first-order conditions hold, but the cost curves down from here: start elsewhere, or add limits",
    "stalled": "no step improves the point: look for bad scaling, slopes that jump, constraints that repeat each other",
}

# What a row of `Solution.records` holds. kind of step: f less objective, h less violation, s second-order correction,
# r restoration, t tiny.
RECORD = (
    "iteration", "objective", "infeasibility", "dual_infeasibility", "complementarity", "mu", "step", "delta",
    "alpha_primal", "alpha_dual", "trials", "kind",
)  # fmt: skip


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

    @property
    def seconds_rest(self) -> float:
        return self.seconds - self.seconds_functions - self.seconds_linear


@dataclass(frozen=True, eq=False)
class ConstraintValues:
    """A constraint along the motion: `stages` (n,) it stands on, and (n, rows): values, limits, multipliers.

    An equality's value is what is left of it, with limits 0. A multiplier is positive where a row presses on its upper
    limit, negative on its lower one.
    """

    stages: np.ndarray
    values: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    multipliers: np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """What a solve found. States (stages, size) and controls (steps, size) are attributes by their names: `solution.q`;
    `solution["q"]` also reaches a name that this class has for something else.

    gains: (steps, nu, nx), the feedback u = u* + gains (x - x*) about the motion; controls, states in the order stated.
    records: a row an iteration, see RECORD. fault: where a function was not finite.
    doubt: what speaks against the solver's own verdict, where something does.
    """

    status: str
    gains: np.ndarray
    statistics: Statistics
    tolerance: float
    layout: Layout
    point: Point
    measured: Measured
    records: list[tuple] = field(default_factory=list)
    fault: Fault | None = None
    doubt: str = ""
    solver: Solver | None = None

    # --- what was found

    @property
    def objective(self) -> float:
        return self.measured.objective

    @property
    def residual(self) -> Residual:
        """How far the point is from the KKT conditions, in the units of the statement."""
        return self.measured.residual

    @cached_property
    def trajectories(self) -> dict[str, np.ndarray]:
        """Every state (stages, size) and control (steps, size) by name."""
        return self.layout.by_name(self.point.z)

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.trajectories:
            raise KeyError(f"a Solution has no '{name}'; its trajectories are {', '.join(self.trajectories)}")
        return self.trajectories[name]

    def __getattr__(self, name: str) -> np.ndarray:
        # Only names the class does not have come here; a copy in the making has no fields to look in.
        if not name.startswith("_") and "point" in self.__dict__ and name in self.trajectories:
            return self.trajectories[name]
        known = f"; its trajectories are {', '.join(self.trajectories)}" if "point" in self.__dict__ else ""
        raise AttributeError(f"a Solution has no '{name}'{known}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.trajectories]

    @cached_property
    def times(self) -> np.ndarray:
        """The time of every stage (stages,), in s; the number of the stage where no step was stated."""
        layout = self.layout
        step = self.trajectories["duration"][0, 0] / layout.steps if layout.free_duration else layout.step
        return np.arange(layout.steps + 1) * (1.0 if step is None else step)

    @property
    def duration(self) -> float:
        """The time of the last stage, in s."""
        return float(self.times[-1])

    @cached_property
    def constraints(self) -> dict[str, ConstraintValues]:
        """Every constraint by name; those that make the states follow each other are "dynamics of q" and so on."""
        return {name: self._constraint(name) for name in self.layout.constraint_names()}

    @property
    def multipliers(self) -> dict[str, np.ndarray]:
        """Of every constraint by name: (stages of the constraint, rows)."""
        return {name: constraint.multipliers for name, constraint in self.constraints.items()}

    @cached_property
    def limits(self) -> dict[str, ConstraintValues]:
        """The limits of every state and control by its name, seen as a constraint on it."""
        layout = self.layout
        parts = (layout.by_name(vector) for vector in (layout.along_z("lower"), layout.along_z("upper"), self.point.w))
        return {
            name: ConstraintValues(np.arange(len(values)), values, low, high, multipliers)
            for (name, values), low, high, multipliers in zip(
                self.trajectories.items(), *(part.values() for part in parts)
            )
        }

    @cached_property
    def parameters(self) -> dict[str, np.ndarray]:
        """The values the problem was solved for, by name."""
        return self.layout.parameters_by_name(self.point.parameters, self.point.of_stages)

    def _constraint(self, name: str) -> ConstraintValues:
        pieces = [piece for piece in self.layout.pieces if piece.name == name]
        stages = sorted({stage for piece in pieces for stage in range(*piece.stages)})
        shape = len(stages), 1 + max(row for piece in pieces for row in piece.rows)
        found = ConstraintValues(np.array(stages), *(np.zeros(shape) for _ in range(4)))
        for piece in pieces:
            where = np.ix_([stages.index(stage) for stage in range(*piece.stages)], piece.rows)
            found.values[where] = self.measured.rows[piece.places]
            found.lower[where], found.upper[where] = piece.lower, piece.upper
            found.multipliers[where] = self.point.y[piece.places]
        return found

    # --- what it says of itself

    @property
    def solved(self) -> bool:
        return self.status == "solved"

    @property
    def advice(self) -> str:
        """One sentence on what to try; empty where there is nothing to."""
        return self.doubt or ADVICE[self.status]

    @cached_property
    def violations(self) -> list[Violation]:
        """The constraints that do not hold within the tolerance, each with its worst stage and row, worst first."""
        measured = self.measured
        return violations(self.layout, measured.outside_rows, measured.outside_bounds, self.tolerance)

    def check(self) -> Residual:
        """The KKT residual computed again through CasADi alone, apart from the core and its compiled functions."""
        if self.solver is None:
            raise ProblemError(
                "check: this solution comes from a file, expected one from a solver; solve again with it as guess"
            )
        return self.solver.plain_conditions.measure(self.point).residual

    def __repr__(self) -> str:
        return f"<Solution: {self.status}, objective {self.objective:.9g}, {self.statistics.iterations} iterations>"

    def __str__(self) -> str:
        from .report import report

        return report(self)

    # --- what can be done with it

    def log(self) -> None:
        """Print the table of iterations."""
        from .report import print_log

        print_log(self)

    def plot(self, path: str | Path | None = None, show: bool = False) -> Figure:
        """Draw states and controls with their limits, active constraints, convergence; also to a file at `path`."""
        from .plot import plot

        return plot(self, path, show)

    def animate(self, path: str | Path, model: Model, q: str = "q") -> Path:
        """Write the motion of a robot as a stand-alone HTML page; q is the name of its configuration."""
        from ..dynamics.animation import animate

        trajectory = self[q] if q in self.trajectories else None
        if trajectory is None or trajectory.shape[1] != model.nq:
            what = "is not there" if trajectory is None else f"has {trajectory.shape[1]} entries"
            raise ProblemError(f"animate: '{q}' {what}, expected the {model.nq} coordinates of '{model.name}'; give q=")
        if not np.isfinite(trajectory).all():
            raise ProblemError(f"animate: '{q}' has an entry that is not finite, expected numbers")
        title = f"{model.name}: {self.status}, objective {self.objective:.6g}"
        return animate(model, self.times, trajectory, path, title)

    def save(self, path: str | Path) -> Path:
        """Write everything but the solver to a file (.npz)."""
        from .archive import save

        return save(self, path)

    @staticmethod
    def load(path: str | Path) -> Solution:
        """Read what `save` wrote: to look at, to plot, or as a guess."""
        from .archive import load

        return load(path)
