"""Numbers by their place in a list, inside SX: what a table needs and SX has no operation for.

A lookup is a call of CasADi's linear interpolant on the places 0, 1, 2, ...: in between it means nothing, and at a
place it is the number there, bit by bit. CasADi evaluates it itself; the compiler knows it by its name and reads the
number from memory. It is not to be differentiated: CasADi's forward derivatives of SX with several calls are wrong
(3.8.2). It belongs into the solution of a node without slopes (`adjoint.steplike`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import casadi as ca
import numpy as np

_NAME = re.compile(r"trisweep_lookup_(\d+)")


def lookup(numbers: Sequence[float] | np.ndarray) -> ca.Function:
    """(place) -> number, for whole places from 0 on; at least two finite numbers."""
    found = np.asarray(numbers, dtype=float).ravel()
    name = f"trisweep_lookup_{len(found)}"
    options = {"lookup_mode": ["exact"]}
    return ca.interpolant(name, "linear", [np.arange(len(found), dtype=float)], found, options)


def looked_up(function: ca.Function) -> np.ndarray | None:
    """The numbers of a lookup, as its pickles and files have them too; None for any other function."""
    found = _NAME.fullmatch(function.name())
    if found is None or function.class_name() != "LinearInterpolant":
        return None
    return np.array(function(ca.DM(range(int(found[1]))).T)).ravel()
