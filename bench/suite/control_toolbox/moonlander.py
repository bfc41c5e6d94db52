"""A lander with two thrusters at its sides gets to (5, 5) m and stops, in the least time.

    x'' = -(F1 + F2) sin theta,   y'' = (F1 + F2) cos theta - 9.81,   theta'' = 5 (F2 - F1),   0 <= F <= 19.62 N

The tilt at the end is free. Trapezoidal rule.
"""

import trisweep as ts
from casadi import cos, sin, vertcat

from ..case import Case, Stated
from ..rules import trapezoidal, with_next

GRAVITY = 9.81


def rates(x, u):
    thrust = u[0] + u[1]
    return vertcat(x[3:], -thrust * sin(x[2]), thrust * cos(x[2]) - GRAVITY, 5 * (u[1] - u[0]))


def build() -> Stated:
    steps = 100
    ocp = ts.Problem(steps=steps, duration=ts.Free(guess=1.0, lower=0.1))
    x, u = ocp.state("x", 6), ocp.state("u", 2, lower=0, upper=2 * GRAVITY)
    trapezoidal(ocp, rates, x, u)
    ocp.minimize(ocp.time_step * steps, at="end", name="time")
    ocp.constrain("start", x, equals=0, at="start")
    ocp.constrain("end", vertcat(x[0], x[1], x[3], x[4]), equals=[5, 5, 0, 0], at="end")
    return Stated(ocp, with_next({"x": 0.1, "u": 5.0}))


CASE = Case(build, source="OptimalControlProblems.jl, moonlander; value of CTDirect.jl", optimum=0.962, tolerance=5e-2)
