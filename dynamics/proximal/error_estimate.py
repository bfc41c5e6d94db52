"""How far the accelerations of a proximal iteration are from their limit."""

from __future__ import annotations

from typing import NamedTuple

from ..algebra.arrays import Array, at_least, at_most, where

# Of a sweep's change of the accelerations, what is rounding.
ROUNDING = 1e-8

# r' B r beside r' r: below this rounding drowns what is left to do in what no force can change.
NEGLIGIBLE = 1e-8


class Measures(NamedTuple):
    """What the estimate is made of, 1 x 1 each or (count,) of a batch: the largest change of the accelerations in the
    last sweep, r' r, r' B r, |B r|^2 of the residual r it started from, the largest acceleration, and the largest entry
    of the residual that is left.
    """

    change: Array
    rr: Array
    rB: Array
    BB: Array
    size: Array
    left: Array


def error_estimate(change: Array, rr: Array, rB: Array, BB: Array, size: Array, left: Array) -> Array:
    """An estimate of the accelerations' error, relative to the largest or to 1, from `Measures`.

    The last sweep's change of the accelerations is B times their error in each eigenvector of G; b is the mean of B
    over the residual. Conjugate steps may rest where much is left to do: what forces can still change of the rows is an
    error too.
    """
    significant = rB > NEGLIGIBLE * rr
    mean = where(significant, BB / where(significant, rB, 1.0), 0.5)
    b = at_most(at_least(mean, NEGLIGIBLE), 1 - ROUNDING)
    return at_least(change * (1 - b) / b, where(significant, left, 0.0)) / at_least(size, 1.0)
