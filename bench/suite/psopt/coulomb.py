"""Two masses with dry friction, smoothed, are moved in the least time.

    1.1 q1'' = -1.8 q1 + 0.85 q2 - tanh(100 q1') + u1,   1.2 q2'' = 0.85 (q1 - q2) - tanh(100 q2') + u2,   |u| <= 4

From (0, 0) with speeds (-1, -2) to rest at (1, 2). Trapezoidal rule.
"""

import trisweep as ts
from casadi import tanh, vertcat

from ..case import Case, Stated
from ..rules import line, trapezoidal, with_next

START, END = (0.0, 0.0, -1.0, -2.0), (1.0, 2.0, 0.0, 0.0)


def rates(x, u):
    friction = tanh(100 * x[2:])
    first = (-1.8 * x[0] + 0.85 * x[1] - friction[0] + u[0]) / 1.1
    return vertcat(x[2:], first, (0.85 * (x[0] - x[1]) - friction[1] + u[1]) / 1.2)


def build() -> Stated:
    steps = 80
    ocp = ts.Problem(steps=steps, duration=ts.Free(guess=4.0, lower=1.8, upper=4.0))
    x = ocp.state("x", 4, lower=[-2, -2, -20, -20], upper=[2, 2, 20, 20])
    u = ocp.state("u", 2, lower=-4, upper=4)
    trapezoidal(ocp, rates, x, u)
    ocp.minimize(ocp.time_step * steps, at="end", name="time")
    ocp.constrain("start", x, equals=START, at="start")
    ocp.constrain("end", x, equals=END, at="end")
    return Stated(ocp, with_next({"x": line(START, END, steps), "u": 0.0}))


CASE = Case(build, source="PSOPT (Becerra 2010), coulomb", optimum=2.104992, tolerance=2e-2)
