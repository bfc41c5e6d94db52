"""A container crane moves its load with little swing (Sakawa and Shindo 1982), time scaled by 9.

    x1' = 9 x4,   x2' = 9 x5,   x3' = 9 x6,   x4' = 9 (u1 + 17.2656 x3),   x5' = 9 u2
    x6' = -9 (u1 + 27.0756 x3 + 2 x5 x6) / x2

Integral of 4.5 (x3^2 + x6^2) over 1, both ends given. Trapezoidal rule.
"""

import trisweep as ts
from casadi import vertcat

from ..case import Case, Stated
from ..rules import line, trapezoidal, with_next

START, END = (0.0, 22.0, 0.0, 0.0, -1.0, 0.0), (10.0, 14.0, 0.0, 2.5, 0.0, 0.0)


def rates(x, u):
    swing = -(u[0] + 27.0756 * x[2] + 2 * x[4] * x[5]) / x[1]
    return 9 * vertcat(x[3:], u[0] + 17.2656 * x[2], u[1], swing)


def build() -> Stated:
    steps = 80
    ocp = ts.Problem(steps=steps, duration=1.0)
    x = ocp.state("x", 6, lower=[-5, -5, -5, -2.5, -1, -5], upper=[15, 25, 15, 2.5, 1, 15])
    u = ocp.state("u", 2, lower=[-2.83374, -0.80865], upper=[2.83374, 0.71265])
    trapezoidal(ocp, rates, x, u, integrand=lambda x, u: 4.5 * (x[2] ** 2 + x[5] ** 2))
    ocp.constrain("start", x, equals=START, at="start")
    ocp.constrain("end", x, equals=END, at="end")
    return Stated(ocp, with_next({"x": line(START, END, steps), "u": 0.0}))


CASE = Case(build, source="PSOPT (Becerra 2010), crane", optimum=0.005151238, tolerance=1e-4)
