"""A biped's sideways steps as a point mass: thirty solves of a receding horizon (LIPMWALK*; Caron et al. 2019).

State (p, v, a) of the mass, control its jerk, 16 steps of 0.1 s: cost 1e-3 jerk^2 / 2, and |x - goal|^2 / 2 at the end;
the centre of pressure p - a 0.84 / 9.81 stays in the foot (6.5 cm wide) in single support (0.7 s) and is free in double
support (0.1 s). Feet at +- 9 cm by turns; the first horizon begins in the middle of a single support.
"""

from functools import cache

import numpy as np
import trisweep as ts
from casadi import vertcat

from ..case import Case, Stated

STEPS, STEP, HEIGHT, FOOT, ANYWHERE = 16, 0.1, 0.84 / 9.81, 0.065, 100.0
SINGLE, DOUBLE, FIRST, STRIDE = 7, 1, 5, 0.18


def problem() -> ts.Problem:
    ocp = ts.Problem(steps=STEPS, step=STEP)
    x, jerk = ocp.state("x", 3), ocp.control("jerk")
    start, goal, support = ocp.parameter("begin", 3), ocp.parameter("goal"), ocp.parameter("support", 2, per_stage=True)
    p, v, a = x[0], x[1], x[2]
    ocp.next(
        x=vertcat(
            p + STEP * v + STEP**2 / 2 * a + STEP**3 / 6 * jerk, v + STEP * a + STEP**2 / 2 * jerk, a + STEP * jerk
        )
    )
    ocp.minimize(1e-3 * jerk**2 / 2, name="jerk")
    ocp.minimize(ts.sumsqr(x - vertcat(goal, 0, 0)) / 2, at="end", name="goal")
    pressure = p - HEIGHT * a
    ocp.constrain("in the foot", vertcat(pressure - support[0], support[1] - pressure), lower=0, at=slice(1, STEPS))
    ocp.constrain("start", x, equals=start, at="start")
    return ocp


def feet(index: int) -> tuple[float, np.ndarray]:
    """The goal, and the support of every stage from the index-th time on: the lower and the upper edge."""
    cycle = SINGLE + DOUBLE
    times = FIRST + index + np.arange(STEPS + 1)
    place = 0.09 * (-1.0) ** (times // cycle)
    support = place[:, None] + np.array([-FOOT / 2, FOOT / 2])
    support[times % cycle < DOUBLE] = [-ANYWHERE, ANYWHERE]
    return float(place[STEPS - 1]), support


@cache
def starts() -> list[dict]:
    """Parameters of the thirty solves, each from where the one before led."""
    solver, rate, found = problem().build(backend="ipopt"), HEIGHT**-0.5, []
    state = np.array([0, rate * 0.045, -(rate**2) * 0.09])
    for i in range(30):
        goal, support = feet(i)
        found.append({"begin": state, "goal": goal, "support": support})
        state = solver.solve(**found[-1]).x[1]
    return found


def build() -> Stated:
    return Stated(problem(), {}, starts()[0])


CASE = Case(build, source="mpc_qpbenchmark, LIPMWALK*", instances=30, instance=lambda i: ({}, starts()[i]))
