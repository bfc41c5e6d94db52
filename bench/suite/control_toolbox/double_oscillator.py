"""Two masses on springs, shaken; a damper that can be switched keeps both quiet.

    100 x1'' = -103 x1 + 3 x2 + sin(t),   2 x2'' = 3 (x1 - x2) - (1 - u) x2' / 2,   |u| <= 1

Plain sum of (x1^2 + x2^2 + u^2) / 2 over the stages of 2 pi, as in the source; trapezoidal rule.
Coudurier, Lepreux and Petit (2018).
"""

import numpy as np
import trisweep as ts
from casadi import sumsqr, vertcat

from ..case import Case, Stated
from ..rules import by_stages, trapezoidal


def rates(x, u, shake):
    first = (-103 * x[0] + 3 * x[1] + shake) / 100
    return vertcat(x[2:], first, (3 * (x[0] - x[1]) - 0.5 * (1 - u) * x[3]) / 2)


def build() -> Stated:
    steps, duration = 100, 2 * np.pi
    ocp = ts.Problem(steps=steps, duration=duration)
    x, u = ocp.state("x", 4), ocp.state("u", lower=-1, upper=1)
    shake, given = by_stages(ocp, "shake", np.sin(np.linspace(0, duration, steps + 1)))
    trapezoidal(ocp, rates, x, u, data=shake)
    ocp.minimize(sumsqr(vertcat(x[:2], u)) / 2, at="all")
    ocp.constrain("start", x[:2], equals=0, at="start")
    return Stated(ocp, {}, given)


CASE = Case(build, source="OptimalControlProblems.jl, double_oscillator")
