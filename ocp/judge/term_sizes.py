"""The sizes of the terms that each KKT condition sums at a point, by CasADi alone."""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca
import numpy as np

from ...adjoint import solved
from ..stages.layout import Layout
from ..stages.limit_vectors import LimitVectors
from ..stages.stages import Block
from ..statement.costs_and_constraints.terms import Kind
from .evaluation import Evaluation
from .relative import SMALL, TermSizes
from .residual import Point, Sums

OWN = 100.0  # times what a row is made of: the largest that its terms count as
NOTICED = 1e-2  # share of the largest |z| of all that an equality, with the terms inside its functions, feels
ROUNDED = 1e-5  # share of the cost below which its slopes are rounding
NO_COST = 1e-12  # the least scale of a cost that has slopes
AT_REST = 1e-12  # values, and terms beside them, that are zero but for rounding


class Sampled(NamedTuple):
    """What CasADi says of a block, a row a stage; slopes of the cost apart."""

    rows: np.ndarray
    slope: np.ndarray
    along: np.ndarray
    row_sizes: np.ndarray
    slope_sizes: np.ndarray
    bent: np.ndarray
    cost_slope: np.ndarray
    curvature: np.ndarray
    jacobian: np.ndarray


def sizes_at(evaluation: Evaluation, point: Point, sums: Sums, limits: LimitVectors) -> TermSizes:
    """The sizes at a point, where functions, rows and slopes are `sums`."""
    layout, x_places = evaluation.layout, evaluation.x_places
    largest, size_z = _largest(layout, point.z)
    size_g, rest_g, size_slope = np.zeros(layout.size_y), np.zeros(layout.size_y), np.abs(point.w)
    made_of = size_z[x_places]
    cost, size, costless, later = 0.0, 0.0, True, slice(len(x_places))
    bent, curvature, matters = np.zeros(len(point.z)), np.zeros(len(point.z)), np.full(len(point.z), np.inf)
    slopes_of = []
    for i, block in enumerate(evaluation.blocks):
        run, places = evaluation.transcription.run(block), evaluation.places[i]
        head, entered = block.head, block.count(Kind.DYNAMICS)
        here = size_z[run].reshape(len(places), -1)
        sampled = Sampled(*evaluation.call(_sizes_of, i, point, here))
        rest = np.abs(sampled.rows - sampled.along)[:, head:]
        size_g[places] = sampled.row_sizes[:, head:] + rest
        rest_g[places] = rest
        made_of[places[:, :entered]] += np.abs(sampled.rows[:, head : head + entered])
        size_slope[run] += sampled.slope_sizes.ravel()
        bent[run] += sampled.bent.ravel()
        cost += float(np.sum(np.abs(sampled.cost_slope) * here))
        size += float(np.abs(sampled.rows[:, :head]).sum())
        costless &= not sampled.cost_slope.any()
        curvature[run] += sampled.curvature.ravel()
        slopes = sampled.jacobian.reshape(len(rest), -1, sampled.rows.shape[1])[:, :, head:]
        slopes_of.append(slopes)
        size_rows = size_g[places]
        size_rows[:, :entered] += size_z[x_places[places[:, :entered]]]
        with_row = np.where(slopes > 0, size_rows[:, None, :] / np.where(slopes > 0, slopes, 1.0), np.inf)
        matters[run] = np.minimum(matters[run], with_row.min(axis=2, initial=np.inf).ravel())
        entries = x_places[places[:, :entered]].ravel()
        matters[entries] = np.minimum(matters[entries], size_rows[:, :entered].ravel())
    excess = limits.excess(sums.rows)
    cost += float(np.sum(limits.price(excess) * excess))
    size += limits.cost(excess)
    costless &= not np.any(limits.price(excess) * excess > 0)
    size_g[later] += size_z[x_places]
    size_slope[x_places] += np.abs(point.y[later])
    natural = np.zeros(layout.variables.max(initial=-1) + 1)
    np.maximum.at(natural, layout.variables, np.where(np.isfinite(matters), matters, 0.0))
    natural, most = natural[layout.variables], np.abs(point.z).max(initial=1.0)
    reach = np.maximum(largest, SMALL * np.where(natural > 0, np.clip(natural, 1.0, most), most))
    span_g, reach_g = _reaches(evaluation, slopes_of, largest, reach, most)
    largest_g = OWN * np.maximum(np.maximum(made_of, largest[x_places]), SMALL)
    size_g[later] = np.minimum(size_g[later], largest_g)
    reach_g += rest_g
    reach_g[later] = np.minimum(reach_g[later], largest_g / SMALL)
    of_rows = size_g, rest_g + span_g, reach_g
    if costless:
        return TermSizes(*of_rows, np.maximum(size_slope + bent, 1.0), 1.0, largest, reach)
    steepest = max(float((size_slope * largest).max(initial=0.0)), NO_COST)
    resting = np.maximum(natural, largest) < AT_REST
    at_rest = np.minimum(_nearest_limit(limits), _largest_of_all(layout, largest))
    bending = np.where(resting, at_rest, np.minimum(natural, matters))
    flat = float((curvature * (SMALL * bending) ** 2).max(initial=0.0))
    least = max(SMALL * steepest, ROUNDED * size, flat)
    of_slopes = np.maximum(size_slope + bent, least / reach)
    return TermSizes(*of_rows, of_slopes, max(min(cost, size), least), largest, reach)


