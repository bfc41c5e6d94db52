"""A free time that also scales the dynamics: x' = T u, x >= 0, from 0 to 1 in time T; T + integral of u^2 / 2.

u = 1 / T^2 is constant, so the cost is T + 1 / (2 T^3): 1.476 at T = 1.5^(1/4). Runge-Kutta of order 4.
"""

import trisweep as ts

from ..case import Case, Stated


def build() -> Stated:
    steps = 100
    ocp = ts.Problem(steps=steps, duration=ts.Free(guess=0.1, lower=0.1), integrator="rk4")
    x, u = ocp.state("x", lower=0), ocp.control("u")
    duration = ocp.time_step * steps
    ocp.derivative(x=duration * u)
    ocp.minimize(ocp.time_step * u**2 / 2, name="effort")
    ocp.minimize(duration, at="end", name="time")
    ocp.constrain("start", x, equals=0, at="start")
    ocp.constrain("end", x, equals=1, at="end")
    return Stated(ocp, {"x": 0.1, "u": 0.1})


CASE = Case(build, source="CTDirect.jl, bolza_freetf", optimum=1.476, tolerance=1e-3)
