"""A truck with a trailer parks, backwards, in the least time.

    theta0' = s tan(delta) / L0,   theta1' = s sin(theta0 - theta1) / L1
    p' = s cos(theta0 - theta1) (cos theta1, sin theta1)

with p the middle of the trailer's axle (m), theta1 and theta0 the headings of trailer and truck (rad), s the truck's
speed (m/s) and delta its steering angle (rad). The hitch is on the truck's rear axle.
"""

from __future__ import annotations

import numpy as np
from casadi import cos, sin, sumsqr, tan, vertcat
from numpy.typing import ArrayLike

from ...ocp import Free, Problem
from ..ready import Task

TRUCK, TRAILER = 0.4, 0.8  # m, wheelbase and hitch to axle
SPEED_LIMIT, STEERING_LIMIT, HITCH_LIMIT = 0.4, np.pi / 6, np.pi / 4  # m/s, rad, rad
START = (0.0, 0.0, 0.0, 0.0)  # p, theta1, theta0
END = (-2.0, -2.0, np.pi / 2, np.pi / 2)


def truck_trailer_parking(steps: int = 60, smoothness: float = 1e-2) -> Task:
    """From standing eastwards at the origin to standing northwards at (-2, -2) m.

    Cost: the time (s), and smoothness (hitch angle^2 + steering^2) summed over the steps; Runge-Kutta of order 4.
    Guess: place and headings change evenly in 10 s, driving backwards at half speed.
    """
    ocp = Problem(steps=steps, duration=Free(guess=10.0, lower=1.0, upper=60.0), integrator="rk4")
    p = ocp.state("p", 2)
    theta1 = ocp.state("theta1")
    theta0 = ocp.state("theta0")
    s = ocp.control("s", lower=-SPEED_LIMIT, upper=SPEED_LIMIT)
    delta = ocp.control("delta", lower=-STEERING_LIMIT, upper=STEERING_LIMIT)
    hitch = theta0 - theta1
    ocp.derivative(
        p=s * cos(hitch) * vertcat(cos(theta1), sin(theta1)),
        theta1=s * sin(hitch) / TRAILER,
        theta0=s * tan(delta) / TRUCK,
    )
    ocp.minimize(ocp.time_step * steps, at="end", name="time")
    ocp.minimize(smoothness * sumsqr(vertcat(hitch, delta)), name="smoothness")
    ocp.constrain("hitch angle", hitch, lower=-HITCH_LIMIT, upper=HITCH_LIMIT)
    pose = vertcat(p, theta1, theta0)
    ocp.constrain("start", pose, equals=START, at="start")
    ocp.constrain("end", pose, equals=END, at="end")
    way = np.linspace(START, END, steps + 1)
    guess: dict[str, ArrayLike] = {"p": way[:, :2], "theta1": way[:, 2], "theta0": way[:, 3], "s": -SPEED_LIMIT / 2}
    return Task("truck_trailer_parking", ocp, guess)
