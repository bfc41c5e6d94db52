"""The choice between the methods of constrained forward dynamics and of the Delassus matrix."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ..errors import ModelError
from .constrained.gauss import gauss
from .constrained.ltl import ltl
from .constrained.ltl_soft import ltl_soft
from .constrained.pv import pv
from .constrained.pv_early import pv_early
from .constrained.pv_soft import pv_soft
from .constrained.row_elimination import row_pivots
from .constraints.constraint import Constraint
from .constraints.ground import closes_loop
from .delassus.efpa import efpa
from .delassus.kjr import kjr
from .delassus.ltl_osim import ltl_osim
from .delassus.pv_osim import pv_osim
from .delassus.pv_osim_fast import pv_osim_fast
from .delassus.pv_osimr import pv_osimr
from .free.aba import aba
from .proximal.constrained_aba import ConstrainedABA
from .proximal.iteration import Factorized, solve
from .proximal.lcaba import LCABA
from .proximal.prox_bbo import ProxBBO
from .proximal.prox_ltl import ProxLTL
from .proximal.prox_pv import ProxPV

if TYPE_CHECKING:
    from .model import Model

# The proximal methods, which take dependent rows; those of `LOOP_METHODS` take loops as well.
PROXIMAL: dict[str, type[Factorized]] = {kind.name: kind for kind in (LCABA, ProxBBO, ProxLTL, ConstrainedABA, ProxPV)}


def iterated(kind: type[Factorized]) -> Callable:
    """A proximal method with its default settings as a function like the others."""
    return lambda *problem: solve(kind, *problem)[:2]


FORWARD: dict[str, Callable] = {
    "pv": pv,
    "pv-base": partial(pv, root="primal"),
    "pv-early": pv_early,
    "pv-soft": pv_soft,
    "ltl": ltl,
    "ltl-soft": ltl_soft,
    "riccati": gauss,
    **{name: iterated(kind) for name, kind in PROXIMAL.items()},
}

# The proximal method that is taken when none is named.
DEFAULT_PROXIMAL = "lcaba"

# The methods that only press towards the constraints.
SOFT = ("pv-soft", "ltl-soft")

DELASSUS: dict[str, Callable] = {
    "pv-osim": pv_osim,
    "pv-osim-fast": pv_osim_fast,
    "pv-osimr": pv_osimr,
    "efpa": efpa,
    "kjr": kjr,
    "ltl": ltl_osim,
}


def choose(model: Model, constraints: Sequence[Constraint]) -> tuple[str, str]:
    """The method forward_dynamics takes when none is named, and why."""
    if not constraints:
        return "aba", "there are no constraints"
    if is_proximal(model, constraints, None):
        return (
            DEFAULT_PROXIMAL,
            "the constraints close loops, and it needs the fewest operations of the methods that take them",
        )
    try:
        row_pivots(model, constraints)
    except ModelError as reason:
        return "riccati", f"it takes dependent rows: {reason}"
    return (
        "pv-early",
        "it needs the fewest operations and the rows are independent where the robot is not singular",
    )


def named(methods: dict[str, Callable], method: str) -> Callable:
    """The method of that name; an unknown one is answered with those there are."""
    if method not in methods:
        raise ModelError(f"method is '{method}', expected one of {', '.join(methods)}")
    return methods[method]


def forward_method(model: Model, constraints: Sequence[Constraint], method: str | None) -> Callable:
    """f(model, q, v, tau, constraints, external) -> accelerations, forces."""
    method = choose(model, constraints)[0] if method is None else method
    if method == "aba" or not constraints:
        if method != "aba":
            named(FORWARD, method)
        elif constraints:
            raise ModelError(f"method 'aba' got {len(constraints)} constraints, expected none")
        return lambda model, q, v, tau, constraints, external: (aba(model, q, v, tau, external), [])
    return named(FORWARD, method)


def symbolic_methods(model: Model, constraints: Sequence[Constraint], method: str | None) -> list[Callable]:
    """The methods of which symbols take the one with the fewest operations: just the named one, if one is named; of a
    proximal one its factorization, where none is named the one that bears the largest mu, for the sake of derivatives.
    Dependent rows are for the proximal ones: "riccati" takes numbers alone.
    """
    name = choose(model, constraints)[0] if method is None else method
    if method is None and name == "pv-early":
        return [pv_early, ltl]
    if method is None and (name == "riccati" or name in PROXIMAL):
        return [ProxLTL]
    if constraints and name in PROXIMAL:
        return [PROXIMAL[name]]
    return [forward_method(model, constraints, method)]


def is_proximal(model: Model, constraints: Sequence[Constraint], method: str | None) -> bool:
    """True if forward dynamics takes a proximal method for these constraints."""
    if method is None:
        return any(closes_loop(model, constraint) for constraint in constraints)
    return method in PROXIMAL
