"""Where a solve may start: a point with its multipliers, of a solution or of one moved on in time."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...errors import ProblemError
from ..stages.layout import Layout, Span
from .kkt import Point


@dataclass(frozen=True, eq=False)
class Start:
    """A point to start from, `solve(warm_start=...)` or `solve(guess=...)`. It solves nothing."""

    layout: Layout
    point: Point

    @property
    def guess(self) -> dict:
        """The trajectories by name; of several phases, by phase and name."""
        point = self.point
        found = {span.name: span.trajectories(point.z, point.of_stages) for span in self.layout.phases}
        return found if len(found) > 1 else next(iter(found.values()))

    def shifted(self, steps: int) -> Start:
        """The motion from stage `steps` on, its last stage and step repeated; multipliers and anchors with it."""
        if len(self.layout.phases) > 1:
            raise ProblemError("shifted: this motion has several phases, expected a horizon of one")
        span, point = self.layout.phases[0], self.point
        if isinstance(steps, bool) or not isinstance(steps, (int, np.integer)) or not 0 <= steps <= span.steps:
            raise ProblemError(f"shifted: steps is {steps!r}, expected a whole number from 0 to {span.steps}")
        y = point.y.copy()
        for piece in self.layout.pieces:
            y[piece.places] = _later(point.y[piece.places], steps)
        own = span.of_stages(point.of_stages).copy()
        anchors = slice(span.own - sum(column.manifold.anchors for column in span.states), None)
        own[:, anchors] = _later(own[:, anchors], steps)
        z, w = (_moved(span, vector, steps) for vector in (point.z, point.w))
        return replace(self, point=replace(point, z=z, w=w, y=y, of_stages=own.ravel()))


def _moved(span: Span, vector: np.ndarray, steps: int) -> np.ndarray:
    """A vector along z, moved on."""
    u, x = (_later(part, steps) for part in span.cut(vector))
    return np.concatenate([np.hstack([u, x[:-1]]).ravel(), x[-1]])


def _later(rows: np.ndarray, steps: int) -> np.ndarray:
    """Rows of stages, each what was `steps` later, the last for all that there is no later one of."""
    return rows[np.minimum(np.arange(len(rows)) + steps, len(rows) - 1)]
