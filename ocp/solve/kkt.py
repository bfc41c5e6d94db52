"""The KKT conditions of a problem at a point, recomputed apart from the solver.

    minimise f(z)   with   l <= g(z) <= h : y   and   zl <= z <= zh : w        (vectors as in `layout`)
    stationarity    f'(z) + g'(z)' y + w = 0
    complementarity y, w > 0 only on an upper limit, < 0 only on a lower one

Everything is in the units of the statement, and a second time relative to the size of the terms that are summed there,
at this very point: of a row |g'(z)| |z| + |g(z) - g'(z) z|, of a slope |f'(z)| + |g'(z)|' |y| + |w|, at least 1.
Nothing that a solver chose has a part in it. The functions come from an evaluator: the solver's machine code, quick
enough to judge every solve, or CasADi alone, in which compiler, `adjoint` and core have no part.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import NamedTuple

import casadi as ca
import numpy as np

from ..stages.layout import Layout, block_places
from ..stages.limit_vectors import LimitVectors
from ..stages.stages import Block
from ..stages.transcription import Transcription
from ..statement.terms import CONSTRAINTS, Kind


class Sample(NamedTuple):
    """A block's functions on its stages, a row a stage: their rows, and the gradient of the rows' weighted sum.

    Of both, the size of the terms that were summed.
    """

    rows: np.ndarray
    slope: np.ndarray
    row_sizes: np.ndarray
    slope_sizes: np.ndarray


# the inputs of a block and a weight for each of its rows, a row a stage
Evaluator = Callable[[list[np.ndarray], np.ndarray], Sample]

SLACK = 10.0  # rounding and the order of sums may set two computations of one residual apart by this factor


@dataclass(frozen=True, eq=False)
class Point:
    """Where the conditions are asked: z, multipliers y and w, the shared parameters and those of the stages."""

    z: np.ndarray
    y: np.ndarray
    w: np.ndarray
    shared_parameters: np.ndarray
    stage_parameters: np.ndarray


@dataclass(frozen=True)
class Residual:
    """How far a point is from the KKT conditions: the largest entry of each, in the units of the statement."""

    stationarity: float
    dynamics: float
    equalities: float
    inequalities: float
    bounds: float
    complementarity: float

    @property
    def worst(self) -> float:
        """The largest of all; NaN where one is."""
        return float(np.max([getattr(self, f.name) for f in fields(self)]))

    def __str__(self) -> str:
        lines = [f"{f.name:<16}{getattr(self, f.name):8.1e}" for f in fields(self)]
        return "\n".join(["KKT residual", *lines])


@dataclass(frozen=True, eq=False)
class Measured:
    """Objective and rows g at a point, and the entries of the conditions there.

    residual: their largest, as they are; relative: relative to the size of their terms.
    """

    objective: float
    rows: np.ndarray
    stationarity: np.ndarray
    outside_rows: np.ndarray
    outside_bounds: np.ndarray
    complementarity: np.ndarray
    residual: Residual
    relative: Residual


class Conditions:
    """The conditions of one problem by one evaluator a block."""

    def __init__(self, transcription: Transcription, layout: Layout, evaluators: list[Evaluator]):
        self.transcription, self.layout, self.evaluators = transcription, layout, evaluators
        self.blocks = transcription.blocks
        at, nu, nx = transcription.at_z, transcription.nu, transcription.nx
        later = range(1, transcription.stages)
        self.x_places = np.concatenate([np.zeros(0, int), *(at[k] + nu[k] + np.arange(nx[k]) for k in later)])
        self.places = [block_places(transcription, block) for block in self.blocks]

    def measure(self, point: Point, limits: LimitVectors) -> Measured:
        """The conditions at a point; NaN where a function is not finite."""
        with np.errstate(invalid="ignore", over="ignore"):
            return self._measure(point, limits)

    def _measure(self, point: Point, limits: LimitVectors) -> Measured:
        objective, total = self._evaluate(point)
        g, size_g, size_z = total.rows, _at_least_1(total.row_sizes), _at_least_1(point.z)
        stationarity = np.abs(total.slope + point.w)
        stationarity[self.transcription.fixed_z] = 0.0  # what is given has no condition to meet
        of_z, of_y = (limits.z_lower, limits.z_upper), (limits.y_lower, limits.y_upper)
        outside_g, outside_z = _outside(g, *of_y), _outside(point.z, *of_z)
        loose = self.layout.kind(Kind.INEQUALITY)
        of_loose = limits.y_lower[loose], limits.y_upper[loose]
        of_rows = _complementarity(g[loose], point.y[loose], *of_loose)
        of_bounds = _complementarity(point.z, point.w, *of_z)
        complementarity = np.concatenate([of_rows, of_bounds])
        gaps = np.concatenate([
            _gap(g[loose], point.y[loose], *of_loose) / size_g[loose], _gap(point.z, point.w, *of_z) / size_z
        ])  # fmt: skip

        def largest(slope: np.ndarray, rows: np.ndarray, bounds: np.ndarray, products: np.ndarray) -> Residual:
            of_kind = [_largest(rows[self.layout.kind(kind)]) for kind in CONSTRAINTS]
            return Residual(*[_largest(slope), *of_kind, _largest(bounds), _largest(products)])

        residual = largest(stationarity, outside_g, outside_z, complementarity)
        relative = largest(
            stationarity / _at_least_1(total.slope_sizes + np.abs(point.w)),
            outside_g / size_g,
            outside_z / size_z,
            # a value right on its limit is complementary whatever presses it there
            np.minimum(complementarity / max(1.0, abs(objective)), gaps),
        )
        return Measured(objective, g, stationarity, outside_g, outside_z, complementarity, residual, relative)

    def _evaluate(self, point: Point) -> tuple[float, Sample]:
        """f; g and the gradient of f + y'g, with the size of their terms."""
        z, later = point.z, slice(len(self.x_places))
        objective = 0.0
        g, slope = np.zeros(self.layout.size_y), np.zeros_like(z)
        size_g, size_slope = np.zeros_like(g), np.zeros_like(z)
        for block, places, evaluate in zip(self.blocks, self.places, self.evaluators):
            run = self.transcription.run(block)
            weights = point.y[places]
            if block.count(Kind.OBJECTIVE):
                weights = np.hstack([np.ones((len(places), 1)), weights])
            rows, gradient, row_sizes, slope_sizes = evaluate(self.inputs(block, point), weights)
            if block.count(Kind.OBJECTIVE):
                objective += float(rows[:, 0].sum())
                rows, row_sizes = rows[:, 1:], row_sizes[:, 1:]
            g[places], size_g[places] = rows, row_sizes
            slope[run] += gradient.ravel()
            size_slope[run] += slope_sizes.ravel()
        g[later] -= z[self.x_places]
        size_g[later] += np.abs(z[self.x_places])
        slope[self.x_places] -= point.y[later]
        size_slope[self.x_places] += np.abs(point.y[later])
        return objective, Sample(g, slope, size_g, size_slope)

    def inputs(self, block: Block, point: Point) -> list[np.ndarray]:
        """The inputs of a block's functions, a row a stage; the shared parameters are one row."""
        phases, stages = self.transcription.phases, block.stages
        phase = self.layout.phases[phases.index(block.phase)]
        here = point.z[self.transcription.run(block)].reshape(len(stages), -1)
        width = here.shape[1] - phase.nx
        first = stages[0] - phase.first
        of_stages = phase.of_stages(point.stage_parameters)[first : first + len(stages)]
        of_children = np.zeros((len(stages), 0))
        if block.entering is not None and block.entering.child_parameters.numel():
            entered = self.layout.phases[phases.index(block.entering)]
            first = block.child - entered.first
            of_children = entered.of_stages(point.stage_parameters)[first : first + len(stages)]
        shared = point.shared_parameters[None, phase.at_shared : phase.at_shared + phase.shared]
        return [here[:, :width], here[:, width:], shared, of_stages, of_children]


