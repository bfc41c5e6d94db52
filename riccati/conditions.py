"""The KKT conditions of a QP at an answer, relative to the terms that are summed there.

No change of units (of the cost, of a variable, of a row) changes the verdict. The sizes, and their names, are those of
`native/src/ocp/judge/judge.hpp`, for rows that are linear; every entry is a variable of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .problem import Array, LQProblem

if TYPE_CHECKING:
    from .quadratic_program import QPSolution

SMALL = 1e-4  # share of what is large elsewhere that counts where all terms are zero
NOTICED = 1e-2  # share of the largest |z| of all that an equality feels
ROUNDED = 1e-5  # share of the cost below which its slopes are rounding
NO_COST = 1e-12  # the least scale of a cost that has slopes


@dataclass(frozen=True)
class StageRows:
    """The limits of a stage, as arrays: of x, of u, and of the rows Cx x + Cu u."""

    x: tuple[Array, Array]
    u: tuple[Array, Array]
    Cx: Array
    Cu: Array
    c: tuple[Array, Array]


@dataclass(frozen=True)
class QPResidual:
    """How far an answer is from the KKT conditions: the largest entry of each, relative to the terms summed there."""

    stationarity: float
    dynamics: float
    equalities: float
    limits: float
    complementarity: float

    @property
    def worst(self) -> float:
        """The largest of all; NaN where one is."""
        return float(np.max([self.stationarity, self.dynamics, self.equalities, self.limits, self.complementarity]))


class Rows(NamedTuple):
    """M z[places] + constant, multipliers y, and limits where they are no equalities."""

    kind: str
    places: np.ndarray
    M: Array
    constant: Array
    y: Array
    limits: tuple[Array, Array] | None = None


def measure(problem: LQProblem, limits: Sequence[StageRows], answer: QPSolution) -> tuple[QPResidual, Array]:
    """How far an answer is from the conditions, and the slopes of f + y g along (u, x) of all stages."""
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        return _measure(problem, limits, answer)


def _measure(problem: LQProblem, limits: Sequence[StageRows], answer: QPSolution) -> tuple[QPResidual, Array]:
    z = _joined(answer.u, answer.x)
    w = _joined(answer.u_multipliers, answer.x_multipliers)
    low, high = (_joined([r.u[side] for r in limits], [r.x[side] for r in limits]) for side in (0, 1))
    size_z, most = np.abs(z), float(np.abs(z).max(initial=1.0))
    slope, size, bent, curvature, cost_terms, cost_size = _cost(problem, z)
    costless = not slope.any()
    matters = np.full(len(z), np.inf)
    size = size + np.abs(w)
    rows = list(_rows(problem, limits, answer))
    for each in rows:
        slopes = np.abs(each.M)
        np.add.at(slope, each.places, each.M.T @ each.y)
        np.add.at(size, each.places, slopes.T @ np.abs(each.y))
        sizes = slopes @ size_z[each.places] + np.abs(each.constant)
        with_row = np.where(slopes > 0, sizes[:, None] / np.where(slopes > 0, slopes, 1.0), np.inf)
        np.minimum.at(matters, each.places, with_row.min(axis=0, initial=np.inf))
    steepest = max(float((size * size_z).max(initial=0.0)), NO_COST)
    natural = np.where(np.isfinite(matters), matters, 0.0)
    reach = np.maximum(size_z, SMALL * np.where(natural > 0, np.clip(natural, 1.0, most), most))
    felt = np.maximum(reach, NOTICED * most)
    least = max(SMALL * steepest, ROUNDED * cost_size, float((curvature * (SMALL * natural) ** 2).max(initial=0.0)))
    cost = 1.0 if costless else max(min(cost_terms, cost_size), least)
    size_bound = _minded(size_z, reach, w, cost)
    error = np.abs(slope + w)
    if problem.initial_state is not None:
        error[problem.stages[0].nu :][: problem.stages[0].nx] = 0.0
    found = {
        "stationarity": _largest(_share(error, np.maximum(size + bent, 1.0 if costless else least / reach))),
        "limits": _largest(_share(_outside(z, low, high), size_bound)),
        "complementarity": _largest(_pressing(z, w, low, high, size_bound, cost)),
        "dynamics": 0.0,
        "equalities": 0.0,
    }
    for each in rows:
        value, slopes = each.M @ z[each.places] + each.constant, np.abs(each.M)
        sizes, constant = slopes @ size_z[each.places] + np.abs(each.constant), np.abs(each.constant)
        if each.limits is None:
            reached = SMALL * (slopes @ felt[each.places] + constant)
            sizes = _minded(sizes, reached, np.where(value != 0.0, each.y, 0.0), cost)
            found[each.kind] = max(found[each.kind], _largest(_share(np.abs(value), sizes)))
            continue
        sizes = _minded(sizes, slopes @ reach[each.places] + constant, each.y, cost)
        found["limits"] = max(found["limits"], _largest(_share(_outside(value, *each.limits), sizes)))
        products = _pressing(value, each.y, *each.limits, sizes, cost)
        found["complementarity"] = max(found["complementarity"], _largest(products))
    return QPResidual(**found), slope


def _joined(u: Sequence[Array], x: Sequence[Array]) -> Array:
    return np.concatenate([np.zeros(0), *(part for pair in zip(u, x) for part in pair)])


def _cost(problem: LQProblem, z: Array) -> tuple[Array, Array, Array, Array, float, float]:
    """f', |f'|, |H| |z|, the diagonal of |H|, and the cost's terms: sums of |f' z| and of |f| over the stages."""
    slope, bent, curvature, size, at = np.zeros(len(z)), np.zeros(len(z)), np.zeros(len(z)), 0.0, 0
    for s in problem.stages:
        here = slice(at, at + s.nu + s.nx)
        at = here.stop
        H, h = np.block([[s.R, s.S.T], [s.S, s.Q]]), np.concatenate([s.r, s.q])
        slope[here], bent[here], curvature[here] = H @ z[here] + h, np.abs(H) @ np.abs(z[here]), np.abs(np.diag(H))
        size += abs(float(0.5 * z[here] @ H @ z[here] + h @ z[here]))
    return slope, np.abs(slope), bent, curvature, float(np.abs(slope) @ np.abs(z)), size


def _rows(problem: LQProblem, limits: Sequence[StageRows], answer: QPSolution) -> Iterator[Rows]:
    starts = np.cumsum([0, *(s.nu + s.nx for s in problem.stages)])
    for k, (s, rows) in enumerate(zip(problem.stages, limits)):
        here = np.arange(starts[k], starts[k + 1])
        yield Rows("equalities", here, np.hstack([s.Gu, s.Gx]), s.g, answer.multipliers[k])
        C = np.hstack([rows.Cu, rows.Cx])
        yield Rows("limits", here, C, np.zeros(len(C)), answer.row_multipliers[k], rows.c)
        if s.parent is not None and s.b is not None:
            before = np.arange(starts[s.parent], starts[s.parent + 1])
            M = np.hstack([s.E, -np.eye(s.nx)])
            yield Rows("dynamics", np.concatenate([before, here[s.nu :]]), M, s.b, answer.costates[k])


def _outside(value: Array, lower: Array, upper: Array) -> Array:
    return np.maximum(np.maximum(lower - value, value - upper), 0.0)


def _pressing(value: Array, multiplier: Array, lower: Array, upper: Array, size: Array, cost: float) -> Array:
    """The product of multiplier and gap, relative to the cost; a value right on its limit is complementary."""
    gap = np.maximum(np.where(multiplier > 0, upper - value, value - lower), 0.0)
    pressure = np.abs(multiplier)
    products = np.minimum(pressure * np.minimum(gap, size) / cost, gap / np.where(size > 0, size, np.inf))
    return np.where((pressure == 0) | (gap == 0), 0.0, products)


def _minded(size: Array, reached: Array, multiplier: Array, cost: float) -> Array:
    """What an error is compared with: its terms, or, where that is more and the cost does not mind, what they are small
    against.
    """
    pressing = multiplier != 0.0
    allowed = np.where(pressing, cost / np.where(pressing, np.abs(multiplier), 1.0), np.inf)
    return np.maximum(size, np.minimum(reached, allowed))


def _share(error: Array, size: Array) -> Array:
    """Nothing is off by nothing, whatever its size."""
    return np.where(error == 0.0, 0.0, error / np.where(error == 0.0, 1.0, size))


def _largest(entries: Array) -> float:
    return float(np.max(entries, initial=0.0))
