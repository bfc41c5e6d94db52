"""A two-link arm, unit links and masses, turns its shoulder by 0.522 in the least time (Luus).

State (both speeds, elbow angle x3, shoulder angle), torques within 1:

    d = 31/36 + 9/4 sin(x3)^2
    d x1' = sin x3 (9/4 cos x3 x1^2 + 2 x2^2) + 4/3 (u1 - u2) - 3/2 cos x3 u2
    d x2' = -sin x3 (7/2 x1^2 + 9/4 cos x3 x2^2) + 7/3 u2 - 3/2 cos x3 (u1 - u2),   x3' = x2 - x1,   x4' = x1

Trapezoidal rule.
"""

import trisweep as ts
from casadi import cos, sin, vertcat

from ..case import Case, Stated
from ..rules import trapezoidal, with_next

START, END = (0.0, 0.0, 0.5, 0.0), (0.0, 0.0, 0.5, 0.522)


def rates(x, u):
    s, c = sin(x[2]), cos(x[2])
    d = 31 / 36 + 9 / 4 * s**2
    first = s * (9 / 4 * c * x[0] ** 2 + 2 * x[1] ** 2) + 4 / 3 * (u[0] - u[1]) - 3 / 2 * c * u[1]
    second = -s * (7 / 2 * x[0] ** 2 + 9 / 4 * c * x[1] ** 2) + 7 / 3 * u[1] - 3 / 2 * c * (u[0] - u[1])
    return vertcat(first / d, second / d, x[1] - x[0], x[0])


def build() -> Stated:
    steps = 100
    ocp = ts.Problem(steps=steps, duration=ts.Free(guess=3.0, lower=1.0, upper=10.0))
    x, u = ocp.state("x", 4, lower=-2, upper=2), ocp.state("u", 2, lower=-1, upper=1)
    trapezoidal(ocp, rates, x, u)
    ocp.minimize(ocp.time_step * steps, at="end", name="time")
    ocp.constrain("start", x, equals=START, at="start")
    ocp.constrain("end", x, equals=END, at="end")
    return Stated(ocp, with_next({"x": list(END), "u": 0.0}))


CASE = Case(build, source="PSOPT (Becerra 2010), twolinkarm", optimum=2.988662, tolerance=2e-3)
