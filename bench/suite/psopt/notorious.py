"""Bock's notorious parameter estimation: an unstable system whose answer is as tame as sin(p t).

    x1' = x2,   x2' = 3600 x1 - (3600 + p^2) sin(p t),   x(0) = (0, pi)

Measured with noise of 0.05 (from a seed of our own, so no optimum is published) at 40 times in (0, 1]; p is near pi.
Three Gauss points a step.
"""

import numpy as np
import trisweep as ts
from casadi import sin, vertcat

from ..case import Case, Stated
from ..measurements import least_squares
from ..rules import collocation


def build() -> Stated:
    steps = 80
    ocp = ts.Problem(steps=steps, duration=1.0)
    x, p = ocp.state("x", 3), ocp.state("p")

    def rates(x):
        return vertcat(x[1], 3600 * x[0] - (3600 + p**2) * sin(p * x[2]), 1)

    value = collocation(ocp, rates, x, points=3)
    ocp.next(p=p)
    ocp.constrain("start", x, equals=[0, np.pi, 0], at="start")
    ocp.constrain("rate", p, lower=-10, upper=10, at="start")
    times = np.arange(1, 41) / 40
    noise = 0.05 * np.random.default_rng(1983).normal(size=(40, 2))
    seen = np.column_stack([np.sin(np.pi * times), np.pi * np.cos(np.pi * times)]) + noise
    given = least_squares(ocp, lambda fraction: value(fraction)[:2], times, seen, 1.0)
    guess = np.column_stack([np.interp(np.linspace(0, 1, steps + 1), times, column) for column in seen.T])
    return Stated(ocp, {"x": np.column_stack([guess, np.linspace(0, 1, steps + 1)]), "p": 1.0}, given)


CASE = Case(build, source="PSOPT (Becerra 2010), notorious; Bock (1983)")
