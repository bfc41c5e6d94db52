"""Algae c and bacteria e live together in a reactor: most algae harvested in 20 days.

    s' = d (0.5 - s) - phi(s) e / 0.44,   e' = ((1 - a) phi(s) - d) e,   v' = 0.023 a phi(s) e - rho(v) c - d v
    q' = rho(v) - mu(q) q,   c' = (mu(q) - d) c
    phi(s) = 6.48 s / (0.09 + s),   rho(v) = 0.0273 v / (0.00057 + v),   mu(q) = 1.0211 (1 - 0.0027628 / q)

Controls: share a in [0, 1] and dilution d in [0, 1.5]; integral of d c. Trapezoidal rule.
"""

import trisweep as ts
from casadi import vertcat

from ..case import Case, Stated
from ..rules import line, trapezoidal, with_next

LEAST_QUOTA = 2.7628e-3
START = (0.1629, 0.0487, 0.0003, 0.0177, 0.035)


def rates(x, u):
    s, e, v, q, c = (x[i] for i in range(5))
    a, d = u[0], u[1]
    phi, rho = 6.48 * s / (0.09 + s), 27.3e-3 * v / (0.57e-3 + v)
    mu = 1.0211 * (1 - LEAST_QUOTA / q)
    return vertcat(
        d * (0.5 - s) - phi * e / 0.44,
        ((1 - a) * phi - d) * e,
        23e-3 * a * phi * e - rho * c - d * v,
        rho - mu * q,
        (mu - d) * c,
    )


def build() -> Stated:
    steps = 200
    ocp = ts.Problem(steps=steps, duration=20.0)
    x = ocp.state("x", 5, lower=[0, 0, 0, LEAST_QUOTA, 0])
    u = ocp.state("u", 2, lower=0, upper=[1, 1.5])
    trapezoidal(ocp, rates, x, u, integrand=lambda x, u: -u[1] * x[4])
    ocp.constrain("start", x, equals=START, at="start")
    return Stated(ocp, with_next({"x": line(START, START, steps), "u": 0.5}))


CASE = Case(build, source="CTDirect.jl, algal_bacterial", optimum=-5.45, tolerance=1e-2)
