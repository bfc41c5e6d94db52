"""Lee and Ramirez' bioreactor: when to feed glucose (u1) and inducer (u2) for most foreign protein.

    d = (u1 + u2) / x1
    x1' = u1 + u2,   x2' = (g - d) x2,   x3' = 100 u1 / x1 - d x3 - g x2 / 0.51,   x4' = R x2 - d x4
    x5' = 4 u2 / x1 - d x5,   x6' = -k x6,   x7' = k (1 - x7),   k = 0.09 x5 / (0.034 + x5)
    s = x3 / (14.35 + x3 (1 + x3 / 111.5)),   g = s (x6 + 0.22 x7 / (0.22 + x5))
    R = 0.233 s (0.0005 + x5) / (0.022 + x5)

Maximise x1 x4 at t = 10, with a small cost of the controls' rates, 1e-3 of their squares. Trapezoidal rule.
"""

import numpy as np
import trisweep as ts
from casadi import sumsqr, vertcat

from ..case import Case, Stated
from ..rules import line, trapezoidal, with_next

START = (1.0, 0.1, 40.0, 0.0, 0.0, 1.0, 0.0)


def rates(x, u):
    x1, x2, x3, x4, x5, x6, x7 = (x[i] for i in range(7))
    dilution = (u[0] + u[1]) / x1
    k = 0.09 * x5 / (0.034 + x5)
    s = x3 / (14.35 + x3 * (1 + x3 / 111.5))
    g = s * (x6 + 0.22 * x7 / (0.22 + x5))
    protein = 0.233 * s * (0.0005 + x5) / (0.022 + x5)
    return vertcat(
        u[0] + u[1],
        (g - dilution) * x2,
        100 * u[0] / x1 - dilution * x3 - g / 0.51 * x2,
        protein * x2 - dilution * x4,
        4 * u[1] / x1 - dilution * x5,
        -k * x6,
        k * (1 - x7),
    )


def build() -> Stated:
    steps = 100
    ocp = ts.Problem(steps=steps, duration=10.0)
    x, u = ocp.state("x", 7, lower=0, upper=[10, 10, 50, 10, 10, 10, 10]), ocp.state("u", 2, lower=0, upper=1)
    _, u_next = trapezoidal(ocp, rates, x, u)
    ocp.minimize(-x[0] * x[3], at="end", name="protein")
    ocp.minimize(1e-3 * sumsqr(u_next - u) / ocp.time_step, name="smoothness")
    ocp.constrain("start", x, equals=START, at="start")
    feed = np.column_stack([np.linspace(0, 1 / 3, steps + 1), np.zeros(steps + 1)])
    return Stated(ocp, with_next({"x": line(START, START, steps), "u": feed}))


CASE = Case(build, source="PSOPT (Becerra 2010), bioreactor", optimum=-6.163913, tolerance=1e-2)
