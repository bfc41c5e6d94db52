"""A cart on a rail swings up the pole that hangs from it (M. Kelly, SIAM Review 59(4), 2017, Sec. 6).

    (M + m) x'' + m l cos(theta) theta'' = u + m l sin(theta) theta'^2
    cos(theta) x'' + l theta'' = -g sin(theta)

with x the cart's place (m), theta the pole's angle from hanging (rad), M = 1 kg, m = 0.3 kg, l = 0.5 m, |u| <= 20 N.
"""

from __future__ import annotations

import numpy as np
from casadi import cos, sin, vertcat

from ...ocp import Problem
from ..ready import Task

CART, POLE, LENGTH, GRAVITY = 1.0, 0.3, 0.5, 9.81  # kg, kg, m, m/s^2
RAIL, FORCE_LIMIT, DISTANCE = 2.0, 20.0, 1.0  # m, N, m


def cart_pole_swing_up(steps: int = 100, duration: float = 2.0) -> Task:
    """From hanging at 0 to standing at 1 m, both at rest, in `duration` s, with the least integral of u^2, in N^2 s.

    Runge-Kutta of order 4. Guess: place and angle grow evenly; speeds and force are zero.
    """
    ocp = Problem(steps=steps, duration=duration, integrator="rk4")
    q = ocp.state("q", 2, lower=[-RAIL, -np.inf], upper=[RAIL, np.inf])
    v = ocp.state("v", 2)
    u = ocp.control("u", lower=-FORCE_LIMIT, upper=FORCE_LIMIT)
    s, c, omega = sin(q[1]), cos(q[1]), v[1]
    moved = CART + POLE * s**2
    push = u + POLE * LENGTH * s * omega**2
    a = (push + POLE * GRAVITY * s * c) / moved
    alpha = -(push * c + (CART + POLE) * GRAVITY * s) / (LENGTH * moved)
    ocp.derivative(q=v, v=vertcat(a, alpha))
    ocp.minimize(ocp.time_step * u**2)
    ocp.constrain("hang at the start", q, equals=0, at="start")
    ocp.constrain("start at rest", v, equals=0, at="start")
    ocp.constrain("stand at the end", q, equals=[DISTANCE, np.pi], at="end")
    ocp.constrain("end at rest", v, equals=0, at="end")
    return Task("cart_pole_swing_up", ocp, guess={"q": np.linspace([0.0, 0.0], [DISTANCE, np.pi], steps + 1)})
