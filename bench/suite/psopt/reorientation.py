"""A satellite turns by 150 degrees in the least time (Betts 2010, 6.8): quaternion with its fourth entry as a control.

    q' by omega, omega' = (u - omega x I omega) / I,   I = diag(5621, 4547, 2364) kg m^2,   |u| <= 50 N m,   |q| = 1

Trapezoidal rule.
"""

import numpy as np
import trisweep as ts
from casadi import sumsqr, vertcat

from ..case import Case, Stated
from ..rules import line, trapezoidal, with_next

X, Y, Z = 5621.0, 4547.0, 2364.0
HALF = np.radians(75)


def rates(x, u):
    a, b, c, p, q, r = (x[i] for i in range(6))
    d = u[3]
    turn = vertcat(p * d - q * c + r * b, p * c + q * d - r * a, -p * b + q * a + r * d) / 2
    return vertcat(turn, (u[0] - (Z - Y) * q * r) / X, (u[1] - (X - Z) * p * r) / Y, (u[2] - (Y - X) * p * q) / Z)


def build() -> Stated:
    steps = 60
    ocp = ts.Problem(steps=steps, duration=ts.Free(guess=30.0, lower=25.0, upper=35.0))
    box = np.array([1, 1, 1, 0.5, 0.5, 0.5])
    x = ocp.state("x", 6, lower=-box, upper=box)
    u = ocp.state("u", 4, lower=[-50, -50, -50, -1.1], upper=[50, 50, 50, 1.1])
    trapezoidal(ocp, rates, x, u)
    ocp.minimize(ocp.time_step * steps, at="end", name="time")
    ocp.constrain("unit quaternion", sumsqr(vertcat(x[:3], u[3])), equals=1)
    end = np.array([np.sin(HALF), 0, 0, 0, 0, 0])
    ocp.constrain("start", x, equals=0, at="start")
    ocp.constrain("end", x, equals=end, at="end")
    commands = line([50, 50, 50, 1], [50, 50, 50, np.cos(HALF)], steps)
    return Stated(ocp, with_next({"x": line(np.zeros(6), end, steps), "u": commands}))


CASE = Case(build, source="PSOPT (Becerra 2010), reorientation", optimum=28.63041, tolerance=1e-3)
