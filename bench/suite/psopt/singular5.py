"""A singular arc in a nonlinear problem (Luus).

    x1' = x2,   x2' = -x3 u + 16 t - 8,   x3' = u,   0 <= u <= 10

Integral of x1^2 + x2^2 + 5e-4 (x2 + 16 t - 8 - 0.1 x3 u^2)^2 over 1, from (0, -1, -sqrt(5)). Trapezoidal rule.
"""

import numpy as np
import trisweep as ts
from casadi import vertcat

from ..case import Case, Stated
from ..rules import by_stages, trapezoidal, with_next

START = (0.0, -1.0, -np.sqrt(5))


def rates(x, u, ramp):
    return vertcat(x[1], ramp - x[2] * u, u)


def cost(x, u, ramp):
    return x[0] ** 2 + x[1] ** 2 + 5e-4 * (x[1] + ramp - 0.1 * x[2] * u**2) ** 2


def build() -> Stated:
    steps = 100
    ocp = ts.Problem(steps=steps, duration=1.0)
    x, u = ocp.state("x", 3), ocp.state("u", lower=0, upper=10)
    ramp, given = by_stages(ocp, "ramp", 16 * np.linspace(0, 1, steps + 1) - 8)
    trapezoidal(ocp, rates, x, u, cost, ramp)
    ocp.constrain("start", x, equals=START, at="start")
    return Stated(ocp, with_next({"x": list(START), "u": 0.0}), given)


CASE = Case(build, source="PSOPT (Becerra 2010), singular5", optimum=0.119262, tolerance=1e-3)
