"""Goddard's rocket with a limit of its speed, v <= 0.1: bang, singular and boundary arcs, then no thrust.

    r' = v,   v' = (3.5 u - 310 v^2 exp(-500 (r - 1))) / m - 1 / r^2,   m' = -7 u,   0 <= u <= 1

From (1, 0, 1) to the greatest height with m = 0.6, time free. Trapezoidal rule.
"""

import trisweep as ts
from casadi import exp, vertcat

from ..case import Case, Stated
from ..rules import trapezoidal, with_next


def rates(x, u):
    drag = 310 * x[1] ** 2 * exp(-500 * (x[0] - 1))
    return vertcat(x[1], (3.5 * u - drag) / x[2] - 1 / x[0] ** 2, -7 * u)


def build() -> Stated:
    ocp = ts.Problem(steps=250, duration=ts.Free(guess=0.1, lower=0.01))
    x, u = ocp.state("x", 3, lower=[1, 0, 0.6], upper=[1.1, 0.1, 1]), ocp.state("u", lower=0, upper=1)
    trapezoidal(ocp, rates, x, u)
    ocp.minimize(-x[0], at="end", name="height")
    ocp.constrain("start", x, equals=[1, 0, 1], at="start")
    ocp.constrain("empty", x[2], equals=0.6, at="end")
    return Stated(ocp, with_next({"x": [1.01, 0.05, 0.8], "u": 0.1}))


CASE = Case(build, source="CTDirect.jl, goddard", optimum=-1.01257, tolerance=1e-4)
