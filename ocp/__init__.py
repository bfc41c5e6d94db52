"""Optimal-control problems: time, cost, constraints, the solution, MPC."""

from ..riccati import ProblemError
from .iteration import Iteration
from .problem import Free, Problem
from .settings import Settings
from .solution import Solution
from .solver import Solver

__all__ = ["Free", "Iteration", "Problem", "ProblemError", "Settings", "Solution", "Solver"]
