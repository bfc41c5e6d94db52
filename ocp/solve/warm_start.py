"""Where a solve may start: a point with its multipliers, of a solution or of one moved on in time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import ProblemError
from ..judge.residual import Point
from ..stages.layout import Layout, PhaseLayout

Places = tuple[np.ndarray, np.ndarray, np.ndarray]  # in z, y and the parameters of the stages


@dataclass(frozen=True, eq=False)
class WarmStart:
    """A point to start from, `solve(warm_start=...)` or `solve(guess=...)`. It solves nothing."""

    layout: Layout
    point: Point

    @property
    def guess(self) -> dict[str, Any]:
        """The trajectories by name; of several phases, by phase and name."""
        point = self.point
        found = {phase.name: phase.trajectories(point.z, point.stage_parameters) for phase in self.layout.phases}
        return dict(found) if len(found) > 1 else dict(next(iter(found.values())))

    def shifted(self, steps: int) -> WarmStart:
        """Each phase from its stage `steps` on, its last stage and step repeated; multipliers and anchors with it.
        Where steps differ in length, every stage takes over from the one that is nearest in time.
        """
        most = min(phase.steps for phase in self.layout.phases)
        if isinstance(steps, bool) or not isinstance(steps, (int, np.integer)) or not 0 <= steps <= most:
            raise ProblemError(f"shifted: steps is {steps!r}, expected a whole number from 0 to {most}")
        point, (z, y, stage) = self.point, self._places(int(steps))
        moved = Point(point.z[z], point.y[y], point.w[z], point.shared_parameters, point.stage_parameters[stage])
        return WarmStart(self.layout, moved)

    def _places(self, steps: int) -> Places:
        """Kept, where they do not depend on lengths that came with the solve."""
        layout, parameters = self.layout, self.point.stage_parameters
        if any(phase.lengths for phase in layout.phases):
            return moved_places(layout, later_stages(layout, parameters, steps))
        if steps not in layout.shifts:
            layout.shifts[steps] = moved_places(layout, later_stages(layout, parameters, steps))
        return layout.shifts[steps]


def moved_places(layout: Layout, stages: Sequence[np.ndarray]) -> Places:
    """Of a motion of which every stage of every phase takes over from another, no earlier one: for every entry of z, y
    and the parameters of the stages the one whose place it takes. Of those parameters only anchors move.
    """
    y, stage = np.arange(layout.size_y), np.arange(layout.size_stage)
    for rows in layout.constraints:
        first, end = rows.stages
        y[rows.places] = rows.places[np.minimum(stages[rows.phase][first:end], end - 1) - first]
    for phase, later in zip(layout.phases, stages):
        anchors = phase.stage_rows(stage)[:, phase.at_anchors :]
        anchors[:] = anchors[later]
    everywhere = np.arange(layout.size_z)
    z = np.concatenate([_moved(phase, everywhere, later) for phase, later in zip(layout.phases, stages)])
    return z.astype(int), y, stage


def later_stages(layout: Layout, stage_parameters: np.ndarray, steps: int) -> list[np.ndarray]:
    """Of every stage of every phase, the one that is `steps` of the first steps later: the nearest in time, the last
    where there is none so late.
    """
    found = []
    for phase in layout.phases:
        here, lengths = np.arange(phase.steps + 1), phase.step_lengths(stage_parameters)
        times = here if lengths is None else np.concatenate([[0.0], np.cumsum(lengths)])
        wanted = times + times[steps]
        after = np.minimum(np.searchsorted(times, wanted), phase.steps)
        before = np.maximum(after - 1, 0)
        nearest = np.where(np.abs(times[before] - wanted) < np.abs(times[after] - wanted), before, after)
        found.append(np.maximum(nearest, here))
    return found


def _moved(phase: PhaseLayout, vector: np.ndarray, later: np.ndarray) -> np.ndarray:
    """A phase's part of a vector along z, moved on; what is chosen at its end stays."""
    u, x = phase.cut(vector)
    moved = phase.joined(u[np.minimum(later[:-1], phase.steps - 1)], x[later])
    end = phase.steps * (phase.nu + phase.nx)
    moved[end : end + phase.chosen] = vector[phase.at_z + end :][: phase.chosen]
    return moved
