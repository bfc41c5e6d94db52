"""A quadrotor whose thrust and attitude are commands flies 5 m in the least time; tilt and tilt rates are limited.

State (p, v), commands (thrust a, roll phi, pitch theta, yaw psi), v' = R(psi, theta, phi) (0, 0, a) - (0, 0, g).
cos(theta) cos(phi) >= cos(0.55), |phi'|, |theta'| <= 3 rad/s, 0 <= a <= 45.9. Trapezoidal rule.
"""

import numpy as np
import trisweep as ts
from casadi import cos, sin, sumsqr, vertcat

from ..case import Case, Stated
from ..rules import line, trapezoidal, with_next


def rates(x, u):
    a, phi, theta, psi = u[0], u[1], u[2], u[3]
    lift = vertcat(
        cos(psi) * sin(theta) * cos(phi) + sin(psi) * sin(phi),
        sin(psi) * sin(theta) * cos(phi) - cos(psi) * sin(phi),
        cos(theta) * cos(phi),
    )
    return vertcat(x[3:], a * lift - vertcat(0, 0, 9.81))


def build() -> Stated:
    steps, right = 60, np.pi / 2
    ocp = ts.Problem(steps=steps, duration=ts.Free(guess=1.0, lower=0.1))
    x = ocp.state("x", 6)
    u = ocp.state("u", 4, lower=[0, -right, -right, -np.inf], upper=[45.9, right, right, np.inf])
    _, u_next = trapezoidal(ocp, rates, x, u)
    ocp.minimize(ocp.time_step * steps, at="end", name="time")
    ocp.minimize(1e-8 * sumsqr(u) + 1e2 * u[3] ** 2, at="all", name="yaw")
    ocp.constrain("tilt", cos(u[2]) * cos(u[1]), lower=np.cos(0.55))
    ocp.constrain("tilt rate", (u_next[1:3] - u[1:3]) / ocp.time_step, lower=-3, upper=3)
    ocp.constrain("start", vertcat(x, u[1:3]), equals=[0, 0, 2.5, 0, 0, 0, 0, 0], at="start")
    ocp.constrain("end", x, equals=[0.01, 5, 2.5, 0, 0, 0], at="end")
    return Stated(
        ocp, with_next({"x": line([0, 0, 2.5, 0, 0, 0], [0.01, 5, 2.5, 0, 0, 0], steps), "u": [10.0, 0, 0, 0]})
    )


CASE = Case(build, source="OptimalControlProblems.jl, quadrotor; value of CTDirect.jl", optimum=1.492, tolerance=5e-2)