def doubt(measured: Measured, tolerance: float) -> str:
    """What speaks against "solved", as a sentence, or nothing."""
    for part in fields(Residual):
        relative, value = getattr(measured.relative, part.name), getattr(measured.residual, part.name)
        if not relative <= SLACK * tolerance:
            return (
                f"the solver took this point for a solution, but its residual of {part.name}, computed again, is "
                f"{value:.1e}, {relative:.1e} of the terms that are summed there, expected at most {tolerance:.0e}"
            )
    return ""


def plain_evaluator(block: Block) -> Evaluator:
    """A block's rows and slopes by CasADi alone: its derivatives, its evaluation."""
    rows, z = block.plain_rows, ca.vertcat(*block.inputs[:2])
    weights, jacobian = ca.SX.sym("weight", rows.numel()), ca.jacobian(rows, z)
    slope = ca.densify(ca.mtimes(jacobian.T, weights))
    slopes, along = ca.fabs(jacobian), ca.mtimes(jacobian, z)
    sizes = [ca.densify(part) for part in (along, slopes @ ca.fabs(z), slopes.T @ ca.fabs(weights))]
    function = ca.Function("rows_and_slope", [*block.inputs, weights], [rows, slope, *sizes])

    def evaluate(inputs: list[np.ndarray], weights: np.ndarray) -> Sample:
        inputs = [np.broadcast_to(part, (len(weights), part.shape[1])) for part in inputs]
        samples = [function(*each) for each in zip(*inputs, weights)]
        rows, slope, along, size, slope_sizes = (
            np.array([np.array(sample[i]).ravel() for sample in samples]) for i in range(5)
        )
        return Sample(rows, slope, row_sizes_of(rows, along, size), slope_sizes)

    return evaluate


def row_sizes_of(rows: np.ndarray, along: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Of rows whose linear terms add up to `along` and have these sizes: with what is left, as one more term."""
    return sizes + np.abs(rows - along)


def _outside(value: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    return np.maximum(np.maximum(lower - value, value - upper), 0.0)


def _gap(value: np.ndarray, multiplier: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """The distance to the limit that the multiplier presses on, infinite if there is none.

    A value beyond the limit counts as on it: how far beyond is the limit's own residual.
    """
    return np.maximum(np.where(multiplier > 0, upper - value, value - lower), 0.0)


def _complementarity(value: np.ndarray, multiplier: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """|multiplier| times the distance to the limit it presses on, which counts as 1 at most, also if there is none."""
    return np.abs(multiplier) * np.minimum(_gap(value, multiplier, lower, upper), 1.0)


def _at_least_1(entries: np.ndarray) -> np.ndarray:
    return np.maximum(np.abs(entries), 1.0)


def _largest(entries: np.ndarray) -> float:
    return float(entries.max(initial=0.0))
