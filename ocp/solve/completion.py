"""What a guess leaves out, found from what it says: poses alone become a motion, with the velocities that go through
them and the forces that carry them.

Variables that the guess does not name take steps d, in shares of half their ranges, of Levenberg and Marquardt

    min |r + J d|^2 + DAMPING |d|^2        r: the rows of dynamics and equalities, J: their slopes

within their limits, as long as |r| becomes much less. Damped steps come near soon where little has to change for it,
and are ended before they follow every jerk of the poses: exact fits were the worse guesses (`bench/completed.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csc_array, diags_array, eye_array
from scipy.sparse.linalg import spsolve

from ..judge.evaluation import Evaluation
from ..judge.residual import Point
from ..stages.functions import StageFunctions
from ..stages.layout import Layout
from ..stages.limit_vectors import LimitVectors, StatedLimits
from ..stages.transcription import Transcription
from .inputs import Inputs

DAMPING = 1e-2
MOST_STEPS, SHARES = 10, 0.5 ** np.arange(10)  # how many, and of each what is tried, the first one that helps is taken
WORTHWHILE = 0.9  # of |r|^2: where more is left after a step, it was the last


class EqualRows:
    """The rows that are zero in every solution, those of dynamics first, and their slopes, by the machine code."""

    def __init__(self, transcription: Transcription, layout: Layout, functions: list[StageFunctions]):
        self.evaluation = Evaluation(transcription, layout)
        self.blocks = list(zip(transcription.blocks, functions, self.evaluation.places))
        self.shape = layout.limited.start, layout.size_z
        self._runs = [np.arange(layout.size_z)[transcription.run(block)] for block in transcription.blocks]

    def values(self, point: Point) -> np.ndarray:
        """r (rows,)."""
        rows, states = np.zeros(len(point.y)), self.evaluation.x_places
        for block, functions, places in self.blocks:
            rows[places] = functions.values(self._inputs(block, point))[:, block.head :]
        rows[: len(states)] -= point.z[states]
        return rows[: self.shape[0]]

    def slopes(self, point: Point) -> csc_array:
        """J (rows, variables)."""
        states = self.evaluation.x_places
        entries, rows, columns = [-np.ones(len(states))], [np.arange(len(states))], [states]
        for (block, functions, places), run in zip(self.blocks, self._runs):
            weights = np.zeros((len(places), block.head + places.shape[1]))
            jacobian, _ = functions.derivatives(self._inputs(block, point), weights)
            at_row, at_column = functions.jacobian_places
            costs = np.full((len(places), block.head), self.shape[0])
            here = np.hstack([costs, places])[:, at_row]
            there = run.reshape(len(places), -1)[:, at_column]
            kept = here < self.shape[0]
            entries, rows, columns = [*entries, jacobian[kept]], [*rows, here[kept]], [*columns, there[kept]]
        where = np.concatenate(rows), np.concatenate(columns)
        return csc_array((np.concatenate(entries), where), shape=self.shape)

    def _inputs(self, block: Any, point: Point) -> list[np.ndarray]:
        given = self.evaluation.inputs(block, point)
        return [np.broadcast_to(part, (len(block.stages), part.shape[1])) for part in given]


def complete(
    inputs: Inputs,
    stated: StatedLimits,
    functions: list[StageFunctions],
    guess: Mapping[str, Any],
    start: Mapping[str, ArrayLike] | None,
    parameters: Mapping[str, ArrayLike | Mapping[str, ArrayLike]],
) -> dict[str, Any]:
    """What `Solver.complete` does."""
    layout = inputs.layout
    shared, own = inputs.parameters(parameters)
    z = inputs.guess(guess, own)
    inputs.start(start, z, own)
    limits = stated.at(z, shared, own)
    rows = EqualRows(inputs.transcription, layout, functions)
    begin = Point(z, np.zeros(layout.size_y), np.zeros(0), shared, own)
    z = _fitted(rows, begin, inputs.left_out(guess), limits)
    trajectories = {phase.name: phase.trajectories(z, own) for phase in layout.phases}
    return trajectories if len(trajectories) > 1 else next(iter(trajectories.values()))


def _fitted(rows: EqualRows, point: Point, free: np.ndarray, limits: LimitVectors) -> np.ndarray:
    """z with the entries at `free` moved, as far as that takes rows nearer to zero; not at all where a number on the
    way is not finite.
    """
    lower, upper = limits.z_lower[free], limits.z_upper[free]
    with np.errstate(all="ignore"):
        half = (upper - lower) / 2
        size = np.where(np.isfinite(half), half, 1.0)
        r = rows.values(point)
        for _ in range(MOST_STEPS):
            J = rows.slopes(point)[:, free] @ diags_array(size)
            if not len(free) or not np.isfinite(J.data).all():
                break
            step = size * spsolve(csc_array(J.T @ J + DAMPING * eye_array(len(free))), -(J.T @ r))
            for share in SHARES:
                z = point.z.copy()
                z[free] = np.clip(z[free] + share * step, lower, upper)
                tried = replace(point, z=z)
                left = rows.values(tried)
                if left @ left < r @ r:
                    break
            else:
                break
            worthwhile = left @ left <= WORTHWHILE * (r @ r)
            point, r = tried, left
            if not worthwhile:
                break
    return point.z
