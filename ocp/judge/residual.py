"""How far a point is from the KKT conditions of a problem, and what speaks against calling it solved.

    minimise f(z)   with   l <= g(z) <= h : y   and   zl <= z <= zh : w        (vectors as in `layout`)
    stationarity    f'(z) + g'(z)' y + w = 0                 H = f'' + y g''
    complementarity y, w > 0 only on an upper limit, < 0 only on a lower one

Everything is in the units of the statement, and a second time relative to the size of the terms that are summed there,
at this very point: native/src/ocp/judge/judge.hpp states the rule and judges the core's answers by it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import NamedTuple

import numpy as np

from ..stages.layout import Layout
from ..stages.limit_vectors import LimitVectors
from ..stages.transcription import Transcription
from ..statement.costs_and_constraints.terms import CONSTRAINTS

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

    residual: their largest, as they are; relative: relative to the size of their terms. left: of implicit nodes, where
    their solutions may miss; a part of the dynamics' residual.
    """

    objective: float
    rows: np.ndarray
    stationarity: np.ndarray
    outside_rows: np.ndarray
    outside_bounds: np.ndarray
    complementarity: np.ndarray
    residual: Residual
    relative: Residual
    left: Left | None = None


class Left(NamedTuple):
    """What solutions of implicit nodes leave of their residuals: the largest entry, the largest beside its own terms,
    and where that is, in words.
    """

    error: float
    relative: float
    where: str = ""


class Sums(NamedTuple):
    """f, the rows g and the gradient of f + y'g."""

    objective: float
    rows: np.ndarray
    slope: np.ndarray


def measured_at(
    transcription: Transcription,
    layout: Layout,
    point: Point,
    limits: LimitVectors,
    sums: Sums,
    relative: Residual,
    left: Left | None,
) -> Measured:
    """What follows from the sums at a point. relative: as a judge has it, without what nodes have `left`."""
    g = sums.rows
    above, below = beside_price(g, point.y, limits)
    with np.errstate(invalid="ignore"):
        stationarity = np.abs(sums.slope + point.w)
        stationarity[transcription.fixed_z] = 0.0  # what is given has no condition to meet
        outside_g = outside(g, limits.y_lower, limits.y_upper)
        outside_g[limits.soft] = 0.0
        outside_z = outside(point.z, limits.z_lower, limits.z_upper)
        loose = layout.limited
        gaps = np.concatenate([
            gap_to_limit(g[loose], point.y[loose], limits.y_lower[loose], limits.y_upper[loose]),
            gap_to_limit(point.z, point.w, limits.z_lower, limits.z_upper),
        ])  # fmt: skip
        # the distance counts as 1 at most, also where there is no limit
        complementarity = np.abs(np.concatenate([point.y[loose], point.w])) * np.minimum(gaps, 1.0)
        soft = limits.soft - loose.start
        complementarity[soft] = np.maximum(complementarity[soft], below * np.minimum(limits.excess(g), 1.0))
    slopes = np.concatenate([stationarity, above])
    residual = largest_of(layout, slopes, outside_g, outside_z, complementarity)
    if left is not None:
        residual = replace(residual, dynamics=float(np.maximum(residual.dynamics, left.error)))
        relative = replace(relative, dynamics=float(np.maximum(relative.dynamics, left.relative)))
    return Measured(sums.objective, g, stationarity, outside_g, outside_z, complementarity, residual, relative, left)


def doubt(measured: Measured, tolerance: float) -> str:
    """What speaks against "solved", as a sentence, or nothing."""
    for part in fields(Residual):
        relative, value = getattr(measured.relative, part.name), getattr(measured.residual, part.name)
        if not relative <= SLACK * tolerance:
            if part.name == "dynamics" and (unsolved := doubt_of_nodes(measured, tolerance)):
                return unsolved
            return (
                f"the solver took this point for a solution, but its residual of {part.name}, computed again, is "
                f"{value:.1e}, {relative:.1e} of the terms that are summed there, expected at most {tolerance:.0e}"
            )
    return ""


def doubt_of_nodes(measured: Measured, tolerance: float) -> str:
    """The same of implicit nodes alone."""
    left = measured.left
    if left is None or left.relative <= SLACK * tolerance:
        return ""
    return (
        f"the solver took this point for a solution, but the equation of {left.where} is not solved there: its "
        f"iterations leave {left.error:.1e}, {left.relative:.1e} of the terms that are summed in it, expected at most "
        f"{tolerance:.0e}; take smaller steps, or start from another guess"
    )


def outside(value: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    return np.maximum(np.maximum(lower - value, value - upper), 0.0)


def gap_to_limit(value: np.ndarray, multiplier: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """The distance to the limit that the multiplier presses on, infinite if there is none.

    A value beyond the limit counts as on it: how far beyond is the limit's own residual.
    """
    return np.maximum(np.where(multiplier > 0, upper - value, value - lower), 0.0)


def beside_price(g: np.ndarray, y: np.ndarray, limits: LimitVectors) -> tuple[np.ndarray, np.ndarray]:
    """Of the rows with soft limits: by how much a multiplier is above the price there, and below it."""
    soft, excess = limits.soft, limits.excess(g)
    outward = np.where(g[soft] > limits.y_upper[soft], y[soft], -y[soft])
    pressure, price = np.where(excess > 0, outward, np.abs(y[soft])), limits.price(excess)
    return np.maximum(pressure - price, 0.0), np.maximum(price - pressure, 0.0)


def largest_of(
    layout: Layout, slope: np.ndarray, rows: np.ndarray, bounds: np.ndarray, products: np.ndarray
) -> Residual:
    of_kind = [_largest(rows[layout.kind(kind)]) for kind in CONSTRAINTS]
    return Residual(*[_largest(slope), *of_kind, _largest(bounds), _largest(products)])


def _largest(entries: np.ndarray) -> float:
    return float(entries.max(initial=0.0))
