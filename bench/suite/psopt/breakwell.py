"""Breakwell's double integrator under a ceiling, in a given time: x'' = u, x <= 0.1, integral of u^2 / 2 over 1.

From 0 with speed 1 to 0 with speed -1: 4 / (9 * 0.1) exactly. Runge-Kutta of order 4.
"""

import trisweep as ts
from casadi import vertcat

from ..case import Case, Stated


def build() -> Stated:
    ocp = ts.Problem(steps=200, duration=1.0, integrator="rk4")
    x = ocp.state("x", 2, lower=[-2, -2], upper=[0.1, 2])
    u = ocp.control("u", lower=-10, upper=10)
    ocp.derivative(x=vertcat(x[1], u))
    ocp.minimize(ocp.time_step * u**2 / 2, name="effort")
    ocp.constrain("start", x, equals=[0, 1], at="start")
    ocp.constrain("end", x, equals=[0, -1], at="end")
    return Stated(ocp, {"x": [0.0, 1.0]})


CASE = Case(
    build, source="PSOPT (Becerra 2010), breakwell; exact in Bryson and Ho (1975)", optimum=4.444439, tolerance=1e-3
)
