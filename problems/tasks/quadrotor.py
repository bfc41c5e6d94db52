"""A quadrotor flies to a point and stops there.

    p' = v,   m v' = R(e) (0, 0, sum f) - (0, 0, m g),   e' = W(e) w,   J w' = torque(f) - w x J w

with place p (m), Euler angles e = (roll, pitch, yaw) (rad), velocity v (m/s), body rates w (rad/s) and thrusts f (N)
of four rotors at the ends of a cross: front, left, back, right, of which front and back turn one way.
"""

from __future__ import annotations

import numpy as np
from casadi import SX, cos, cross, horzcat, mtimes, sin, sumsqr, tan, vertcat, vertsplit
from numpy.typing import ArrayLike

from ...ocp import Problem
from ..ready import Task

MASS, GRAVITY, ARM = 0.5, 9.81, 0.17  # kg, m/s^2, m
INERTIA = (2.3e-3, 2.3e-3, 4.6e-3)  # kg m^2
DRAG_RATIO = 0.016  # torque about the rotor's axis by its thrust, m
THRUST_LIMIT = 3.0  # N a rotor
TILT_LIMIT = 1.2  # rad, well below the pi/2 at which Euler angles fail


def quadrotor_to_a_point(point: ArrayLike = (2.0, 1.0, 1.0), steps: int = 50, duration: float = 2.0) -> Task:
    """From hovering at the origin to hovering at `point` (3,), m, a parameter, in `duration` s.

    Least sum of squared deviations from the hovering thrust and of body rates; Runge-Kutta of order 4.
    Guess: the straight line with the hovering thrust, level.
    """
    ocp = Problem(steps=steps, duration=duration, integrator="rk4")
    p = ocp.state("p", 3)
    e = ocp.state("e", 3, lower=[-TILT_LIMIT, -TILT_LIMIT, -np.pi], upper=[TILT_LIMIT, TILT_LIMIT, np.pi])
    v = ocp.state("v", 3)
    w = ocp.state("w", 3)
    f = ocp.control("f", 4, lower=0.0, upper=THRUST_LIMIT)
    goal = ocp.parameter("point", 3)

    lift = mtimes(rotation(e), vertcat(0, 0, f[0] + f[1] + f[2] + f[3]))
    torque = vertcat(ARM * (f[1] - f[3]), ARM * (f[2] - f[0]), DRAG_RATIO * (f[0] - f[1] + f[2] - f[3]))
    J = vertcat(*INERTIA)
    ocp.derivative(
        p=v,
        e=angle_rates(e, w),
        v=lift / MASS - vertcat(0, 0, GRAVITY),
        w=(torque - cross(w, J * w)) / J,
    )
    hover = MASS * GRAVITY / 4
    ocp.minimize(sumsqr(f - hover) + 1e-2 * sumsqr(w))
    still = vertcat(e, v, w)
    ocp.constrain("start at the origin", p, equals=0, at="start")
    ocp.constrain("start hovering", still, equals=0, at="start")
    ocp.constrain("reach the point", p, equals=goal, at="end")
    ocp.constrain("end hovering", still, equals=0, at="end")
    way = np.linspace(np.zeros(3), np.asarray(point, dtype=float), steps + 1)
    guess: dict[str, ArrayLike] = {"p": way, "f": hover}
    return Task("quadrotor_to_a_point", ocp, guess, parameters={"point": point})


def rotation(e: SX) -> SX:
    """R (3, 3) from body to world: yaw, then pitch, then roll."""
    (sx, sy, sz), (cx, cy, cz) = (vertsplit(of(e)) for of in (sin, cos))
    return vertcat(
        horzcat(cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx),
        horzcat(sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx),
        horzcat(-sy, cy * sx, cy * cx),
    )


def angle_rates(e: SX, w: SX) -> SX:
    """e' (3,) of body rates w."""
    s, c = sin(e[0]), cos(e[0])
    swing = s * w[1] + c * w[2]
    return vertcat(w[0] + swing * tan(e[1]), c * w[1] - s * w[2], swing / cos(e[1]))
