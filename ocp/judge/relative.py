"""The KKT residual relative to the sizes of the terms that are summed in each condition: the rule of
native/src/ocp/judge/judge.hpp.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..stages.layout import Layout
from ..stages.limit_vectors import LimitVectors
from .residual import Point, Residual, Sums, beside_price, gap_to_limit, largest_of, outside

LARGEST = 1e300  # of all numbers that are compared with others: beside what has outgrown it nothing is small
MANY = 300.0  # products of multipliers and gaps, all together, are compared with so many times C
SMALL = 1e-4  # share of what is large elsewhere that counts where all terms are zero


class TermSizes(NamedTuple):
    """Of the terms that are summed: of rows, of rows where every variable is as large as anywhere (L), and as its reach
    Z, of slopes; C; and along z, L and Z.
    """

    rows: np.ndarray
    row_spans: np.ndarray
    row_reaches: np.ndarray
    slopes: np.ndarray
    cost: float
    largest: np.ndarray
    reach: np.ndarray


def relative_residual(
    layout: Layout, fixed_z: np.ndarray, point: Point, limits: LimitVectors, sums: Sums, sizes: TermSizes
) -> Residual:
    """Each condition's largest entry beside its own terms; fixed_z: places in z of what is given, which has none."""
    g, y, w = sums.rows, point.y, point.w
    error = outside(g, limits.y_lower, limits.y_upper)
    error[limits.soft] = 0.0
    loose = layout.limited
    size_g = minded(sizes.rows, SMALL * sizes.row_reaches, np.where(error != 0.0, y, 0.0), sizes.cost)
    own = np.maximum(sizes.rows, sizes.row_spans)[loose]
    size_g[loose] = minded(own, sizes.row_reaches[loose], y[loose], sizes.cost)
    size_z = minded(sizes.largest, sizes.reach, w, sizes.cost)
    slope = np.abs(sums.slope + w)
    slope[fixed_z] = 0.0
    products = np.concatenate([
        _pressing(g[loose], y[loose], limits.y_lower[loose], limits.y_upper[loose], size_g[loose], sizes.cost),
        _pressing(point.z, w, limits.z_lower, limits.z_upper, size_z, sizes.cost),
    ])  # fmt: skip
    excess, (above, below) = limits.excess(g), beside_price(g, y, limits)
    price, soft = limits.price(excess), limits.soft - loose.start
    left = np.minimum(below * excess / sizes.cost, excess / np.where(excess > 0, size_g[limits.soft], 1.0))
    left = np.where(below * excess == 0, 0.0, np.minimum(left, below / np.where(price > 0, price, 1.0)))
    products[soft] = np.maximum(products[soft], left)
    slopes = np.concatenate(
        [share(slope, sizes.slopes), share(above, np.maximum(price + above, sizes.cost / size_g[limits.soft]))]
    )
    outside_z = outside(point.z, limits.z_lower, limits.z_upper)
    products = np.append(products, products.sum() / MANY)
    return largest_of(layout, slopes, share(error, size_g), share(outside_z, size_z), products)


def minded(size: np.ndarray, reached: np.ndarray, multiplier: np.ndarray, cost: float) -> np.ndarray:
    """What an error is compared with: its terms, or, where that is more and the cost does not mind, what they are small
    against.
    """
    pressing = multiplier != 0.0
    allowed = np.where(pressing, cost / np.where(pressing, np.abs(multiplier), 1.0), np.inf)
    return np.maximum(size, np.minimum(reached, allowed))


def _pressing(
    value: np.ndarray, multiplier: np.ndarray, lower: np.ndarray, upper: np.ndarray, size: np.ndarray, cost: float
) -> np.ndarray:
    """The product of multiplier and gap, relative to the cost; a value right on its limit is complementary."""
    gap, pressure = gap_to_limit(value, multiplier, lower, upper), np.abs(multiplier)
    beside_cost = pressure * np.minimum(gap, size) / cost if not cost > LARGEST else np.full(len(gap), np.inf)
    products = np.minimum(beside_cost, np.where(size > LARGEST, np.inf, gap / np.where(size > 0, size, np.inf)))
    return np.where((pressure == 0) | (gap == 0), 0.0, products)


def share(error: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Nothing is off by nothing, whatever its size; what has outgrown all numbers excuses nothing."""
    return np.where(error == 0.0, 0.0, np.where(size > LARGEST, np.inf, error / np.where(error == 0.0, 1.0, size)))
