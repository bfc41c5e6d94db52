"""A pendulum whose motor is too weak to lift it: it has to gain energy first.

    m l^2 theta'' = u - b theta' - m g l sin(theta)

with theta (rad) from hanging, m = 1 kg, l = 1 m, b = 0.1 N m s, |u| <= 5 N m; to hold it level takes 9.81 N m.
"""

from __future__ import annotations

import numpy as np
from casadi import sin

from ...ocp import Problem
from ..ready import Task

MASS, LENGTH, DAMPING, GRAVITY = 1.0, 1.0, 0.1, 9.81  # kg, m, N m s, m/s^2
TORQUE_LIMIT = 5.0  # N m


def pendulum_swing_up(steps: int = 100, duration: float = 5.0) -> Task:
    """From hanging to standing, both at rest, in `duration` s, with the least integral of u^2, in N^2 m^2 s.

    Runge-Kutta of order 4. Guess: the angle grows evenly; speed and torque are zero.
    """
    ocp = Problem(steps=steps, duration=duration, integrator="rk4")
    theta = ocp.state("theta")
    omega = ocp.state("omega")
    u = ocp.control("u", lower=-TORQUE_LIMIT, upper=TORQUE_LIMIT)
    torque = u - DAMPING * omega - MASS * GRAVITY * LENGTH * sin(theta)
    ocp.derivative(theta=omega, omega=torque / (MASS * LENGTH**2))
    ocp.minimize(ocp.time_step * u**2)
    for name, state, end in (("theta", theta, np.pi), ("omega", omega, 0.0)):
        ocp.constrain(f"{name} at the start", state, equals=0, at="start")
        ocp.constrain(f"{name} at the end", state, equals=end, at="end")
    return Task("pendulum_swing_up", ocp, guess={"theta": np.linspace(0, np.pi, steps + 1)})
