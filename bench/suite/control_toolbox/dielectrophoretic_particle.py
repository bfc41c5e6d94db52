"""A particle moved by an electric field, in the least time: x' = y u - 3/4 u^2, y' = u - y, |u| <= 1, from x = 1 to 2.

Chang, Petit and Rouchon (2006). Trapezoidal rule.
"""

import trisweep as ts
from casadi import vertcat

from ..case import Case, Stated
from ..rules import line, trapezoidal, with_next


def rates(x, u):
    return vertcat(x[1] * u - 0.75 * u**2, u - x[1])


def build() -> Stated:
    steps = 300
    ocp = ts.Problem(steps=steps, duration=ts.Free(guess=5.0))
    x, u = ocp.state("x", 2), ocp.state("u", lower=-1, upper=1)
    trapezoidal(ocp, rates, x, u)
    ocp.minimize(ocp.time_step * steps, at="end", name="time")
    ocp.constrain("start", x, equals=[1, 0], at="start")
    ocp.constrain("end", x[0], equals=2, at="end")
    return Stated(ocp, with_next({"x": line([1, 0], [2, 1], steps), "u": 0.5}))


CASE = Case(build, source="OptimalControlProblems.jl, dielectrophoretic_particle")
