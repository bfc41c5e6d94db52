"""The methods of the Delassus matrix J M^-1 J', by name, and the choice between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from ...errors import ModelError
from ..algebra.arrays import Array
from ..constraints.constraint import Constraint
from ..methods import has_loops, named, no_inertia
from .efpa import efpa
from .kjr import kjr
from .ltl_osim import ltl_osim
from .pv_osim import pv_osim
from .pv_osim_fast import DelassusOperator, pv_osim_fast
from .pv_osim_mixed import pv_osim_mixed
from .pv_osimr import pv_osimr

if TYPE_CHECKING:
    from ..model import Model

Delassus: TypeAlias = "Callable[[Model, Array, Sequence[Constraint]], Array | DelassusOperator]"

DELASSUS: dict[str, Delassus] = {
    "pv-osim": pv_osim,
    "pv-osim-fast": pv_osim_fast,
    "pv-osimr": pv_osimr,
    "pv-osim-mixed": pv_osim_mixed,
    "efpa": efpa,
    "kjr": kjr,
    "ltl": ltl_osim,
}

# What is taken when no method is named, and what takes loops.
DEFAULT, WITH_LOOPS = "pv-osim", "ltl"


def delassus(model: Model, q: Array, constraints: Sequence[Constraint], method: str | None) -> Array | DelassusOperator:
    """J M^-1 J', or an operator that solves with it."""
    if not constraints:
        raise ModelError("delassus got no constraints, expected at least one")
    loops = has_loops(model, constraints)
    method = (WITH_LOOPS if loops else DEFAULT) if method is None else method
    find = named(DELASSUS, method)
    if loops and method != WITH_LOOPS:
        raise ModelError(f"delassus by '{method}': a constraint closes a loop, expected method '{WITH_LOOPS}' or None")
    try:
        return find(model, q, constraints)
    except ZeroDivisionError:
        if model.massless_joints() or model.impossible_bodies():
            raise ModelError(no_inertia(model)) from None
        raise ModelError(
            f"method '{method}': at this configuration rows depend on each other on each branch by itself, expected "
            "independent ones (method='pv-osim' takes them as they are)"
        ) from None


def delassus_matrix(model: Model, q: Array, constraints: Sequence[Constraint], method: str | None) -> Array:
    """J M^-1 J' itself."""
    found = delassus(model, q, constraints, method)
    if isinstance(found, DelassusOperator):
        raise ModelError(f"method '{method}' gives an operator, expected a method that gives a matrix")
    return found
