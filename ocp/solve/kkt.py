"""The KKT conditions of a problem at a point, computed apart from the solver, by CasADi alone.

    minimise f(z)   with   l <= g(z) <= h : y   and   zl <= z <= zh : w        (vectors as in `layout`)
    stationarity    f'(z) + g'(z)' y + w = 0                 H = f'' + y g''
    complementarity y, w > 0 only on an upper limit, < 0 only on a lower one

Everything is in the units of the statement, and a second time relative to the size of the terms that are summed there,
at this very point: native/src/ocp/judge/judge.hpp states the rule and judges the core's answers by it. Here the same is
computed by another way, in which compiler, `adjoint` and core have no part: for `Solution.check()`, for the answers of
other solvers, and to judge the judge.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import NamedTuple

import casadi as ca
import numpy as np

from ...adjoint import solved
from ..stages.layout import Layout, block_places
from ..stages.limit_vectors import LimitVectors
from ..stages.stages import Block
from ..stages.transcription import Transcription
from ..statement.terms import CONSTRAINTS, Kind

LARGEST = 1e300  # of all numbers that are compared with others: beside what has outgrown it nothing is small
SLACK = 10.0  # rounding and the order of sums may set two computations of one residual apart by this factor
SMALL = 1e-4  # share of what is large elsewhere that counts where all terms are zero
NOTICED = 1e-2  # share of the largest |z| of all that an equality, with the terms inside its functions, feels
ROUNDED = 1e-5  # share of the cost below which its slopes are rounding
NO_COST = 1e-12  # the least scale of a cost that has slopes


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


class Sums(NamedTuple):
    """f, the rows g and the gradient of f + y'g."""

    objective: float
    rows: np.ndarray
    slope: np.ndarray


class Sizes(NamedTuple):
    """Of the terms that are summed: of rows, of rows where every variable is as large as anywhere, of slopes; C."""

    rows: np.ndarray
    row_reaches: np.ndarray
    slopes: np.ndarray
    cost: float


class Sampled(NamedTuple):
    """What CasADi says of a block, a row a stage; slopes of the cost apart."""

    rows: np.ndarray
    slope: np.ndarray
    along: np.ndarray
    row_sizes: np.ndarray
    row_reaches: np.ndarray
    slope_sizes: np.ndarray
    bent: np.ndarray
    cost_slope: np.ndarray
    curvature: np.ndarray
    jacobian: np.ndarray


def measured_at(
    transcription: Transcription, layout: Layout, point: Point, limits: LimitVectors, sums: Sums, relative: Residual
) -> Measured:
    """What follows from the sums at a point. relative: as a judge has it."""
    g = sums.rows
    above, below = _beside_price(g, point.y, limits)
    with np.errstate(invalid="ignore"):
        stationarity = np.abs(sums.slope + point.w)
        stationarity[transcription.fixed_z] = 0.0  # what is given has no condition to meet
        outside_g = _outside(g, limits.y_lower, limits.y_upper)
        outside_g[limits.soft] = 0.0
        outside_z = _outside(point.z, limits.z_lower, limits.z_upper)
        loose = layout.kind(Kind.INEQUALITY)
        gaps = np.concatenate([
            _gap(g[loose], point.y[loose], limits.y_lower[loose], limits.y_upper[loose]),
            _gap(point.z, point.w, limits.z_lower, limits.z_upper),
        ])  # fmt: skip
        # the distance counts as 1 at most, also where there is no limit
        complementarity = np.abs(np.concatenate([point.y[loose], point.w])) * np.minimum(gaps, 1.0)
        soft = limits.soft - loose.start
        complementarity[soft] = np.maximum(complementarity[soft], below * np.minimum(limits.excess(g), 1.0))
    slopes = np.concatenate([stationarity, above])
    residual = _largest_of(layout, slopes, outside_g, outside_z, complementarity)
    return Measured(sums.objective, g, stationarity, outside_g, outside_z, complementarity, residual, relative)


