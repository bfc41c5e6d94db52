"""Thirty days of `bioreactor_day`'s reactor from a start in a box, not periodic."""

import numpy as np
import trisweep as ts

from ..case import Case, Stated
from ..rules import by_stages, trapezoidal, with_next
from .bioreactor_day import DAY, daylight, harvest
from .bioreactor_day import rates as with_start

DAYS = 30


def rates(x, u, light):
    return with_start(x, u, light)[:3]


def build() -> Stated:
    steps = 600
    ocp = ts.Problem(steps=steps, duration=DAYS * DAY)
    x = ocp.state("x", 3, lower=[0, 0, 0.001])
    u = ocp.state("u", lower=0, upper=1)
    light, given = by_stages(ocp, "light", daylight(np.linspace(0, DAYS * DAY, steps + 1)))
    trapezoidal(ocp, rates, x, u, harvest, light)
    ocp.constrain("start", x, lower=[0.05, 0.5, 0.5], upper=[0.25, 5, 3], at="start")
    return Stated(ocp, with_next({"x": 50.0, "u": 0.5}), given)


CASE = Case(
    build, source="OptimalControlProblems.jl, bioreactor; value of CTDirect.jl", optimum=-19.0745, tolerance=2e-2
)
