"""Optimal-control problems: time, cost, constraints, the solution, MPC."""

from ..errors import ProblemError
from .answer.iteration import Iteration
from .answer.solution import Solution
from .many.executor import solve_many
from .many.solutions import Solutions
from .solve.settings import Settings
from .solve.solver import Solver
from .statement.problem import Problem
from .statement.variables import Free

__all__ = ["Free", "Iteration", "Problem", "ProblemError", "Settings", "Solution", "Solutions", "Solver", "solve_many"]
