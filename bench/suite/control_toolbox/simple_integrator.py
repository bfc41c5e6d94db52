"""Two controls that only their difference tells apart: x' = -x - u1 + u2, u >= 0, integral of (u1 + u2)^2 over 1.

From -1 to 0; the cost's Hessian in u is singular. Trapezoidal rule.
"""

import trisweep as ts

from ..case import Case, Stated
from ..rules import trapezoidal, with_next


def build() -> Stated:
    ocp = ts.Problem(steps=100, duration=1.0)
    x, u = ocp.state("x"), ocp.state("u", 2, lower=0)
    trapezoidal(ocp, lambda x, u: -x - u[0] + u[1], x, u, integrand=lambda x, u: (u[0] + u[1]) ** 2)
    ocp.constrain("start", x, equals=-1, at="start")
    ocp.constrain("end", x, equals=0, at="end")
    return Stated(ocp, with_next({"x": 0.1, "u": 0.1}))


CASE = Case(build, source="CTDirect.jl, simple_integrator", optimum=0.313, tolerance=1e-3)
