"""Goddard's rocket: how to burn its fuel to get as high as possible (COPS 3.0, problem 10).

    h' = v,   v' = (T - D(h, v)) / m - g(h),   m' = -T / c
    D = D_c v^2 exp(-h_c (h - 1)),   g = 1 / h^2

State x = (height from the earth's centre, speed, mass), control u = (thrust), in units of the start: height, mass and
gravity are 1 there. 0 <= T <= 3.5, c = 1/2, D_c = 310, h_c = 500; of the mass, 0.6 is no fuel.
"""

from __future__ import annotations

import numpy as np
from casadi import SX, exp, vertcat
from numpy.typing import ArrayLike

from ...ocp import Free, Problem
from ..ready import Task
from .trapezoidal import trapezoidal

EXHAUST_SPEED, DRAG, DRAG_DECAY = 0.5, 310.0, 500.0
THRUST_LIMIT, EMPTY_MASS = 3.5, 0.6


def goddard_rocket(steps: int = 400) -> Task:
    """From the ground with full tanks to the greatest height with empty ones, in a free time, by the trapezoidal rule.

    The objective is minus the height; COPS publishes a height of 1.01283 at 400 steps.
    Guess, as COPS: on the ground, half thrust, mass falls evenly, speed a parabola in between; the duration is 1.
    """
    ocp = Problem(steps=steps, duration=Free(guess=1.0))
    x = ocp.state("x", 3, lower=[1.0, 0.0, EMPTY_MASS], upper=[np.inf, np.inf, 1.0])
    u = ocp.state("u", lower=0.0, upper=THRUST_LIMIT)
    trapezoidal(ocp, rates, x, u)
    ocp.minimize(-x[0], at="end")
    ocp.constrain("on the ground, full", x, equals=[1.0, 0.0, 1.0], at="start")
    ocp.constrain("empty", x[2], equals=EMPTY_MASS, at="end")
    t = np.linspace(0, 1, steps + 1)
    flight = np.column_stack([np.ones_like(t), t * (1 - t), 1 + (EMPTY_MASS - 1) * t])
    guess: dict[str, ArrayLike] = {"x": flight, "x_next": flight[1:], "u": THRUST_LIMIT / 2, "u_next": THRUST_LIMIT / 2}
    return Task("goddard_rocket", ocp, guess, published=-1.01283 if steps == 400 else None)


def rates(x: SX, u: SX) -> SX:
    """x' of the state x (3,) with thrust u."""
    height, speed, mass = x[0], x[1], x[2]
    drag = DRAG * speed**2 * exp(-DRAG_DECAY * (height - 1))
    return vertcat(speed, (u - drag) / mass - 1 / height**2, -u / EXHAUST_SPEED)
