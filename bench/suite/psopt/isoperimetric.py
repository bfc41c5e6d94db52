"""The least integral of x under x' = u - sin(x), with an integral of u^2 that is given: 10 over 1.

From 1 to 0, |u| <= 4. Trapezoidal rule; the second state is the integral of u^2.
"""

import trisweep as ts
from casadi import sin, vertcat

from ..case import Case, Stated
from ..rules import trapezoidal


def build() -> Stated:
    ocp = ts.Problem(steps=100, duration=1.0)
    x, u = ocp.state("x", 2, lower=-20, upper=20), ocp.state("u", lower=-4, upper=4)
    trapezoidal(ocp, lambda x, u: vertcat(u - sin(x[0]), u**2), x, u, integrand=lambda x, u: x[0])
    ocp.constrain("start", x, equals=[1, 0], at="start")
    ocp.constrain("end", x, equals=[0, 10], at="end")
    return Stated(ocp)


CASE = Case(build, source="PSOPT (Becerra 2010), isoperimetric", optimum=-0.3755058, tolerance=2e-3)
