"""Optimal-control problems: time, cost, constraints, the solution, MPC."""

from ..riccati import ProblemError
from .iteration import Iteration
from .problem import Problem
from .settings import Settings
from .solution import Solution
from .solver import Solver
from .statement import Free

__all__ = ["Free", "Iteration", "Problem", "ProblemError", "Settings", "Solution", "Solver"]
