"""Goddard's rocket as PSOPT states it, with a drag of exp(-500 h) and h from 1 on: there is hardly any.

    v' = (T - 310 v^2 exp(-500 h)) / m - 1 / h^2,   h' = v,   m' = -2 T,   0 <= T <= 3.5

Greatest height with the mass from 1 to 0.6, in a time of at most 1. Runge-Kutta of order 4.
"""

import trisweep as ts
from casadi import exp, vertcat

from ..case import Case, Stated


def build() -> Stated:
    ocp = ts.Problem(steps=100, duration=ts.Free(guess=1.0, lower=0.1, upper=1.0), integrator="rk4")
    v, h, m = ocp.state("v", lower=0, upper=2), ocp.state("h", lower=1, upper=2), ocp.state("m", lower=0.6, upper=1)
    thrust = ocp.control("thrust", lower=0, upper=3.5)
    ocp.derivative(v=(thrust - 310 * v**2 * exp(-500 * h)) / m - 1 / h**2, h=v, m=-2 * thrust)
    ocp.minimize(-h, at="end", name="height")
    ocp.constrain("start", vertcat(v, h, m), equals=[0, 1, 1], at="start")
    ocp.constrain("empty", m, equals=0.6, at="end")
    return Stated(ocp, {"v": 0.0, "h": 1.0, "m": 1.0, "thrust": 3.5})


CASE = Case(build, source="PSOPT (Becerra 2010), goddard", optimum=-1.025336, tolerance=1e-4)
