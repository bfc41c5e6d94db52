"""Where a solve may start: a point with its multipliers, of a solution or of one moved on in time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...errors import ProblemError
from ..stages.layout import Layout, PhaseLayout
from .kkt import Point


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
        """Each phase from its stage `steps` on, its last stage and step repeated; multipliers and anchors with it."""
        phases, point = self.layout.phases, self.point
        most = min(phase.steps for phase in phases)
        if isinstance(steps, bool) or not isinstance(steps, (int, np.integer)) or not 0 <= steps <= most:
            raise ProblemError(f"shifted: steps is {steps!r}, expected a whole number from 0 to {most}")
        y, stage_parameters = point.y.copy(), point.stage_parameters.copy()
        for rows in self.layout.constraints:
            y[rows.places] = _later(point.y[rows.places], steps)
        for phase in phases:
            anchors = phase.stage_rows(stage_parameters)[:, phase.at_anchors :]
            anchors[:] = _later(anchors, steps)
        z, w = (np.concatenate([_moved(phase, vector, steps) for phase in phases]) for vector in (point.z, point.w))
        return replace(self, point=replace(point, z=z, w=w, y=y, stage_parameters=stage_parameters))


def _moved(phase: PhaseLayout, vector: np.ndarray, steps: int) -> np.ndarray:
    """A phase's part of a vector along z, moved on; what is chosen at its end stays."""
    u, x = phase.cut(vector)
    moved, end = phase.joined(_later(u, steps), _later(x, steps)), phase.steps * (phase.nu + phase.nx)
    moved[end : end + phase.chosen] = vector[phase.at_z + end :][: phase.chosen]
    return moved


def _later(rows: np.ndarray, steps: int) -> np.ndarray:
    """Rows of stages, each what was `steps` later, the last for all that there is no later one of."""
    return rows[np.minimum(np.arange(len(rows)) + steps, len(rows) - 1)]
