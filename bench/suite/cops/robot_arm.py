"""A robot arm that turns, tilts and slides through its joint reaches another pose in the least time.

    L rho'' = u_rho,   I_theta theta'' = u_theta,   I_phi phi'' = u_phi,   |u| <= 1
    I_phi = ((L - rho)^3 + rho^3) / 3,   I_theta = I_phi sin(phi)^2

State x = (rho, theta, phi, their rates), L = 5, from (4.5, 0, pi/4) to (4.5, 2 pi/3, pi/4), at rest at both ends.
"""

import numpy as np
import trisweep as ts
from casadi import sin, vertcat

from ..case import Case, Stated
from ..rules import trapezoidal, with_next

LENGTH = 5.0


def rates(x, u):
    sphere = ((LENGTH - x[0]) ** 3 + x[0] ** 3) / 3
    return vertcat(x[3:], u[0] / LENGTH, u[1] / (sphere * sin(x[2]) ** 2), u[2] / sphere)


def build() -> Stated:
    steps = 200
    ocp = ts.Problem(steps=steps, duration=ts.Free(guess=1.0))
    free = [np.inf] * 3
    x = ocp.state("x", 6, lower=[0, -np.pi, 0, *(-np.array(free))], upper=[LENGTH, np.pi, np.pi, *free])
    u = ocp.state("u", 3, lower=-1, upper=1)
    trapezoidal(ocp, rates, x, u)
    ocp.minimize(ocp.time_step * steps, at="end", name="time")
    ocp.constrain("start", x, equals=[4.5, 0, np.pi / 4, 0, 0, 0], at="start")
    ocp.constrain("end", x, equals=[4.5, 2 * np.pi / 3, np.pi / 4, 0, 0, 0], at="end")
    t, one = np.linspace(0, 1, steps + 1), np.ones(steps + 1)
    way = np.column_stack([4.5 * one, 2 * np.pi / 3 * t**2, np.pi / 4 * one, 0 * t, 4 * np.pi / 3 * t, 0 * t])
    return Stated(ocp, with_next({"x": way, "u": 0.0}))


CASE = Case(build, source="COPS 3.0 (Dolan, More, Munson 2004), problem 8", optimum=9.14138, tolerance=1e-5)
