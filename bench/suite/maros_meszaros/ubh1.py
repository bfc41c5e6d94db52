"""UBH1: a point in space is brought to rest from (1000, 1000, 1000) with speed (-10, 10, -10) in time 1000.

p'' = u,   |u| <= 1,   integral of |u|^2 / 2, by the trapezoidal rule: 2000 steps of 0.5
"""

import trisweep as ts
from casadi import sumsqr, vertcat

from ..case import Case, Stated
from ..rules import trapezoidal

START = (1000.0, 1000.0, 1000.0, -10.0, 10.0, -10.0)


def build() -> Stated:
    ocp = ts.Problem(steps=2000, duration=1000.0)
    x, u = ocp.state("x", 6), ocp.state("u", 3, lower=-1, upper=1)
    trapezoidal(ocp, lambda x, u: vertcat(x[3:], u), x, u, integrand=lambda x, u: sumsqr(u))
    ocp.constrain("start", x, equals=START, at="start")
    ocp.constrain("end", x, equals=0, at="end")
    return Stated(ocp)


CASE = Case(build, source="Maros and Meszaros (1999), UBH1", optimum=1.11600082, tolerance=1e-5)
