"""A planar arm of two equal rods in the least time (R. Luus, Iterative Dynamic Programming, 2000).

With w1, w2 the rods' angular velocities, phi the angle between them, psi the first one's, and torques |u| <= 1:

    d  = 31/36 + 9/4 sin^2(phi)
    w1' =  (sin(phi) (9/4 cos(phi) w1^2 + 2 w2^2) + 4/3 (u1 - u2) - 3/2 cos(phi) u2) / d
    w2' = -(sin(phi) (7/2 w1^2 + 9/4 cos(phi) w2^2) - 7/3 u2 + 3/2 cos(phi) (u1 - u2)) / d
    phi' = w2 - w1,   psi' = w1

State x = (w1, w2, phi, psi); masses, lengths and torques are 1 without units, as in the source.
"""

from __future__ import annotations

import numpy as np
from casadi import cos, sin, vertcat

from ...ocp import Free, Problem
from ..ready import Task

START = (0.0, 0.0, 0.5, 0.0)
END = (0.0, 0.0, 0.5, 0.522)


def two_link_minimum_time(steps: int = 100) -> Task:
    """Turn the arm by 0.522 rad, from rest to rest, in the least time.

    Runge-Kutta of order 4 with torques held over a step. They switch between their limits, and a switch that falls
    inside a step costs time: 2.98242 at 100 steps, 2.98228 at 800.
    Guess: the first angle grows evenly in a duration of 3; speeds and torques are zero.
    """
    ocp = Problem(steps=steps, duration=Free(guess=3.0), integrator="rk4")
    x = ocp.state("x", 4)
    u = ocp.control("u", 2, lower=-1, upper=1)
    w1, w2, s, c = x[0], x[1], sin(x[2]), cos(x[2])
    d = 31 / 36 + 9 / 4 * s**2
    turn1 = s * (9 / 4 * c * w1**2 + 2 * w2**2) + 4 / 3 * (u[0] - u[1]) - 3 / 2 * c * u[1]
    turn2 = -(s * (7 / 2 * w1**2 + 9 / 4 * c * w2**2) - 7 / 3 * u[1] + 3 / 2 * c * (u[0] - u[1]))
    ocp.derivative(x=vertcat(turn1 / d, turn2 / d, w2 - w1, w1))
    ocp.minimize(ocp.time_step * steps, at="end")
    ocp.constrain("start", x, equals=START, at="start")
    ocp.constrain("end", x, equals=END, at="end")
    return Task("two_link_minimum_time", ocp, guess={"x": np.linspace(START, END, steps + 1)})