def _largest_of_all(layout: Layout, largest: np.ndarray) -> float:
    """Of L, but for durations; 1 where all are at rest."""
    found = float(largest[~np.isin(layout.variables, layout.durations)].max(initial=0.0))
    return found if found >= AT_REST else 1.0


def _nearest_limit(limits: LimitVectors) -> np.ndarray:
    """Along z: the nearer limit other than zero, at most 1."""
    both = np.abs(np.stack([limits.z_lower, limits.z_upper]))
    return np.where(both > 0, both, 1.0).min(axis=0, initial=1.0)


def _reaches(
    evaluation: Evaluation, slopes_of: list[np.ndarray], largest: np.ndarray, reach: np.ndarray, most: float
) -> tuple[np.ndarray, np.ndarray]:
    """Of rows: |g'| L, and |g'| Z, in which equalities feel NOTICED of the largest |z| of all."""
    span_g, reach_g = np.zeros(evaluation.layout.size_y), np.zeros(evaluation.layout.size_y)
    felt = np.maximum(reach, NOTICED * most)
    for block, places, slopes in zip(evaluation.blocks, evaluation.places, slopes_of):
        equal, run = slopes.shape[2] - block.count(Kind.INEQUALITY), evaluation.transcription.run(block)
        own, far, near = (
            np.einsum("kzr,kz->kr", slopes, part[run].reshape(slopes.shape[:2])) for part in (largest, reach, felt)
        )
        span_g[places] = own
        reach_g[places] = np.hstack([near[:, :equal], far[:, equal:]])
    reach_g[: len(evaluation.x_places)] += felt[evaluation.x_places]
    return span_g, reach_g


def _largest(layout: Layout, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Along z: L, the largest value of the same variable anywhere, and the size of the value as a term."""
    turns = np.isin(layout.variables, np.array(layout.turns, dtype=int))
    return largest_along(layout, z), np.where(turns, 1.0, np.abs(z))


def largest_along(layout: Layout, z: np.ndarray) -> np.ndarray:
    """L alone."""
    most, turns = np.zeros(layout.variables.max(initial=-1) + 1), np.array(layout.turns, dtype=int)
    np.maximum.at(most, layout.variables, np.abs(z))
    most[turns] = np.maximum(most[turns], 1.0)
    return most[layout.variables]


def _sizes_of(block: Block) -> ca.Function:
    """(inputs, weights, sizes of z) -> what `Sampled` says."""
    rows, z = block.smooth_rows, ca.vertcat(*block.inputs[:2])
    weights, jacobian = ca.SX.sym("weight", rows.numel()), ca.jacobian(rows, z)
    size = ca.SX.sym("size", z.numel())
    slope, slopes = ca.mtimes(jacobian.T, weights), ca.fabs(jacobian)
    curvature = ca.fabs(ca.hessian(ca.dot(rows, weights), z)[0])
    sums = [slope, ca.mtimes(jacobian, z), slopes @ size]
    cost = jacobian[: block.head, :]
    sums += [slopes.T @ ca.fabs(weights), curvature @ size, ca.sum1(cost).T, ca.diag(curvature), ca.vec(slopes)]
    return ca.Function(
        "sizes", [*block.inputs, weights, size], [solved(part) for part in (rows, *(ca.densify(part) for part in sums))]
    )
