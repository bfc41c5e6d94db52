"""A wheeled inverted pendulum follows a speed: thirty steps of its receding horizon (WHLIPBAL0 ... 29; Caron 2023).

State (r, theta, their rates), control the ground's acceleration, |u| <= 10 m/s^2, 50 steps of 0.02 s, w^2 = g / 0.58 m:

    r'' = u,   theta'' = w^2 (theta - u / g), exactly;   (|x - target|^2 + 1e-3 u^2) / 2, ten times the first at the end

The target moves on with speed 1/2 + cos(t / 2). The first states come from the loop closed: fifteen substeps of second
order on sin and cos of theta between two solves.
"""

from functools import cache

import numpy as np
import trisweep as ts
from casadi import mtimes, sumsqr

from ..case import Case, Stated

STEPS, STEP, GRAVITY, SUBSTEPS = 50, 0.02, 9.81, 15
RATE = np.sqrt(GRAVITY / 0.58)


def problem() -> ts.Problem:
    c, s = np.cosh(STEP * RATE), np.sinh(STEP * RATE)
    A = np.array([[1, 0, STEP, 0], [0, c, 0, s / RATE], [0, 0, 1, 0], [0, RATE * s, 0, c]])
    B = np.array([STEP**2 / 2, (1 - c) / GRAVITY, STEP, -RATE * s / GRAVITY])
    ocp = ts.Problem(steps=STEPS, step=STEP)
    x, u = ocp.state("x", 4), ocp.control("u", lower=-10, upper=10)
    start, target = ocp.parameter("begin", 4), ocp.parameter("target", 4, per_stage=True)
    ocp.next(x=mtimes(A, x) + B * u)
    ocp.minimize(sumsqr(x - target) / 2 + 1e-3 * u**2 / 2, name="stage")
    ocp.minimize(10 * sumsqr(x - target) / 2, at="end", name="goal")
    ocp.constrain("start", x, equals=start, at="start")
    return ocp


@cache
def starts() -> list[dict]:
    """Parameters of the thirty solves, each from where the one before led."""
    solver, state, found = problem().build(backend="ipopt"), np.zeros(4), []
    for i in range(30):
        speed = 0.5 + np.cos(i * STEP / 2)
        times = STEP * np.arange(STEPS + 1)
        target = np.column_stack([state[0] + times * speed, 0 * times, 0 * times + speed, 0 * times])
        found.append({"begin": state, "target": target})
        push = solver.solve(**found[-1]).u[0, 0]
        for _ in range(SUBSTEPS):
            dt = STEP / SUBSTEPS
            fall = RATE**2 * (np.sin(state[1]) - push / GRAVITY * np.cos(state[1]))
            pull = np.array([push, fall])
            state = np.concatenate([state[:2] + dt * state[2:] + dt**2 / 2 * pull, state[2:] + dt * pull])
    return found


def build() -> Stated:
    return Stated(problem(), {}, starts()[0])


CASE = Case(build, source="mpc_qpbenchmark, WHLIPBAL*", instances=30, instance=lambda i: ({}, starts()[i]))
