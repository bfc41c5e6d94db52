"""The Alp rider: a linear system stays above peaks that pass by, |x|^2 >= the sum of four bells in time.

    x1' = -10 x1 + u1 + u2,   x2' = -2 x2 + u1 + 2 u2,   x3' = -3 x3 + 5 x4 + u1 - u2,   x4' = 5 x3 - 3 x4 + u1 + 3 u2

Integral of 100 |x|^2 + 0.01 |u|^2 over 20, both ends given. Trapezoidal rule.
"""

import numpy as np
import trisweep as ts
from casadi import sumsqr, vertcat

from ..case import Case, Stated
from ..rules import by_stages, line, trapezoidal, with_next

START, END = (2.0, 1.0, 2.0, 1.0), (2.0, 3.0, 1.0, -2.0)


def rates(x, u):
    return vertcat(
        -10 * x[0] + u[0] + u[1],
        -2 * x[1] + u[0] + 2 * u[1],
        -3 * x[2] + 5 * x[3] + u[0] - u[1],
        5 * x[2] - 3 * x[3] + u[0] + 3 * u[1],
    )


def mountain(t):
    return sum(a * np.exp(-b * (t - c) ** 2) for a, b, c in ((3, 12, 3), (3, 10, 6), (3, 6, 10), (8, 4, 15))) + 0.01


def build() -> Stated:
    steps = 1000
    ocp = ts.Problem(steps=steps, duration=20.0)
    x, u = ocp.state("x", 4, lower=-4, upper=4), ocp.state("u", 2, lower=-500, upper=500)
    trapezoidal(ocp, rates, x, u, integrand=lambda x, u: 100 * sumsqr(x) + 0.01 * sumsqr(u))
    height, given = by_stages(ocp, "height", mountain(np.linspace(0, 20, steps + 1)))
    ocp.constrain("above the mountain", sumsqr(x) - height[0], lower=0)
    ocp.constrain("start", x, equals=START, at="start")
    ocp.constrain("end", x, equals=END, at="end")
    return Stated(ocp, with_next({"x": line(START, END, steps), "u": 0.0}), given)


CASE = Case(build, source="PSOPT (Becerra 2010), alpine; Betts (2010)", optimum=2026.363, tolerance=3e-2)
