"""An electric vehicle drives 10 over a hilly road in time 1, with the least energy.

    x' = v,   v' = u - 0.001 v^2 - 0.1 - (3 + 0.4 x - x^2 + 0.1 x^3)

Integral of 1000 (u v + u^2), at rest at both ends. Petit and Sciarretta (2011). Trapezoidal rule.
"""

import trisweep as ts
from casadi import vertcat

from ..case import Case, Stated
from ..rules import line, trapezoidal, with_next


def rates(x, u):
    road = 3 + 0.4 * x[0] - x[0] ** 2 + 0.1 * x[0] ** 3
    return vertcat(x[1], u - 1e-3 * x[1] ** 2 - 0.1 - road)


def build() -> Stated:
    ocp = ts.Problem(steps=100, duration=1.0)
    x, u = ocp.state("x", 2, lower=0), ocp.state("u")
    trapezoidal(ocp, rates, x, u, integrand=lambda x, u: 1e3 * (u * x[1] + u**2))
    ocp.constrain("start", x, equals=0, at="start")
    ocp.constrain("end", x, equals=[10, 0], at="end")
    return Stated(ocp, with_next({"x": line([0, 1], [10, 1], 100), "u": 0.5}))


CASE = Case(
    build, source="OptimalControlProblems.jl, electrical_vehicle; value of CTDirect.jl", optimum=1.23e6, tolerance=1e-2
)
