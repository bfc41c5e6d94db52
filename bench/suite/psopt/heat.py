"""A bar of ten points is heated at one end so that the other follows a given temperature (Betts 2010).

    (4 + y) y_t = q(x, t) + (4 - y) y_xx - y_x^2,   q chosen for y = 2 + exp(-t) cos(pi x) to be a solution

v1: the outer temperature, 0 <= v1 <= 0.1; v2, v3: the points beyond both ends, by the conditions of flow there.
Integral of ((y_N - 2 + exp(-t))^2 + 1e-3 v1^2) / 2 over 0.5. Trapezoidal rule.
"""

import numpy as np
import trisweep as ts
from casadi import cos, exp, vertcat

from ..case import Case, Stated
from ..rules import by_stages, trapezoidal, with_next

POINTS, DURATION = 10, 0.5
DELTA = 1 / (POINTS - 1)
PLACES = np.linspace(0, 1, POINTS)


def source(x, t):
    wave = cos(np.pi * x)
    square = np.pi**2
    return (2 * square - 6) * exp(-t) * wave + square * exp(-2 * t) - (2 * square + 1) * exp(-2 * t) * wave**2


def rates(y, v, t):
    along = vertcat(v[1], y, v[2])
    slopes = []
    for i in range(POINTS):
        left, here, right = along[i], along[i + 1], along[i + 2]
        bend, slope = (right - 2 * here + left) / DELTA**2, (right - left) / (2 * DELTA)
        slopes.append((source(PLACES[i], t) + (4 - here) * bend - slope**2) / (4 + here))
    return vertcat(*slopes)


def error(y, v, t):
    return ((y[POINTS - 1] - 2 + exp(-t)) ** 2 + 1e-3 * v[0] ** 2) / 2


def build() -> Stated:
    steps = 60
    ocp = ts.Problem(steps=steps, duration=DURATION)
    y, v = ocp.state("x", POINTS, lower=0, upper=3), ocp.state("u", 3, lower=0, upper=[0.1, 3, 3])
    time, given = by_stages(ocp, "t", np.linspace(0, DURATION, steps + 1))
    trapezoidal(ocp, rates, y, v, error, time)
    first, last = y[0], y[POINTS - 1]
    inflow = first - v[0] - (4 - first) * (y[1] - v[1]) / (2 * DELTA)
    outflow = (4 - last) * (v[2] - y[POINTS - 2]) / (2 * DELTA)
    ocp.constrain("flow at the ends", vertcat(inflow, outflow), equals=0)
    begin = 2 + np.cos(np.pi * PLACES)
    ocp.constrain("start", y, equals=begin, at="start")
    return Stated(ocp, with_next({"x": np.tile(begin, (steps + 1, 1)), "u": [0.1, begin[0], begin[-1]]}), given)


CASE = Case(build, source="PSOPT (Becerra 2010), heat", optimum=4.372843e-5, tolerance=1e-5)
