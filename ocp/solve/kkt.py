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
from ..stages.stages import Block
from ..stages.transcription import Transcription
from .nonlinear_program import plain_rows


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
    """Where the conditions are asked: z, multipliers y and w, the shared parameters and what the stages have apiece."""

    z: np.ndarray
    y: np.ndarray
    w: np.ndarray
    parameters: np.ndarray
    of_stages: np.ndarray


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
        self.z_limits = layout.along_z("lower"), layout.along_z("upper")
        self.y_limits = layout.along_y("lower"), layout.along_y("upper")
        self.kinds = {kind: layout.kind(kind) for kind in ("dynamics", "equality", "inequality")}

    def measure(self, point: Point) -> Measured:
        """The conditions at a point; NaN where a function is not finite."""
        with np.errstate(invalid="ignore", over="ignore"):
            return self._measure(point)

    def _measure(self, point: Point) -> Measured:
        objective, total = self._evaluate(point)
        g, size_g, size_z = total.rows, _at_least_1(total.row_sizes), _at_least_1(point.z)
        stationarity = np.abs(total.slope + point.w)
        outside_g, outside_z = _outside(g, *self.y_limits), _outside(point.z, *self.z_limits)
        loose = self.kinds["inequality"]
        limits = [side[loose] for side in self.y_limits]
        of_rows = _complementarity(g[loose], point.y[loose], *limits)
        of_bounds = _complementarity(point.z, point.w, *self.z_limits)
        complementarity = np.concatenate([of_rows, of_bounds])
        gaps = np.concatenate([
            _gap(g[loose], point.y[loose], *limits) / size_g[loose], _gap(point.z, point.w, *self.z_limits) / size_z
        ])  # fmt: skip

        def largest(slope, rows, bounds, products) -> Residual:
            of_kind = [_largest(rows[self.kinds[kind]]) for kind in ("dynamics", "equality", "inequality")]
            return Residual(_largest(slope), *of_kind, _largest(bounds), _largest(products))

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
            if block.objective is not None:
                weights = np.hstack([np.ones((len(places), 1)), weights])
            rows, gradient, row_sizes, slope_sizes = evaluate(
                self.inputs(block, z, point.parameters, point.of_stages), weights
            )
            if block.objective is not None:
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

    def inputs(self, block: Block, z: np.ndarray, shared: np.ndarray, of_stages: np.ndarray) -> list[np.ndarray]:
        """The inputs of a block's functions, a row a stage; the shared parameters are one row."""
        phases, stages = self.transcription.phases, block.stages
        span = self.layout.phases[phases.index(block.phase)]
        here = z[self.transcription.run(block)].reshape(len(stages), -1)
        width = here.shape[1] - span.nx
        first = stages[0] - span.first
        own = span.of_stages(of_stages)[first : first + len(stages)]
        following = np.zeros((len(stages), 0))
        if block.entering is not None and block.entering.p_next.numel():
            entered = self.layout.phases[phases.index(block.entering)]
            first = block.child - entered.first
            following = entered.of_stages(of_stages)[first : first + len(stages)]
        common = shared[None, span.at_shared : span.at_shared + span.shared]
        return [here[:, :width], here[:, width:], common, own, following]


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


def compiled_evaluator(functions: tuple[ca.Function, ca.Function], compiled: tuple) -> Evaluator:
    """A block's rows and slopes by the solver's machine code."""
    values, derivatives = compiled
    sparsity = functions[1].sparsity_out(0)
    at_row, at_column = (np.array(part, dtype=int) for part in sparsity.get_triplet())
    to_rows, to_columns = (np.zeros((len(at_row), size)) for size in sparsity.shape)
    to_rows[np.arange(len(at_row)), at_row] = 1.0
    to_columns[np.arange(len(at_row)), at_column] = 1.0

    def evaluate(inputs: list[np.ndarray], weights: np.ndarray) -> Sample:
        rows = values.batch(*inputs)
        jacobian, _ = derivatives.batch(*inputs, weights)
        across, along = jacobian * weights[:, at_row], jacobian * np.hstack(inputs[:2])[:, at_column]
        return Sample(
            rows, across @ to_columns, _row_sizes(rows, along @ to_rows, np.abs(along) @ to_rows),
            np.abs(across) @ to_columns,
        )  # fmt: skip

    return evaluate


def plain_evaluator(block: Block) -> Evaluator:
    """A block's rows and slopes by CasADi alone: its derivatives, its evaluation."""
    rows, z = plain_rows(block), ca.vertcat(*block.inputs[:2])
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
        return Sample(rows, slope, _row_sizes(rows, along, size), slope_sizes)

    return evaluate


def _row_sizes(rows: np.ndarray, along: np.ndarray, sizes: np.ndarray) -> np.ndarray:
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
