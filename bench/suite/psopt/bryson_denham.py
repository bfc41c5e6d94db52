"""Bryson and Denham's double integrator under a ceiling, end time free: x'' = u, x <= 1/9, integral of u^2 / 2.

From 0 with speed 1 to 0 with speed -1; the integral is a third state, as in the source. Runge-Kutta of order 4.
"""

import trisweep as ts
from casadi import vertcat

from ..case import Case, Stated
from ..rules import line


def build() -> Stated:
    steps = 50
    ocp = ts.Problem(steps=steps, duration=ts.Free(guess=0.5, lower=1e-3, upper=50.0), integrator="rk4")
    x = ocp.state("x", 3, lower=[0, -10, -10], upper=[1 / 9, 10, 10])
    u = ocp.control("u", lower=-10, upper=10)
    ocp.derivative(x=vertcat(x[1], u, u**2 / 2))
    ocp.minimize(x[2], at="end", name="effort")
    ocp.constrain("start", x, equals=[0, 1, 0], at="start")
    ocp.constrain("end", x[:2], equals=[0, -1], at="end")
    return Stated(ocp, {"x": line([0, 1, 0], [0, -1, 0], steps)})


CASE = Case(build, source="PSOPT (Becerra 2010), bryson_denham", optimum=3.999539, tolerance=1e-2)
