"""How far the accelerations of a proximal iteration are from their limit."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..algebra.arrays import Array

# Of a sweep's change of the accelerations, what is rounding.
ROUNDING = 1e-8

# r' B r beside r' r: below this rounding drowns what is left to do in what no force can change.
NEGLIGIBLE = 1e-8


class Measures(NamedTuple):
    """What the estimate is made of, 1 x 1 each or (count,) of a batch: the largest change of the accelerations in the
    last sweep, r' r, r' B r, |B r|^2 of the residual r it started from, and the largest acceleration.
    """

    change: Array
    rr: Array
    rB: Array
    BB: Array
    size: Array


def error_estimate(change: np.ndarray, rr: np.ndarray, rB: np.ndarray, BB: np.ndarray, size: np.ndarray) -> np.ndarray:
    """An estimate of the accelerations' error, relative to the largest or to 1, from numbers of `Measures`.

    The last sweep's change of the accelerations is B times their error in each eigenvector of G; b is the mean of B
    over the residual.
    """
    significant = np.isfinite(change) & (rB > NEGLIGIBLE * rr)
    b = np.clip(np.divide(BB, rB, out=np.full_like(rB, 0.5), where=significant), NEGLIGIBLE, 1 - ROUNDING)
    return change / np.maximum(1.0, size) * (1 - b) / b
