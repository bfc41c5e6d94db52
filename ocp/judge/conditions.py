"""The KKT conditions of a problem at a point, computed apart from the solver: by another way than the core's judge, in
which compiler, `adjoint` and core have no part. For `Solution.check()`, for the answers of other solvers, and to judge
the judge.
"""

from __future__ import annotations

from dataclasses import fields

import casadi as ca
import numpy as np

from ...adjoint import solved
from ...cached import cached_property
from ..stages.layout import Layout
from ..stages.limit_vectors import LimitVectors
from ..stages.stages import Block
from ..stages.transcription import Transcription
from .evaluation import Evaluation
from .made_of import stricter
from .relative import relative_residual
from .residual import Measured, Point, Residual, Sums, measured_at
from .term_sizes import sizes_at
from .unsolved import Unsolved, by_casadi, left_of


class Conditions:
    """The conditions of one problem."""

    def __init__(self, transcription: Transcription, layout: Layout):
        self.transcription, self.layout = transcription, layout
        self.evaluation = Evaluation(transcription, layout)

    def residual(self, point: Point, limits: LimitVectors) -> Residual:
        """How far a point is from the conditions; NaN where a function is not finite."""
        unknown = Residual(*[np.nan] * len(fields(Residual)))
        left = self._unsolved.at(point)
        return measured_at(self.transcription, self.layout, point, limits, self.sums(point), unknown, left).residual

    def measure(self, point: Point, limits: LimitVectors) -> Measured:
        """The conditions at a point, also relative to the terms; NaN where a function is not finite."""
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            sums = self.sums(point)
            sums = sums._replace(objective=sums.objective + limits.cost(limits.excess(sums.rows)))
            sizes = sizes_at(self.evaluation, point, sums, limits)
            relative = relative_residual(self.layout, self.transcription.fixed_z, point, limits, sums, sizes)
            left = self._unsolved.at(point)
            measured = measured_at(self.transcription, self.layout, point, limits, sums, relative, left)
            return stricter(self.transcription, self.layout, point, measured)

    @cached_property
    def _unsolved(self) -> Unsolved:
        batches = [by_casadi(left_of(block)) for block in self.transcription.blocks]
        return Unsolved(self.transcription, self.layout, batches)

    def sums(self, point: Point) -> Sums:
        """f, g, and the slopes of f + y'g."""
        x_places = self.evaluation.x_places
        objective, later = 0.0, slice(len(x_places))
        g, slope = np.zeros(self.layout.size_y), np.zeros_like(point.z)
        for i, block in enumerate(self.evaluation.blocks):
            rows, gradient = self.evaluation.call(_sums_of, i, point)
            objective += float(rows[:, : block.head].sum())
            g[self.evaluation.places[i]] = rows[:, block.head :]
            slope[self.transcription.run(block)] += gradient.ravel()
        g[later] -= point.z[x_places]
        slope[x_places] -= point.y[later]
        return Sums(objective, g, slope)

    def first_fault(self, point: Point) -> tuple[int, int, int]:
        """Block, stage and -1, for any row, of the first value or slope that is not finite; -1 thrice where all are."""
        for i, block in enumerate(self.evaluation.blocks):
            parts = self.evaluation.call(_sums_of, i, point)
            finite = np.all([np.isfinite(part).all(axis=1) for part in parts], axis=0)
            if not finite.all():
                return i, block.stages[int(np.argmin(finite))], -1
        return -1, -1, -1

    def inputs(self, block: Block, point: Point) -> list[np.ndarray]:
        """The inputs of a block's functions, a row a stage; the shared parameters are one row."""
        return self.evaluation.inputs(block, point)


def _sums_of(block: Block) -> ca.Function:
    """(inputs of a block, weights of its rows) -> rows, slope of their weighted sum."""
    rows, z = block.smooth_rows, ca.vertcat(*block.inputs[:2])
    weights = ca.SX.sym("weight", rows.numel())
    slope = ca.densify(ca.jtimes(rows, z, weights, True))
    return ca.Function("sums", [*block.inputs, weights], [solved(rows), solved(slope)])
