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
from .relative import SMALL, Sizes
from .residual import Point, Sums

NOTICED = 1e-2  # share of the largest |z| of all that an equality, with the terms inside its functions, feels
ROUNDED = 1e-5  # share of the cost below which its slopes are rounding
NO_COST = 1e-12  # the least scale of a cost that has slopes


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


def sizes_at(evaluation: Evaluation, point: Point, sums: Sums, limits: LimitVectors) -> Sizes:
    """The sizes at a point, where functions, rows and slopes are `sums`."""
    layout, x_places = evaluation.layout, evaluation.x_places
    largest, reach, size_z = _reaches(layout, point.z)
    size_g, reach_g, size_slope = np.zeros(layout.size_y), np.zeros(layout.size_y), np.abs(point.w)
    cost, size, costless, later = 0.0, 0.0, True, slice(len(x_places))
    bent, curvature, matters = np.zeros(len(point.z)), np.zeros(len(point.z)), np.full(len(point.z), np.inf)
    felt = np.maximum(reach, NOTICED * np.abs(point.z).max(initial=1.0))
    for i, block in enumerate(evaluation.blocks):
        run, places = evaluation.transcription.run(block), evaluation.places[i]
        head, entered = block.count(Kind.OBJECTIVE), block.count(Kind.DYNAMICS)
        more = [part[run].reshape(len(places), -1) for part in (size_z, reach, felt)]
        sampled = Sampled(*evaluation.call(_sizes_of, i, point, *more))
        rest = np.abs(sampled.rows - sampled.along)[:, head:]
        size_g[places] = sampled.row_sizes[:, head:] + rest
        reach_g[places] = sampled.row_reaches[:, head:] + rest
        size_slope[run] += sampled.slope_sizes.ravel()
        bent[run] += sampled.bent.ravel()
        cost += float(np.sum(np.abs(sampled.cost_slope) * more[0]))
        size += float(np.abs(sampled.rows[:, :head]).sum())
        costless &= not sampled.cost_slope.any()
        curvature[run] += sampled.curvature.ravel()
        slopes = sampled.jacobian.reshape(len(rest), -1, sampled.rows.shape[1])[:, :, head:]
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
    reach_g[later] += felt[x_places]
    size_slope[x_places] += np.abs(point.y[later])
    if costless:
        return Sizes(size_g, reach_g, np.maximum(size_slope + bent, 1.0), 1.0, reach)
    steepest = max(float((size_slope * largest).max(initial=0.0)), NO_COST)
    natural = np.zeros(layout.variables.max(initial=-1) + 1)
    np.maximum.at(natural, layout.variables, np.where(np.isfinite(matters), matters, 0.0))
    flat = float((curvature * (SMALL * natural[layout.variables]) ** 2).max(initial=0.0))
    least = max(SMALL * steepest, ROUNDED * size, flat)
    return Sizes(size_g, reach_g, np.maximum(size_slope + bent, least / reach), max(min(cost, size), least), reach)


def _reaches(layout: Layout, z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Along z: the largest value of the same variable anywhere, Z, and the size of the value as a term."""
    variables, turns = layout.variables, np.array(layout.turns, dtype=int)
    most = np.zeros(variables.max(initial=-1) + 1)
    np.maximum.at(most, variables, np.abs(z))
    most[turns] = np.maximum(most[turns], 1.0)
    size = np.where(np.isin(variables, turns), 1.0, np.abs(z))
    return most[variables], np.maximum(most[variables], SMALL * np.abs(z).max(initial=1.0)), size


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
