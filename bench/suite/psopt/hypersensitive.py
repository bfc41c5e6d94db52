"""The hypersensitive problem: x' = -x^3 + u, integral of (x^2 + u^2) / 2 over 50, from 1.5 to 1.

Nothing happens but at both ends, and growth and decay are fast there. Trapezoidal rule.
"""

import trisweep as ts

from ..case import Case, Stated
from ..rules import trapezoidal, with_next


def build() -> Stated:
    ocp = ts.Problem(steps=1000, duration=50.0)
    x, u = ocp.state("x", lower=-50, upper=50), ocp.state("u", lower=-50, upper=50)
    trapezoidal(ocp, lambda x, u: u - x**3, x, u, integrand=lambda x, u: (x**2 + u**2) / 2)
    ocp.constrain("start", x, equals=1.5, at="start")
    ocp.constrain("end", x, equals=1, at="end")
    return Stated(ocp, with_next({"x": 1.0, "u": 0.0}))


CASE = Case(build, source="PSOPT (Becerra 2010), hypersensitive", optimum=1.330826, tolerance=8e-3)
