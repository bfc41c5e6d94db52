"""The answer: trajectories, multipliers, gains, statistics, and what it says of itself.

solution = solver.solve(goal=...)
print(solution)                                # status, time, objective, residuals, worst constraint, advice
solution.q, solution["q"], solution.times      # a row a stage; controls a row a step
solution.multipliers["reach the goal"]         # a row for each stage of the constraint
solution.check()                               # the KKT conditions, computed again by CasADi alone
solution.plot("reach.png"); solution.animate("reach.html"); solution.save("reach.npz")
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...cached import cached_property
from ...errors import ProblemError, said
from ..judge.residual import Measured, Point, Residual
from ..solve.warm_start import WarmStart
from ..stages.layout import Layout
from ..stages.limit_vectors import LimitVectors
from .diagnosis import Fault, Violation, everywhere, opponents, violations
from .iteration import Iteration
from .phase_solution import ConstraintValues, PhaseSolution
from .statistics import Statistics
from .status import Status
from .without_solver import WithoutSolver

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ...dynamics import Model
    from ..solve.solver import Solver


@dataclass(frozen=True, eq=False, repr=False)
class Solution(WithoutSolver):
    """What a solve found. States (stages, size) and controls (steps, size) are attributes by their names: `solution.q`;
    `solution["q"]` also reaches a name that this class has for something else. Where a motion has several phases,
    `solution.phases["flight"]` is a `PhaseSolution` with all that belongs to one; what only one of them has needs no
    more.

    gains: of every phase, (steps, nu, nx), see `PhaseSolution`. records: an Iteration each.
    fault: where a function was not finite. doubt: what speaks against the solver's own verdict, where something does.
    """

    status: Status
    all_gains: tuple[np.ndarray, ...]
    statistics: Statistics
    tolerance: float
    layout: Layout
    limit_vectors: LimitVectors
    point: Point
    judged: Measured | None = None
    records: list[Iteration] = field(default_factory=list)
    fault: Fault | None = None
    doubt: str = ""
    solver: Solver | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "judged": self.measured}

    # --- what was found

    @cached_property
    def measured(self) -> Measured:
        """Objective, rows and conditions at the point: as they were `judged`, or computed when first asked for."""
        if self.judged is not None:
            return self.judged
        assert self.solver is not None
        return self.solver.backend.judge(self.point, self.limit_vectors)

    @property
    def objective(self) -> float:
        return self.measured.objective

    @property
    def residual(self) -> Residual:
        """How far the point is from the KKT conditions, in the units of the statement."""
        return self.measured.residual

    @cached_property
    def phases(self) -> dict[str, PhaseSolution]:
        """Every phase by name, each before those that follow it."""
        found: list[PhaseSolution] = []
        for i, place in enumerate(self.layout.phases):
            begin = float(found[place.parent].times[-1]) if place.parent >= 0 else 0.0
            gains = self.all_gains[i]
            found.append(PhaseSolution(self.layout, i, self.limit_vectors, self.point, self.measured, gains, begin))
        return {phase.name: phase for phase in found}

    def __getitem__(self, name: str) -> np.ndarray:
        having = [phase for phase in self.phases.values() if name in phase.trajectories]
        if len(having) == 1:
            return having[0].trajectories[name]
        if having:
            raise KeyError(
                f"'{name}' is in several phases, expected for instance .phases['{having[0].name}']['{name}']"
            )
        raise KeyError(f"a Solution has no '{name}'; its trajectories are {', '.join(self._names())}")

    def __getattr__(self, name: str) -> np.ndarray:
        # Only names the class does not have come here; a copy in the making has no fields to look in.
        if not name.startswith("_") and "point" in self.__dict__:
            try:
                return self[name]
            except KeyError as error:
                raise AttributeError(error.args[0]) from None
        raise AttributeError(f"a Solution has no '{name}'")

    def _names(self) -> dict[str, None]:
        return dict.fromkeys(name for phase in self.phases.values() for name in phase.trajectories)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._names()]

    def branch(self, last: str | None = None) -> list[PhaseSolution]:
        """The phases one after another, to the one named `last`; if not named, to the end of the first branch."""
        phases, places = list(self.phases.values()), self.layout.phases
        if last is not None and not (isinstance(last, str) and last in self.phases):
            raise ProblemError(f"branch: there is no phase {said(last)}; the phases are {', '.join(self.phases)}")
        at = [place.name for place in places].index(last) if last is not None else 0
        while last is None and any(place.parent == at for place in places):
            at = next(i for i, place in enumerate(places) if place.parent == at)
        path: list[PhaseSolution] = []
        while at >= 0:
            path.insert(0, phases[at])
            at = places[at].parent
        return path

    @property
    def warm_start(self) -> WarmStart:
        """The point alone, to start another solve from."""
        return WarmStart(self.layout, self.point)

    def shifted(self, steps: int = 1) -> WarmStart:
        """The motion from stage `steps` on, its end repeated: the warm start of a receding horizon's next solve."""
        return self.warm_start.shifted(steps)

    # What belongs to a phase, where there is only one.

    @property
    def _phase(self) -> PhaseSolution:
        if len(self.phases) > 1:
            first = next(iter(self.phases))
            raise ProblemError(f"this motion has the phases {', '.join(self.phases)}: ask one, .phases['{first}']")
        return next(iter(self.phases.values()))

    @property
    def trajectories(self) -> dict[str, np.ndarray]:
        """Every state (stages, size) and control (steps, size) by name."""
        return self._phase.trajectories

    @property
    def times(self) -> np.ndarray:
        """The time of every stage (stages,), in s; the number of the stage where no step was stated."""
        return self._phase.times

    @property
    def duration(self) -> float:
        """The time of the last stage, in s; of a tree, the longest."""
        return max(float(phase.times[-1]) for phase in self.phases.values())

    @property
    def gains(self) -> np.ndarray:
        """(steps, nu, nx): the feedback about the motion, see `PhaseSolution`."""
        return self._phase.gains

    @property
    def constraints(self) -> dict[str, ConstraintValues]:
        """Every constraint by name; those that make the states follow each other are "dynamics of q" and so on."""
        return self._phase.constraints

    @property
    def multipliers(self) -> dict[str, np.ndarray]:
        """Of every constraint by name: (stages of the constraint, rows)."""
        return self._phase.multipliers

    @property
    def limits(self) -> dict[str, ConstraintValues]:
        """The limits of every state and control by its name, seen as a constraint on it."""
        return self._phase.limits

    @property
    def parameters(self) -> dict[str, np.ndarray]:
        """The values the problem was solved for, by name."""
        return self._phase.parameters

    # --- what it says of itself

    @property
    def solved(self) -> bool:
        return self.status is Status.SOLVED

    @property
    def advice(self) -> str:
        """One sentence on what to try; empty where there is nothing to."""
        repeated = everywhere(self.layout) if self.status is Status.INFEASIBLE else []
        hint = f"; '{repeated[0]}' is demanded on every stage: give at= if it is meant for one" if repeated else ""
        if self.status in (Status.STALLED, Status.ITERATION_LIMIT) and self.solver and self.solver.hessian != "exact":
            hint = (
                f'; steps by the {self.solver.hessian} Hessian come nearer slowly where rows curve: build with "exact"'
            )
        return self.doubt or self.status.advice + hint

    @cached_property
    def violations(self) -> list[Violation]:
        """The constraints that do not hold within the tolerance, each with its worst stage and row, worst first."""
        measured = self.measured
        return violations(self.layout, measured.outside_rows, measured.outside_bounds, self.tolerance)

    @cached_property
    def opponents(self) -> list[Violation]:
        """Where it is infeasible, the constraints that hold but contradict the violated ones, each with the stage and
        the row that matter most there, strongest first.
        """
        infeasible = self.status is Status.INFEASIBLE
        return opponents(self.layout, self.point.y, self.point.w, self.violations) if infeasible else []

    def check(self) -> Residual:
        """The KKT residual computed again through CasADi alone, apart from the core and its compiled functions."""
        if self.solver is None:
            raise ProblemError(
                "check: this solution comes from a file, expected one from a solver; solve again with it as guess"
            )
        return self.solver.plain_conditions.residual(self.point, self.limit_vectors)

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
        from ...drawing.solution_plot import plot

        return plot(self, path, show)

    def animate(
        self, path: str | Path, model: Model | None = None, q: str | None = None, last: str | None = None
    ) -> Path:
        """Write the motion of a robot as a stand-alone HTML page.

        model: the robot, and q: the state that is its configuration; if not said, those of the statement's dynamics.
        last: the phase to which the motion is shown, see `branch`.
        """
        from .animation import animate

        return animate(self, path, model, q, last)

    def save(self, path: str | Path) -> Path:
        """Write everything but the solver to a file (.npz)."""
        from .files.archive import save

        return save(self, path)

    @staticmethod
    def load(path: str | Path) -> Solution:
        """Read what `save` wrote: to look at, to plot, or as a guess."""
        from .files.archive import load

        return load(path)
