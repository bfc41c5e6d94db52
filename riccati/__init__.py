"""Matrices on a tree of stages: the generalized, equality-constrained linear-quadratic problem and its elimination.

    from trisweep.riccati import LQProblem, Stage, factorize

`problem.py` states the problem, `factorization.py` drives the C++ core, `solution.py` is the answer,
`quadratic_program.py` adds limits (convex QPs),
`reference.py` is the same sweep in NumPy, to be read, and `dense.py` the whole KKT system, to judge both.
"""

from ..errors import ProblemError
from .conditions import QPResidual
from .factorization import Factorization, factorize
from .problem import LQProblem, RightHandSide, Stage
from .quadratic_program import QP, QPSolution, StageLimits
from .solution import CostToGo, Gain, LQSolution

__all__ = [
    "QP",
    "CostToGo",
    "Factorization",
    "Gain",
    "LQProblem",
    "LQSolution",
    "ProblemError",
    "QPResidual",
    "QPSolution",
    "RightHandSide",
    "Stage",
    "StageLimits",
    "factorize",
]
