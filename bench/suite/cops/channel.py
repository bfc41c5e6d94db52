"""A fluid is injected into a long channel: a boundary-value problem and no cost.

    u'''' = R (u' u'' - u u'''),   u(0) = u'(0) = 0,   u(1) = 1,   u'(1) = 0,   R = 10

The state is u with three derivatives, without units; four Gauss points a step.
"""

import numpy as np
import trisweep as ts
from casadi import vertcat

from ..case import Case, Stated
from ..rules import collocation

REYNOLDS, POINTS = 10.0, 4


def build() -> Stated:
    ocp = ts.Problem(steps=100, duration=1.0)
    x = ocp.state("x", 4)
    collocation(ocp, lambda y: vertcat(y[1:], REYNOLDS * (y[1] * y[2] - y[0] * y[3])), x, POINTS)
    ocp.constrain("wall", x[:2], equals=0, at="start")
    ocp.constrain("middle", x[:2], equals=[1, 0], at="end")
    t = np.linspace(0, 1, ocp.steps + 1)  # the guess solves the problem without inertia, R = 0
    still = np.column_stack([t**2 * (3 - 2 * t), 6 * t * (1 - t), 6 - 12 * t, np.full_like(t, -12.0)])
    slopes = np.hstack([still[:-1, 1:], np.zeros((ocp.steps, 1))])
    return Stated(ocp, {"x": still, "slopes": np.tile(slopes, POINTS)})


CASE = Case(build, source="COPS 3.0 (Dolan, More, Munson 2004), problem 7", optimum=0.0, tolerance=1e-9)