class Conditions:
    """The conditions of one problem."""

    def __init__(self, transcription: Transcription, layout: Layout):
        self.transcription, self.layout = transcription, layout
        self.blocks = transcription.blocks
        at, nu, nx = transcription.at_z, transcription.nu, transcription.nx
        later = range(1, transcription.stages)
        self.x_places = np.concatenate([np.zeros(0, int), *(at[k] + nu[k] + np.arange(nx[k]) for k in later)])
        self.places = [block_places(transcription, block) for block in self.blocks]
        self._sums: dict[int, ca.Function] = {}
        self._sizes: dict[int, ca.Function] = {}

    def residual(self, point: Point, limits: LimitVectors) -> Residual:
        """How far a point is from the conditions; NaN where a function is not finite."""
        unknown = Residual(*[np.nan] * len(fields(Residual)))
        return measured_at(self.transcription, self.layout, point, limits, self.sums(point), unknown).residual

    def measure(self, point: Point, limits: LimitVectors) -> Measured:
        """The conditions at a point, also relative to the terms; NaN where a function is not finite."""
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            sums = self.sums(point)
            sums = sums._replace(objective=sums.objective + limits.cost(limits.excess(sums.rows)))
            relative = self._relative(point, limits, sums)
            return measured_at(self.transcription, self.layout, point, limits, sums, relative)

    def sums(self, point: Point) -> Sums:
        """f, g, and the slopes of f + y'g."""
        objective, later = 0.0, slice(len(self.x_places))
        g, slope = np.zeros(self.layout.size_y), np.zeros_like(point.z)
        for i, block in enumerate(self.blocks):
            if i not in self._sums:
                self._sums[i] = _sums_of(block)
            rows, gradient = self._call(self._sums[i], i, point)
            objective += float(rows[:, : block.count(Kind.OBJECTIVE)].sum())
            g[self.places[i]] = rows[:, block.count(Kind.OBJECTIVE) :]
            slope[self.transcription.run(block)] += gradient.ravel()
        g[later] -= point.z[self.x_places]
        slope[self.x_places] -= point.y[later]
        return Sums(objective, g, slope)

    def first_fault(self, point: Point) -> tuple[int, int, int]:
        """Block, stage and -1, for any row, of the first value or slope that is not finite; -1 thrice where all are."""
        self.sums(point)
        for i, block in enumerate(self.blocks):
            finite = np.all([np.isfinite(part).all(axis=1) for part in self._call(self._sums[i], i, point)], axis=0)
            if not finite.all():
                return i, block.stages[int(np.argmin(finite))], -1
        return -1, -1, -1

    def _call(self, function: ca.Function, i: int, point: Point, *more: np.ndarray) -> list[np.ndarray]:
        """A function of a block's inputs, weights, and rows of further inputs, on all its stages."""
        weights = point.y[self.places[i]]
        if self.blocks[i].count(Kind.OBJECTIVE):
            weights = np.hstack([np.ones((len(weights), 1)), weights])
        given = [*self.inputs(self.blocks[i], point), weights, *more]
        given = [np.broadcast_to(part, (len(weights), part.shape[1])) for part in given]
        answers = [function(*each) for each in zip(*given)]
        return [np.array([np.array(answer[j]).ravel() for answer in answers]) for j in range(function.n_out())]

    # --- relative to the terms

    def _relative(self, point: Point, limits: LimitVectors, sums: Sums) -> Residual:
        largest, reach, size_z = self._reaches(point.z)
        sizes = self._measure_sizes(point, sums, size_z, reach, largest, limits)
        g, y, w = sums.rows, point.y, point.w
        error = _outside(g, limits.y_lower, limits.y_upper)
        error[limits.soft] = 0.0
        loose, tight = self.layout.kind(Kind.INEQUALITY), slice(self.layout.kind(Kind.INEQUALITY).start)
        allowed = np.full(len(g), np.inf)
        pressing = (y != 0.0) & (error != 0.0)
        allowed[pressing] = sizes.cost / np.abs(y[pressing])
        size_g = np.maximum(sizes.rows, np.minimum(SMALL * sizes.row_reaches, allowed))
        size_g[loose] = np.maximum(sizes.rows, sizes.row_reaches)[loose]
        assert tight.stop == loose.start
        slope = np.abs(sums.slope + w)
        slope[self.transcription.fixed_z] = 0.0
        products = np.concatenate([
            _pressing(g[loose], y[loose], limits.y_lower[loose], limits.y_upper[loose], size_g[loose], sizes.cost),
            _pressing(point.z, w, limits.z_lower, limits.z_upper, reach, sizes.cost),
        ])  # fmt: skip
        excess, (above, below) = limits.excess(g), _beside_price(g, y, limits)
        price, soft = limits.price(excess), limits.soft - loose.start
        left = np.minimum(below * excess / sizes.cost, excess / np.where(excess > 0, size_g[limits.soft], 1.0))
        left = np.where(below * excess == 0, 0.0, np.minimum(left, below / np.where(price > 0, price, 1.0)))
        products[soft] = np.maximum(products[soft], left)
        slopes = np.concatenate(
            [_share(slope, sizes.slopes), _share(above, np.maximum(price + above, sizes.cost / size_g[limits.soft]))]
        )
        return _largest_of(
            self.layout, slopes, _share(error, size_g),
            _share(_outside(point.z, limits.z_lower, limits.z_upper), reach), products,
        )  # fmt: skip

    def _reaches(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Along z: the largest value of the same variable anywhere, Z, and the size of the value as a term."""
        variables, turns = self.layout.variables, np.array(self.layout.turns, dtype=int)
        most = np.zeros(variables.max(initial=-1) + 1)
        np.maximum.at(most, variables, np.abs(z))
        most[turns] = np.maximum(most[turns], 1.0)
        size = np.where(np.isin(variables, turns), 1.0, np.abs(z))
        return most[variables], np.maximum(most[variables], SMALL * np.abs(z).max(initial=1.0)), size

    def _measure_sizes(
        self,
        point: Point,
        sums: Sums,
        size_z: np.ndarray,
        reach: np.ndarray,
        largest: np.ndarray,
        limits: LimitVectors,
    ) -> Sizes:
        size_g, reach_g, size_slope = np.zeros(self.layout.size_y), np.zeros(self.layout.size_y), np.abs(point.w)
        cost, size, costless, later = 0.0, 0.0, True, slice(len(self.x_places))
        bent, curvature, matters = np.zeros(len(point.z)), np.zeros(len(point.z)), np.full(len(point.z), np.inf)
        felt = np.maximum(reach, NOTICED * np.abs(point.z).max(initial=1.0))
        x_of_row = self.x_places  # the rows of the dynamics come first, in the order of the states
        for i, block in enumerate(self.blocks):
            run, head = self.transcription.run(block), block.count(Kind.OBJECTIVE)
            if i not in self._sizes:
                self._sizes[i] = _sizes_of(block)
            more = [part[run].reshape(len(self.places[i]), -1) for part in (size_z, reach, felt)]
            sampled = Sampled(*self._call(self._sizes[i], i, point, *more))
            rest = np.abs(sampled.rows - sampled.along)[:, head:]
            size_g[self.places[i]] = sampled.row_sizes[:, head:] + rest
            reach_g[self.places[i]] = sampled.row_reaches[:, head:] + rest
            size_slope[run] += sampled.slope_sizes.ravel()
            bent[run] += sampled.bent.ravel()
            cost += float(np.sum(np.abs(sampled.cost_slope) * more[0]))
            size += float(np.abs(sampled.rows[:, :head]).sum())
            costless &= not sampled.cost_slope.any()
            curvature[run] += sampled.curvature.ravel()
            slopes = sampled.jacobian.reshape(len(rest), -1, sampled.rows.shape[1])[:, :, head:]
            size_rows = size_g[self.places[i]]
            entered = block.count(Kind.DYNAMICS)
            size_rows[:, :entered] += size_z[x_of_row[self.places[i][:, :entered]]]
            with_row = np.where(slopes > 0, size_rows[:, None, :] / np.where(slopes > 0, slopes, 1.0), np.inf)
            matters[run] = np.minimum(matters[run], with_row.min(axis=2, initial=np.inf).ravel())
            entries = x_of_row[self.places[i][:, :entered]].ravel()
            matters[entries] = np.minimum(matters[entries], size_rows[:, :entered].ravel())
        excess = limits.excess(sums.rows)
        cost += float(np.sum(limits.price(excess) * excess))
        size += limits.cost(excess)
        costless &= not np.any(limits.price(excess) * excess > 0)
        size_g[later] += size_z[self.x_places]
        reach_g[later] += felt[self.x_places]
        size_slope[self.x_places] += np.abs(point.y[later])
        if costless:
            return Sizes(size_g, reach_g, np.maximum(size_slope + bent, 1.0), 1.0)
        steepest = max(float((size_slope * largest).max(initial=0.0)), NO_COST)
        natural = np.zeros(self.layout.variables.max(initial=-1) + 1)
        np.maximum.at(natural, self.layout.variables, np.where(np.isfinite(matters), matters, 0.0))
        flat = float((curvature * (SMALL * natural[self.layout.variables]) ** 2).max(initial=0.0))
        least = max(SMALL * steepest, ROUNDED * size, flat)
        return Sizes(size_g, reach_g, np.maximum(size_slope + bent, least / reach), max(min(cost, size), least))

    def inputs(self, block: Block, point: Point) -> list[np.ndarray]:
        """The inputs of a block's functions, a row a stage; the shared parameters are one row."""
        phases, stages = self.transcription.phases, block.stages
        phase = self.layout.phases[phases.index(block.phase)]
        here = point.z[self.transcription.run(block)].reshape(len(stages), -1)
        width = here.shape[1] - phase.nx
        first = stages[0] - phase.first
        stage_rows = phase.stage_rows(point.stage_parameters)[first : first + len(stages)]
        of_children = np.zeros((len(stages), 0))
        if block.entering is not None and block.entering.child_parameters.numel():
            entered = self.layout.phases[phases.index(block.entering)]
            first = block.child - entered.first
            of_children = entered.stage_rows(point.stage_parameters)[first : first + len(stages)]
        shared = point.shared_parameters[None, phase.at_shared : phase.at_shared + phase.shared]
        return [here[:, :width], here[:, width:], shared, stage_rows, of_children]


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


def _sums_of(block: Block) -> ca.Function:
    """(inputs of a block, weights of its rows) -> rows, slope of their weighted sum."""
    rows, z = block.smooth_rows, ca.vertcat(*block.inputs[:2])
    weights = ca.SX.sym("weight", rows.numel())
    slope = ca.densify(ca.jtimes(rows, z, weights, True))
    return ca.Function("sums", [*block.inputs, weights], [solved(rows), solved(slope)])


def _sizes_of(block: Block) -> ca.Function:
    """(inputs, weights, sizes of z, its reaches for limits and for equalities) -> what `Sampled` says."""
    rows, z = block.smooth_rows, ca.vertcat(*block.inputs[:2])
    weights, jacobian = ca.SX.sym("weight", rows.numel()), ca.jacobian(rows, z)
    size, reach, felt = (ca.SX.sym(name, z.numel()) for name in ("size", "reach", "felt"))
    slope, slopes = ca.mtimes(jacobian.T, weights), ca.fabs(jacobian)
    curvature = ca.fabs(ca.hessian(ca.dot(rows, weights), z)[0])
    equal = rows.numel() - block.count(Kind.INEQUALITY)
    reaches = ca.vertcat(slopes[:equal, :] @ felt, slopes[equal:, :] @ reach)
    sums = [slope, ca.mtimes(jacobian, z), slopes @ size, reaches]
    cost = jacobian[: block.count(Kind.OBJECTIVE), :]
    sums += [slopes.T @ ca.fabs(weights), curvature @ size, ca.sum1(cost).T, ca.diag(curvature), ca.vec(slopes)]
    given = [*block.inputs, weights, size, reach, felt]
    return ca.Function("sizes", given, [solved(part) for part in (rows, *(ca.densify(part) for part in sums))])


def _outside(value: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    return np.maximum(np.maximum(lower - value, value - upper), 0.0)


def _gap(value: np.ndarray, multiplier: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """The distance to the limit that the multiplier presses on, infinite if there is none.

    A value beyond the limit counts as on it: how far beyond is the limit's own residual.
    """
    return np.maximum(np.where(multiplier > 0, upper - value, value - lower), 0.0)


def _pressing(
    value: np.ndarray, multiplier: np.ndarray, lower: np.ndarray, upper: np.ndarray, size: np.ndarray, cost: float
) -> np.ndarray:
    """The product of multiplier and gap, relative to the cost; a value right on its limit is complementary."""
    gap, pressure = _gap(value, multiplier, lower, upper), np.abs(multiplier)
    beside_cost = pressure * np.minimum(gap, size) / cost if not cost > LARGEST else np.full(len(gap), np.inf)
    products = np.minimum(beside_cost, np.where(size > LARGEST, np.inf, gap / np.where(size > 0, size, np.inf)))
    return np.where((pressure == 0) | (gap == 0), 0.0, products)


def _beside_price(g: np.ndarray, y: np.ndarray, limits: LimitVectors) -> tuple[np.ndarray, np.ndarray]:
    """Of the rows with soft limits: by how much a multiplier is above the price there, and below it."""
    soft, excess = limits.soft, limits.excess(g)
    outward = np.where(g[soft] > limits.y_upper[soft], y[soft], -y[soft])
    pressure, price = np.where(excess > 0, outward, np.abs(y[soft])), limits.price(excess)
    return np.maximum(pressure - price, 0.0), np.maximum(price - pressure, 0.0)


def _share(error: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Nothing is off by nothing, whatever its size; what has outgrown all numbers excuses nothing."""
    return np.where(error == 0.0, 0.0, np.where(size > LARGEST, np.inf, error / np.where(error == 0.0, 1.0, size)))


def _largest_of(
    layout: Layout, slope: np.ndarray, rows: np.ndarray, bounds: np.ndarray, products: np.ndarray
) -> Residual:
    of_kind = [_largest(rows[layout.kind(kind)]) for kind in CONSTRAINTS]
    return Residual(*[_largest(slope), *of_kind, _largest(bounds), _largest(products)])


def _largest(entries: np.ndarray) -> float:
    return float(entries.max(initial=0.0))
