"""A clamped beam bends as little as it can below a ceiling: x1'' = u, 0 <= x1 <= 0.1, integral of u^2.

Between x1 = 0 with slope 1 and x1 = 0 with slope -1; trapezoidal rule.
"""

import numpy as np
import trisweep as ts
from casadi import vertcat

from ..case import Case, Stated
from ..rules import trapezoidal


def build() -> Stated:
    ocp = ts.Problem(steps=100, duration=1.0)
    x = ocp.state("x", 2, lower=[0, -np.inf], upper=[0.1, np.inf])
    u = ocp.state("u", lower=-10, upper=10)
    trapezoidal(ocp, lambda x, u: vertcat(x[1], u), x, u, integrand=lambda x, u: u**2)
    ocp.constrain("left end", x, equals=[0, 1], at="start")
    ocp.constrain("right end", x, equals=[0, -1], at="end")
    return Stated(ocp)


CASE = Case(build, source="OptimalControlProblems.jl, beam; value of CTDirect.jl", optimum=8.898598, tolerance=1e-3)
