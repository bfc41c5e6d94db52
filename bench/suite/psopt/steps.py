"""Down to zero, along it and up again: x' = u, |u| <= 1, x >= 0, integral of x over 3 from 1 to 1: 1 exactly.

Three phases of length 1. Trapezoidal sums of x, Runge-Kutta of order 4.
"""

import trisweep as ts

from ..case import Case, Stated


def build() -> Stated:
    phases = []
    for name in ("down", "along", "up"):
        ocp = ts.Problem(steps=20, duration=1.0, integrator="rk4", name=name)
        x, u = ocp.state("x", lower=0, upper=5), ocp.control("u", lower=-1, upper=1)
        ocp.derivative(x=u)
        ocp.minimize(ocp.time_step * (x + ocp.time_step * u / 2), name="integral")
        if phases:
            phases[-1].then(ocp)
        phases.append(ocp)
    phases[0].constrain("start", phases[0].states[0].value, equals=1, at="start")
    phases[-1].constrain("end", phases[-1].states[0].value, equals=1, at="end")
    return Stated(phases[0], {ocp.name: {"x": 1.0} for ocp in phases})


CASE = Case(build, source="PSOPT (Becerra 2010), steps", optimum=1.0, tolerance=1e-4)
