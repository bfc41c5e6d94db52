"""A linear system with a delay of a quarter: x2' = -10 x1 - 5 x2 - 2 x1(t - 1/4) - x2(t - 1/4) + u.

x1' = x2, integral of (10 x1^2 + x2^2 + u^2) / 2 over 5, from (1, 1), which it also was before. Heun's method; the
states of the last quarter are carried along, five pairs at steps of 1/20.
"""

import trisweep as ts
from casadi import vertcat

from ..case import Case, Stated

HELD = 5


def build() -> Stated:
    ocp = ts.Problem(steps=100, duration=5.0)
    x, u = ocp.state("x", 2, lower=-100, upper=100), ocp.control("u", lower=-100, upper=100)
    past = ocp.state("past", 2 * HELD)  # the oldest first
    h = ocp.time_step

    def rates(x, delayed):
        return vertcat(x[1], -10 * x[0] - 5 * x[1] - 2 * delayed[0] - delayed[1] + u)

    first = rates(x, past[:2])
    second = rates(x + h * first, past[2:4])
    ocp.next(x=x + h / 2 * (first + second), past=vertcat(past[2:], x))
    ocp.minimize(h / 2 * (10 * x[0] ** 2 + x[1] ** 2 + u**2))
    ocp.constrain("start", vertcat(x, past), equals=1, at="start")
    return Stated(ocp, {"x": 1.0, "past": 1.0})


CASE = Case(build, source="PSOPT (Becerra 2010), delay1")
