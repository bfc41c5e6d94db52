"""The double integrator moves by 1 in the least time: x'' = u, |u| <= 1; 2 exactly. Runge-Kutta of order 4."""

import trisweep as ts
from casadi import vertcat

from ..case import Case, Stated


def build() -> Stated:
    steps = 100
    ocp = ts.Problem(steps=steps, duration=ts.Free(guess=0.1, lower=0.05), integrator="rk4")
    x, u = ocp.state("x", 2), ocp.control("u", lower=-1, upper=1)
    ocp.derivative(x=vertcat(x[1], u))
    ocp.minimize(ocp.time_step * steps, at="end", name="time")
    ocp.constrain("start", x, equals=0, at="start")
    ocp.constrain("end", x, equals=[1, 0], at="end")
    return Stated(ocp, {"x": 0.1, "u": 0.1})


CASE = Case(build, source="CTDirect.jl, double_integrator_mintf", optimum=2.0, tolerance=1e-3)
