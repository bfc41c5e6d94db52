"""The answers of many solves: arrays over the problems, each problem's own `Solution`, and a table in the morning.

solutions = solver.solve_many(goal=goals)      # goals (problems, size)
print(solutions)                               # how many are solved; what became of the others, by number
solutions.q                                    # (problems, stages, size)
solutions.solved, solutions.iterations         # (problems,)
solutions[17].plot("17.png")
solutions.plot("sweep.png")                    # histograms of iterations and times
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, overload

import numpy as np

from ..answer.solution import Solution
from ..answer.status import Status
from ..stages.layout import Layout, PhaseLayout

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = 8  # of the failed problems in a print


@dataclass(frozen=True, eq=False, repr=False)
class Solutions(Sequence[Solution]):
    """What `solve_many` found, in the order of the problems; `[i]` is the `Solution` that `solve` would have given.

    States (problems, stages, size) and controls (problems, steps, size) are attributes by their names; where a motion
    has several phases, those of one are `trajectories("flight")`. NaN where a problem was not begun, as after Ctrl-C.
    iterations, seconds, objectives: (problems,); residuals: the largest entry of the KKT conditions, in the units of
    the statement. wall_seconds: from the call to the last answer, on all threads.
    """

    layout: Layout
    statuses: tuple[Status, ...]
    z: np.ndarray
    stage_parameters: np.ndarray
    iterations: np.ndarray
    seconds: np.ndarray
    objectives: np.ndarray
    residuals: np.ndarray
    wall_seconds: float
    solution: Callable[[int], Solution]

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
            return [self.solution(each) for each in range(len(self))[i]]
        return self.solution(range(len(self))[i])

    # --- arrays over the problems

    def trajectories(self, phase: str | None = None) -> dict[str, np.ndarray]:
        """Every state (problems, stages, size) and control (problems, steps, size) of a phase; None: the first."""
        names = [each.name for each in self.layout.phases]
        if phase is not None and phase not in names:
            raise KeyError(f"there is no phase '{phase}'; the phases are {', '.join(names)}")
        return self._trajectories(self.layout.phases[0 if phase is None else names.index(phase)])

    def _trajectories(self, phase: PhaseLayout) -> dict[str, np.ndarray]:
        found = {name: self.z[:, places] for name, places in phase.coordinates(np.arange(self.layout.size_z)).items()}
        anchors, at = phase.of_stages(np.arange(self.layout.size_stage)), phase.at_anchors
        for v in phase.states:
            of_state = self.stage_parameters[:, anchors[:, at : at + v.manifold.anchors]]
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
        lines = [
            f"{int(self.solved.sum())} of {len(self)} problems solved in {self.wall_seconds:.3g} s, "
            f"{len(self) / self.wall_seconds:.0f} a second"
        ]
        for name, values, unit, scale in (
            ("iterations", self.iterations, "", 1.0),
            ("a solve", self.seconds, " ms", 1e3),
        ):
            low, middle, high, most = scale * np.percentile(values, [5, 50, 95, 100])
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

        numbers = {"iterations": self.iterations, "time of a solve [ms]": 1e3 * self.seconds}
        return plot(numbers, [str(status) for status in self.statuses], path, show)
