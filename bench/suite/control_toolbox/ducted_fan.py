"""A ducted fan moves 1 m sideways and comes to rest, in little time and with little effort.

    2.2 x'' = u1 cos a - u2 sin a,   2.2 y'' = -4 + u1 sin a + u2 cos a,   0.05 a'' = 0.2 u1

|u1| <= 5 N, 0 <= u2 <= 17 N, |a| <= 30 deg. Integral of 2 u1^2 + u2^2, and 1000 times the time; trapezoidal rule.
Graichen and Petit (2009).
"""

import numpy as np
import trisweep as ts
from casadi import cos, sin, vertcat

from ..case import Case, Stated
from ..rules import line, trapezoidal, with_next


def rates(x, u):
    c, s = cos(x[2]), sin(x[2])
    return vertcat(x[3:], (u[0] * c - u[1] * s) / 2.2, (u[0] * s + u[1] * c - 4) / 2.2, 4 * u[0])


def build() -> Stated:
    steps, tilt, inf = 100, np.radians(30), [np.inf] * 3
    ocp = ts.Problem(steps=steps, duration=ts.Free(guess=1.0))
    x = ocp.state("x", 6, lower=[-np.inf, -np.inf, -tilt, *np.negative(inf)], upper=[np.inf, np.inf, tilt, *inf])
    u = ocp.state("u", 2, lower=[-5, 0], upper=[5, 17])
    trapezoidal(ocp, rates, x, u, integrand=lambda x, u: 2 * u[0] ** 2 + u[1] ** 2)
    ocp.minimize(1000 * ocp.time_step * steps, at="end", name="time")
    ocp.constrain("start", x, equals=0, at="start")
    ocp.constrain("end", x, equals=[1, 0, 0, 0, 0, 0], at="end")
    return Stated(ocp, with_next({"x": line([0] * 6, [1, 0, 0, 0, 0, 0], steps), "u": [0.0, 4.0]}))


CASE = Case(build, source="OptimalControlProblems.jl, ducted_fan")
