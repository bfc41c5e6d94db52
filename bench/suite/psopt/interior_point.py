"""A value that is given on the way: x' = u, integral of x^2 + u^2 over 1, x = 1, 0.9, 0.75 at t = 0, 0.75, 1.

Two phases. Runge-Kutta of order 4.
"""

import trisweep as ts

from ..case import Case, Stated
from ..rules import line


def phase(steps: int, duration: float, name: str) -> ts.Problem:
    ocp = ts.Problem(steps=steps, duration=duration, integrator="rk4", name=name)
    x, u = ocp.state("x", lower=-1, upper=1), ocp.control("u", lower=-1, upper=1)
    ocp.state("total")
    ocp.derivative(x=u, total=x**2 + u**2)
    return ocp


def build() -> Stated:
    first, second = phase(60, 0.75, "first"), phase(20, 0.25, "second")
    first.constrain("start", ts.vertcat(*(v.value for v in first.states)), equals=[1, 0], at="start")
    first.constrain("on the way", first.states[0].value, equals=0.9, at="end")
    first.then(second)
    second.constrain("end", second.states[0].value, equals=0.75, at="end")
    second.minimize(second.states[1].value, at="end", name="integral")
    return Stated(first, {"first": {"x": line(1, 0.9, 60)}, "second": {"x": line(0.9, 0.75, 20)}})


CASE = Case(build, source="PSOPT (Becerra 2010), interior_point", optimum=0.9205314, tolerance=1e-3)
