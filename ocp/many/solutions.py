"""The answers of many solves: arrays over the problems, each problem's own `Solution`, and a table in the morning.

solutions = solver.solve_many(goal=goals)      # goals (problems, size)
print(solutions)                               # how many are solved; what became of the others, by number
solutions.q                                    # (problems, stages, size)
solutions.solved, solutions.iterations         # (problems,)
solutions[17].plot("17.png")
solutions.plot("sweep.png")                    # histograms of iterations and times
solutions.save("sweep.npz"); Solutions.load("sweep.npz", solver)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from ...cached import cached_property
from ...errors import ProblemError
from ..answer.files.archive import sensible_layout
from ..answer.files.parts_file import Form, read, write
from ..answer.files.schema import SchemaError, typed
from ..answer.solution import Solution
from ..answer.statistics import Statistics
from ..answer.status import Status
from ..answer.without_solver import WithoutSolver
from ..judge.residual import SLACK
from ..solve.backend import Outcome, Request
from ..solve.settings import Settings
from ..stages.layout import Layout, PhaseLayout
from .answers import STATUSES, Answers, shapes_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..solve.solver import Solver

FORM = Form("trisweep solutions", "solutions of many problems", 1, "Solutions.save", 2**40, packed=False)
SHOWN = 8  # of the failed problems in a print


def solution_of(solver: Solver, answers: Answers, i: int, tolerance: float) -> Solution:
    """The i-th answer as `solve` would have given it."""
    point = answers.point(i)
    limits = solver.limits.at(point.z, point.shared_parameters, point.stage_parameters)
    iterations, evaluations, differentiations, factorizations = answers.counts[i].astype(int).tolist()
    seconds, functions, linear = answers.times[i].tolist()
    block, stage, row = answers.faults[i].astype(int).tolist()
    outcome = Outcome(
        status=STATUSES[int(answers.statuses[i])],
        point=point,
        gains=answers.gains[i],
        statistics=Statistics(iterations, seconds, functions, linear, evaluations, differentiations, factorizations),
        records=answers.iterations(i),
        fault=(block, stage, row),
    )
    return solver.solution(Request(point, False, limits, Settings(tolerance=tolerance), None), outcome)


@dataclass(frozen=True, eq=False, repr=False)
class Solutions(WithoutSolver, Sequence[Solution]):
    """What `solve_many` found, in the order of the problems; `[i]` is the `Solution` that `solve` would have given.

    States (problems, stages, size) and controls (problems, steps, size) are attributes by their names; where a motion
    has several phases, those of one are `trajectories("flight")`. NaN where a problem was not begun, as after Ctrl-C.
    answers: all numbers, as arrays. wall_seconds: from the call to the last answer, on all threads and workers.
    solver: what makes a `Solution` of an answer; None where there is only a file.
    """

    layout: Layout
    answers: Answers
    tolerance: float
    wall_seconds: float
    solver: Solver | None = None

    @cached_property
    def statuses(self) -> tuple[Status, ...]:
        """How each ended; "solved" only where the judge agrees."""
        said = [STATUSES[place] for place in self.answers.statuses.astype(int).tolist()]
        doubted = ~(self.answers.relative_residuals <= SLACK * self.tolerance)
        return tuple(
            Status.STALLED if doubt and status is Status.SOLVED else status for status, doubt in zip(said, doubted)
        )

    @property
    def iterations(self) -> np.ndarray:
        """(problems,)."""
        return self.answers.counts[:, 0].astype(int)

    @property
    def seconds(self) -> np.ndarray:
        """Of each solve (problems,)."""
        return self.answers.times[:, 0]

    @property
    def objectives(self) -> np.ndarray:
        """(problems,)."""
        return self.answers.objectives

    @property
    def residuals(self) -> np.ndarray:
        """The largest entry of the KKT conditions of each (problems,), in the units of the statement."""
        return self.answers.residuals

    @cached_property
    def solved(self) -> np.ndarray:
        """Which problems are solved (problems,)."""
        return np.array([status is Status.SOLVED for status in self.statuses])

    @property
    def counts(self) -> dict[Status, int]:
        """How many problems ended in each way, the most frequent first."""
        return dict(Counter(self.statuses).most_common())

    # --- a sequence of solutions

    def __len__(self) -> int:
        return len(self.statuses)

    @overload
    def __getitem__(self, i: int) -> Solution: ...
    @overload
    def __getitem__(self, i: slice) -> list[Solution]: ...
    def __getitem__(self, i: int | slice) -> Solution | list[Solution]:
        if isinstance(i, slice):
            return [self._solution(each) for each in range(len(self))[i]]
        return self._solution(range(len(self))[i])

    def _solution(self, i: int) -> Solution:
        if not self.answers.begun[i]:
            raise ProblemError(f"problem {i} was not begun: the batch was interrupted")
        if self.solver is None:
            raise ProblemError(
                f"problem {i}: these solutions come from a file or another process, expected a solver to make a "
                "Solution of one; give Solutions.load(path, solver) the one of this problem"
            )
        return solution_of(self.solver, self.answers, i, self.tolerance)

    # --- arrays over the problems

    def trajectories(self, phase: str | None = None) -> dict[str, np.ndarray]:
        """Every state (problems, stages, size) and control (problems, steps, size) of a phase; None: the first."""
        names = [each.name for each in self.layout.phases]
        if phase is not None and phase not in names:
            raise KeyError(f"there is no phase '{phase}'; the phases are {', '.join(names)}")
        return self._trajectories(self.layout.phases[0 if phase is None else names.index(phase)])

    def _trajectories(self, phase: PhaseLayout) -> dict[str, np.ndarray]:
        answers = self.answers
        found = {
            name: answers.z[:, places] for name, places in phase.coordinates(np.arange(self.layout.size_z)).items()
        }
        anchors, at = phase.stage_rows(np.arange(self.layout.size_stage)), phase.at_anchors
        for v in phase.states:
            of_state = answers.stage_parameters[:, anchors[:, at : at + v.manifold.anchors]]
            count = len(self) * (phase.steps + 1)
            rows = found[v.name].reshape(count, v.manifold.dimension), of_state.reshape(count, v.manifold.anchors)
            found[v.name] = v.manifold.joined(*rows).reshape(len(self), phase.steps + 1, v.size)
            at += v.manifold.anchors
        return found

    def __getattr__(self, name: str) -> np.ndarray:
        # Only names the class does not have come here; a copy in the making has no fields to look in.
        if not name.startswith("_") and "layout" in self.__dict__:
            having = [phase for phase in self.layout.phases if name in self._names(phase)]
            if len(having) == 1:
                return self._trajectories(having[0])[name]
            if having:
                raise AttributeError(
                    f"'{name}' is in several phases, expected trajectories('{having[0].name}')['{name}']"
                )
            known = dict.fromkeys(each for phase in self.layout.phases for each in self._names(phase))
            raise AttributeError(f"Solutions have no '{name}'; their trajectories are {', '.join(known)}")
        raise AttributeError(f"Solutions have no '{name}'")

    @staticmethod
    def _names(phase: PhaseLayout) -> list[str]:
        return [v.name for v in (*phase.states, *phase.controls)]

    # --- what they say of themselves

    def __repr__(self) -> str:
        return f"<Solutions: {int(self.solved.sum())} of {len(self)} solved>"

    def __str__(self) -> str:
        begun = self.answers.begun
        lines = [
            f"{int(self.solved.sum())} of {len(self)} problems solved in {self.wall_seconds:.3g} s, "
            f"{int(begun.sum()) / max(self.wall_seconds, 1e-9):.0f} a second"
        ]
        for name, values, unit, scale in (
            ("iterations", self.iterations, "", 1.0),
            ("a solve", self.seconds, " ms", 1e3),
        ):
            if not begun.any():
                break
            low, middle, high, most = scale * np.percentile(values[begun], [5, 50, 95, 100])
            lines.append(f"  {name:<12} median {middle:.3g}{unit}, 5 to 95 % {low:.3g} to {high:.3g}, most {most:.3g}")
        for status, count in self.counts.items():
            if status is not Status.SOLVED:
                which = [i for i, each in enumerate(self.statuses) if each is status]
                shown = ", ".join(map(str, which[:SHOWN])) + (", ..." if count > SHOWN else "")
                lines.append(f"  {status:<16} {count}: {shown}")
                lines.append(f"  {'':<16} {status.advice}")
        return "\n".join(lines)

    def plot(self, path: str | Path | None = None, show: bool = False) -> Figure:
        """Histograms of iterations and times by status; also to a file at `path`."""
        from ...drawing.batch_plot import plot

        begun = self.answers.begun
        numbers = {"iterations": self.iterations[begun], "time of a solve [ms]": 1e3 * self.seconds[begun]}
        return plot(numbers, [str(self.statuses[i]) for i in np.flatnonzero(begun)], path, show)

    def table(self) -> list[dict[str, Any]]:
        """A row a problem: its number, status, iterations, seconds, objective, residual."""
        columns = self.iterations.tolist(), self.seconds.tolist(), self.objectives.tolist(), self.residuals.tolist()
        names = "problem", "status", "iterations", "seconds", "objective", "residual"
        rows = zip(range(len(self)), map(str, self.statuses), *columns)
        return [dict(zip(names, row)) for row in rows]

    def save(self, path: str | Path) -> Path:
        """Write everything but the solver to a file (.npz)."""
        header = {"layout": asdict(self.layout), "tolerance": self.tolerance, "wall_seconds": self.wall_seconds}
        header |= {"problems": len(self), "records": len(self.answers.records)}
        arrays = {part.name: getattr(self.answers, part.name) for part in fields(Answers)}
        return write(FORM, path, header, arrays)

    @staticmethod
    def load(path: str | Path, solver: Solver | None = None) -> Solutions:
        """Read what `save` wrote. solver: the one of this problem, to have `[i]` too."""
        found: Solutions = read(FORM, path, _shapes, _solutions)
        if solver is not None and solver.layout != found.layout:
            raise ProblemError(f"load: '{path}' has solutions of another problem than the solver's")
        return replace(found, solver=solver)


def _shapes(header: dict[str, Any], unpacked: int) -> dict[str, tuple[int, ...]]:
    counts = [typed(int, header[name], name, most=unpacked) for name in ("problems", "records")]
    if counts[0] < 1 or counts[1] < 0:
        raise SchemaError("it counts below zero")
    return shapes_of(sensible_layout(header, unpacked), *counts)


def _solutions(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Solutions:
    answers = Answers(**arrays)
    whole = [answers.statuses, answers.counts, answers.faults, answers.record_counts]
    if not all(np.isfinite(part).all() and (part == np.round(part)).all() for part in whole):
        raise SchemaError("a count is no whole number")
    if not ((answers.statuses >= 0) & (answers.statuses < len(STATUSES))).all():
        raise SchemaError("a status is none")
    counts, records = answers.record_counts, answers.records
    if (
        (counts < 0).any()
        or counts.sum() != len(records)
        or not ((records[:, -1] >= 32) & (records[:, -1] < 127)).all()
    ):
        raise SchemaError("its records are not those of its problems")
    seconds = typed(float, header["wall_seconds"], "wall_seconds")
    layout = typed(Layout, header["layout"], "layout")
    solutions = Solutions(layout, answers, typed(float, header["tolerance"], "tolerance"), seconds)
    str(solutions)
    for phase in layout.phases:
        solutions.trajectories(phase.name)
    return solutions
