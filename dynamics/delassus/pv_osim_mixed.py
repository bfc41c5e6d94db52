"""PV-OSIM on some stretches and PV-OSIMr on the others: at each branching link whichever needs fewer operations.

Composing pays where more than six rows have a long way to go: over a few joints the rank-one updates of PV-OSIM are
cheaper than the products with a propagator (Sathya 2024b Sec. V-D). Operations are counted, once for each model and
constraints: from none composed, a link composes where that saves some.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import casadi as ca

from ..algebra.arrays import Array
from ..constraints.constraint import Constraint
from ..constraints.ground import sites
from .pv_osimr import composed

if TYPE_CHECKING:
    from ..model import Model

_choices: WeakKeyDictionary[Model, dict[tuple[object, ...], frozenset[int]]] = WeakKeyDictionary()


def pv_osim_mixed(model: Model, q: Array, constraints: Sequence[Constraint]) -> Array:
    """J M^-1 J' (m, m)."""
    known, key = _choices.setdefault(model, {}), tuple(row.key for row in constraints)
    if key not in known:
        known[key] = _cheapest(model, constraints)
    return composed(model, q, constraints, known[key].__contains__)


def _cheapest(model: Model, constraints: Sequence[Constraint]) -> frozenset[int]:
    q = ca.SX.sym("q", model.nq)

    def count(chosen: frozenset[int]) -> int:
        G = ca.cse(ca.SX(composed(model, q, constraints, chosen.__contains__)))
        return ca.Function("G", [q], [ca.tril(G)]).n_instructions()

    best: frozenset[int] = frozenset()
    least = count(best)
    for body in branching(model, constraints):
        more = best | {body}
        if (operations := count(more)) < least:
            best, least = more, operations
    return best


def branching(model: Model, constraints: Sequence[Constraint]) -> list[int]:
    """The bodies at which forces of constraints meet, from the tips inward; a floating base is ground."""
    meeting: dict[int, int] = {}
    for site in sites(model, constraints):
        meeting[site.body] = meeting.get(site.body, 0) + 1
    for i in reversed(range(model.size)):
        if meeting.get(i) and model.parents[i] >= 0:
            meeting[model.parents[i]] = meeting.get(model.parents[i], 0) + 1
    first = 1 if model.has_floating_base else 0
    return [i for i in sorted(meeting, reverse=True) if meeting[i] > 1 and i >= first]
