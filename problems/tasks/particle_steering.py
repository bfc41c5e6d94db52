"""A particle under a thrust of constant size and free direction (Bryson and Ho; COPS 3.0, problem 9).

    y1'' = a cos(u),   y2'' = a sin(u),   a = 100,   |u| <= pi/2

State x = (y1, y2, y1', y2'), without units as in COPS.
"""

from __future__ import annotations

import numpy as np
from casadi import cos, sin, vertcat

from ...ocp import Free, Problem
from ..ready import Task
from .trapezoidal import trapezoidal

THRUST = 100.0
HEIGHT, SPEED = 5.0, 45.0  # y2 and y1' at the end


def particle_steering(steps: int = 200) -> Task:
    """From rest to height 5 and velocity (45, 0) in the least time, by the trapezoidal rule.

    COPS publishes 0.554577 at 200 steps.
    Guess, as COPS: height and speed grow evenly, the rest is zero, the duration is 1.
    """
    ocp = Problem(steps=steps, duration=Free(guess=1.0))
    x = ocp.state("x", 4)
    u = ocp.state("u", lower=-np.pi / 2, upper=np.pi / 2)
    trapezoidal(ocp, lambda x, u: vertcat(x[2:], THRUST * cos(u), THRUST * sin(u)), x, u)
    ocp.minimize(ocp.time_step * steps, at="end")
    ocp.constrain("start", x, equals=0, at="start")
    ocp.constrain("end", x[1:], equals=[HEIGHT, SPEED, 0], at="end")
    growth = np.linspace(np.zeros(4), [0, HEIGHT, SPEED, 0], steps + 1)
    return Task(
        "particle_steering", ocp, {"x": growth, "x_next": growth[1:]}, published=0.554577 if steps == 200 else None
    )
