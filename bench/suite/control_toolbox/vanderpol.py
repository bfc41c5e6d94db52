"""Van der Pol's oscillator is brought to rest at little cost: x1'' = (1 - x1^2) x1' - x1 + u, t = 2.

Integral of (x1^2 + x2^2 + u^2) / 2 by the trapezoidal rule, from (1, 0), end free.
"""

import trisweep as ts
from casadi import sumsqr, vertcat

from ..case import Case, Stated
from ..rules import trapezoidal


def build() -> Stated:
    ocp = ts.Problem(steps=100, duration=2.0)
    x, u = ocp.state("x", 2), ocp.state("u")
    rates = lambda x, u: vertcat(x[1], (1 - x[0] ** 2) * x[1] - x[0] + u)  # noqa: E731
    trapezoidal(ocp, rates, x, u, integrand=lambda x, u: sumsqr(vertcat(x, u)) / 2)
    ocp.constrain("start", x, equals=[1, 0], at="start")
    return Stated(ocp)


CASE = Case(
    build, source="OptimalControlProblems.jl, vanderpol; value of CTDirect.jl", optimum=1.047921, tolerance=1e-3
)
