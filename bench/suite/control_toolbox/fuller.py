"""Fuller's problem, whose best control switches ever faster: x'' = u, |u| <= 1, integral of x^2 over 3.5.

From (0, 1) to rest at 0. Trapezoidal rule.
"""

import trisweep as ts
from casadi import vertcat

from ..case import Case, Stated
from ..rules import trapezoidal


def build() -> Stated:
    ocp = ts.Problem(steps=250, duration=3.5)
    x, u = ocp.state("x", 2), ocp.state("u", lower=-1, upper=1)
    trapezoidal(ocp, lambda x, u: vertcat(x[1], u), x, u, integrand=lambda x, u: x[0] ** 2)
    ocp.constrain("start", x, equals=[0, 1], at="start")
    ocp.constrain("end", x, equals=0, at="end")
    return Stated(ocp)


CASE = Case(build, source="bocop's fuller; value of CTDirect.jl", optimum=0.2683944, tolerance=1e-3)
