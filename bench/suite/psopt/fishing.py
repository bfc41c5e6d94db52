"""Lotka and Volterra's fishing problem, relaxed: hold both fish at 1 by catching (Sager, mintOC).

    x1' = x1 - x1 x2 - 0.4 x1 w,   x2' = -x2 + x1 x2 - 0.2 x2 w,   0 <= w <= 1

Integral of |x - 1|^2 over 12, from (0.5, 0.7). Runge-Kutta of order 4.
"""

import trisweep as ts
from casadi import sumsqr, vertcat

from ..case import Case, Stated
from ..rules import integral


def build() -> Stated:
    ocp = ts.Problem(steps=120, duration=12.0, integrator="rk4")
    x, w = ocp.state("x", 2, lower=0, upper=2), ocp.control("w", lower=0, upper=1)
    met = x[0] * x[1]
    ocp.derivative(x=vertcat(x[0] - met - 0.4 * x[0] * w, met - x[1] - 0.2 * x[1] * w))
    integral(ocp, sumsqr(x - 1))
    ocp.constrain("start", x, equals=[0.5, 0.7], at="start")
    return Stated(ocp, {"x": [0.5, 0.7], "w": 0.5})


CASE = Case(build, source="PSOPT (Becerra 2010), lotka; mintOC's relaxed optimum", optimum=1.34408, tolerance=1e-3)
