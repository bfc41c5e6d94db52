"""Optimal-control problems: time, cost, constraints, the solution, many at once.

What solves many problems is imported when first asked for.
"""

from typing import TYPE_CHECKING, Any

from ..errors import ProblemError
from .answer.iteration import Iteration
from .answer.solution import Solution
from .solve.settings import Settings
from .solve.solver import Solver
from .statement.problem import Problem
from .statement.variables import Free

if TYPE_CHECKING:  # the checker knows the names that are fetched when first used
    from .many.executor import solve_many
    from .many.solutions import Solutions

__all__ = ["Free", "Iteration", "Problem", "ProblemError", "Settings", "Solution", "Solutions", "Solver", "solve_many"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .many import executor

    return getattr(executor, name)
