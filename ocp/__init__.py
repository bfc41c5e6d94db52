"""Optimal-control problems: time, cost, constraints, the solution, many at once.

What solves many problems, or runs loops, is imported when first asked for.
"""

from typing import TYPE_CHECKING

from ..errors import ProblemError
from ..late import fetched_late
from .answer.iteration import Iteration
from .answer.solution import Solution
from .solve.settings import Settings
from .solve.solver import Solver
from .statement.costs_and_constraints.soft import Soft
from .statement.problem import Problem
from .statement.variables import Free

if TYPE_CHECKING:
    from .control.closed_loop import closed_loop
    from .many.executor import solve_many
    from .many.solutions import Solutions
    from .statement.table import Table, table

__all__ = [
    "Free",
    "Iteration",
    "Problem",
    "ProblemError",
    "Settings",
    "Soft",
    "Solution",
    "Solutions",
    "Solver",
    "Table",
    "closed_loop",
    "solve_many",
    "table",
]

_HOMES = {
    ".control.closed_loop": ("closed_loop",),
    ".many.executor": ("solve_many",),
    ".many.solutions": ("Solutions",),
    ".statement.table": ("Table", "table"),
}
__getattr__ = fetched_late(__name__, _HOMES)
