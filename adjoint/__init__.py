"""Implicit nodes and their exact derivatives: y(x) defined by a residual g(x, y) = 0. No bodies, no time.

from trisweep.adjoint import expand, implicit
y = implicit("root", y, residual=y**3 + y - x, solution=...)
e = expand(x, vertcat(y * x), multipliers=eta)      # e.values, e.jacobian, e.gradient, e.hessian
"""

from typing import TYPE_CHECKING

from ..errors import NodeError
from ..late import fetched_late
from .derivatives import Beside, Derivatives, Recursion
from .expansion import Expansion, expand, expand_to_compile, solved
from .node import ImplicitNode, implicit, inexact, keep, nodes_of, steplike
from .quadratic import lower_hessian
from .relocation import relocate

if TYPE_CHECKING:
    from .checker import Check, check

__all__ = [
    "Beside",
    "Check",
    "Derivatives",
    "Expansion",
    "ImplicitNode",
    "NodeError",
    "Recursion",
    "check",
    "expand",
    "expand_to_compile",
    "implicit",
    "inexact",
    "keep",
    "lower_hessian",
    "nodes_of",
    "relocate",
    "solved",
    "steplike",
]

_HOMES = {".checker": ("Check", "check")}
__getattr__ = fetched_late(__name__, _HOMES)
