"""A bioreactor's day, repeated for ever: algae y feed bacteria b through a substrate s; most methane.

    y' = mu y / (1 + y) - (r + u) y,   s' = -mu2 b + u (y - s),   b' = (mu2 - u) b
    mu = max(0, sin(2 pi t / 10))^2,   mu2 = 0.1 s / (s + 0.05),   r = 0.005,   0 <= u <= 1

Maximise the integral of mu2 b / 3 over the day of length 10, which ends as it began; y, b >= 1 there.
Trapezoidal rule. The values of the start are carried along as a constant state, for the end to meet them.
"""

import numpy as np
import trisweep as ts
from casadi import vertcat

from ..case import Case, Stated
from ..rules import by_stages, trapezoidal, with_next

DAY, MORTALITY = 10.0, 0.005


def growth(s):
    return 0.1 * s / (s + 0.05)


def rates(x, u, light):
    y, s, b = x[0], x[1], x[2]
    methane = growth(s)
    return vertcat(light * y / (1 + y) - (MORTALITY + u) * y, u * (y - s) - methane * b, (methane - u) * b, 0, 0, 0)


def harvest(x, u, light):
    return -growth(x[1]) * x[2] / 3


def daylight(times):
    return np.maximum(0, np.sin(2 * np.pi * times / DAY)) ** 2


def build() -> Stated:
    steps = 250
    ocp = ts.Problem(steps=steps, duration=DAY)
    free = [-np.inf] * 3
    x = ocp.state("x", 6, lower=[0, 0, 0.001, *free])
    u = ocp.state("u", lower=0, upper=1)
    light, given = by_stages(ocp, "light", daylight(np.linspace(0, DAY, steps + 1)))
    trapezoidal(ocp, rates, x, u, harvest, light)
    ocp.constrain("start", x[:3] - x[3:], equals=0, at="start")
    ocp.constrain("alive", vertcat(x[0], x[2]), lower=1, at="start")
    ocp.constrain("as it began", x[:3] - x[3:], equals=0, at="end")
    return Stated(ocp, with_next({"x": 0.1, "u": 0.1}), given)


CASE = Case(build, source="bocop's bioreactor; value of CTDirect.jl", optimum=-0.614134, tolerance=1e-3)
