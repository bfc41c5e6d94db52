"""Robbins' problem: a state constraint of third order, touched ever more often: x1''' = u, x1 >= 0.

Integral of 3 x1 + u^2 / 2 over 10, from (1, -2, 0) to rest at 0; trapezoidal rule.
"""

import numpy as np
import trisweep as ts
from casadi import vertcat

from ..case import Case, Stated
from ..rules import trapezoidal, with_next


def build() -> Stated:
    ocp = ts.Problem(steps=250, duration=10.0)
    x, u = ocp.state("x", 3, lower=[0, -np.inf, -np.inf]), ocp.state("u")
    trapezoidal(ocp, lambda x, u: vertcat(x[1:], u), x, u, integrand=lambda x, u: 3 * x[0] + u**2 / 2)
    ocp.constrain("start", x, equals=[1, -2, 0], at="start")
    ocp.constrain("end", x, equals=0, at="end")
    return Stated(ocp, with_next({"x": 0.1, "u": 0.1}))


CASE = Case(build, source="OptimalControlProblems.jl, robbins; value of CTDirect.jl", optimum=19.4, tolerance=2e-2)
