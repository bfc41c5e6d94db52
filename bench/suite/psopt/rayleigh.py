"""Rayleigh's oscillator with a mixed constraint on control and state.

    x1' = x2,   x2' = -x1 + x2 (1.4 - 0.14 x2^2) + 4 u,   u + x1 / 6 <= 0

Integral of u^2 + x1^2 over 4.5, from (-5, -5). Trapezoidal rule.
"""

import trisweep as ts
from casadi import vertcat

from ..case import Case, Stated
from ..rules import trapezoidal, with_next


def build() -> Stated:
    ocp = ts.Problem(steps=200, duration=4.5)
    x, u = ocp.state("x", 2, lower=-10, upper=10), ocp.state("u", lower=-10, upper=10)
    rates = lambda x, u: vertcat(x[1], -x[0] + x[1] * (1.4 - 0.14 * x[1] ** 2) + 4 * u)  # noqa: E731
    trapezoidal(ocp, rates, x, u, integrand=lambda x, u: u**2 + x[0] ** 2)
    ocp.constrain("mixed", u + x[0] / 6, upper=0)
    ocp.constrain("start", x, equals=-5, at="start")
    return Stated(ocp, with_next({"x": -5.0, "u": 0.0}))


CASE = Case(build, source="PSOPT (Becerra 2010), rayleigh", optimum=44.77625, tolerance=2e-3)
