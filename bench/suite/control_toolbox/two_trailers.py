"""A truck with two trailers parks backwards, in little time, with its hitches straight.

Headings theta0 (truck), theta1, theta2 (trailers), p the last axle; s the truck's speed, delta its steering angle,
wheelbases L and hitch offsets M:

    theta0' = s tan(delta) / L0,   theta1' = (s sin b01 - M0 cos b01 theta0') / L1,   b01 = theta0 - theta1
    s1 = s cos b01 + M0 sin b01 theta0',   and so on for the second; p' = s2 (cos theta2, sin theta2)

|s| <= 0.2 m/s, |s'| <= 1, |delta| <= pi/6, |delta'| <= pi/10, hitches within 90 deg. Trapezoidal rule.
"""

import numpy as np
import trisweep as ts
from casadi import cos, sin, tan, vertcat

from ..case import Case, Stated
from ..rules import line, trapezoidal, with_next

L0, L1, L2, M0, M1 = 0.4, 1.1, 0.8, 0.1, 0.2
RIGHT = np.pi / 2


def rates(x, u):
    theta0, theta1, theta2, s = x[2], x[3], x[4], u[0]
    turn0 = s * tan(u[1]) / L0
    first, second = theta0 - theta1, theta1 - theta2
    turn1 = (s * sin(first) - M0 * cos(first) * turn0) / L1
    s1 = s * cos(first) + M0 * sin(first) * turn0
    turn2 = (s1 * sin(second) - M1 * cos(second) * turn1) / L2
    s2 = s1 * cos(second) + M1 * sin(second) * turn1
    return vertcat(s2 * cos(theta2), s2 * sin(theta2), turn0, turn1, turn2)


def build() -> Stated:
    steps, inf = 100, np.inf
    ocp = ts.Problem(steps=steps, duration=ts.Free(guess=10.0, lower=0.1))
    limits = np.array([inf, inf, RIGHT, RIGHT, inf])
    x = ocp.state("x", 5, lower=-limits, upper=limits)
    u = ocp.state("u", 2, lower=[-0.2, -np.pi / 6], upper=[0.2, np.pi / 6])
    _, u_next = trapezoidal(ocp, rates, x, u)
    hitches = vertcat(x[2] - x[3], x[3] - x[4])
    ocp.minimize(ocp.time_step * steps, at="end", name="time")
    ocp.minimize(ts.sumsqr(hitches), at="all", name="straight")
    ocp.constrain("hitches", hitches, lower=-RIGHT, upper=RIGHT)
    ocp.constrain("command rates", (u_next - u) / ocp.time_step, lower=[-1, -np.pi / 10], upper=[1, np.pi / 10])
    ocp.constrain("start", x, equals=0, at="start")
    ocp.constrain("end", vertcat(x[:2], x[4], hitches), equals=[0, -2, RIGHT, 0, 0], at="end")
    way = line([0] * 5, [0, -2, RIGHT, RIGHT, RIGHT], steps)
    return Stated(ocp, with_next({"x": way, "u": [-0.2, 0.0]}))


CASE = Case(build, source="OptimalControlProblems.jl, truck_trailer")
