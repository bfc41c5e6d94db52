"""The double integrator moves by 1 in time 1 with the least integral of u^2 / 2: 6 exactly. Runge-Kutta of order 4."""

import trisweep as ts
from casadi import vertcat

from ..case import Case, Stated


def build() -> Stated:
    ocp = ts.Problem(steps=50, duration=1.0, integrator="rk4")
    x, u = ocp.state("x", 2), ocp.control("u")
    ocp.derivative(x=vertcat(x[1], u))
    ocp.minimize(ocp.time_step * u**2 / 2)
    ocp.constrain("start", x, equals=0, at="start")
    ocp.constrain("end", x, equals=[1, 0], at="end")
    return Stated(ocp)


CASE = Case(build, source="PSOPT (Becerra 2010), dqc", optimum=6.0, tolerance=1e-3)
