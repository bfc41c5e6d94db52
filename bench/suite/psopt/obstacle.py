"""A point of constant speed passes two round obstacles: (x, y)' = 2.138 (cos theta, sin theta), in time 1.

|p - (0.4, 0.5)|^2 >= 0.1 and |p - (0.8, 1.5)|^2 >= 0.1, from (0, 0) to (1.2, 1.6). The cost, the integral of the
squared speed, is the same for all motions: only feasibility is sought, and the reduced Hessian is singular.
Trapezoidal rule.
"""

import trisweep as ts
from casadi import cos, sin, sumsqr, vertcat

from ..case import Case, Stated
from ..rules import line, trapezoidal, with_next

SPEED = 2.138


def rates(x, u):
    return SPEED * vertcat(cos(u), sin(u))


def build() -> Stated:
    ocp = ts.Problem(steps=60, duration=1.0)
    x, u = ocp.state("x", 2, lower=0, upper=2), ocp.state("u", lower=-10, upper=10)
    trapezoidal(ocp, rates, x, u, integrand=lambda x, u: sumsqr(rates(x, u)))
    ocp.constrain("first obstacle", sumsqr(x - vertcat(0.4, 0.5)), lower=0.1)
    ocp.constrain("second obstacle", sumsqr(x - vertcat(0.8, 1.5)), lower=0.1)
    ocp.constrain("start", x, equals=0, at="start")
    ocp.constrain("end", x, equals=[1.2, 1.6], at="end")
    return Stated(ocp, with_next({"x": line([0, 0], [1.2, 1.6], ocp.steps), "u": 0.0}))


CASE = Case(build, source="PSOPT (Becerra 2010), obstacle", optimum=4.571044, tolerance=1e-4)
