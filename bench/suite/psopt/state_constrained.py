"""A state below a parabola in time: x1' = x2, x2' = -x2 + u, x2 <= 8 (t - 1/2)^2 - 1/2.

Integral of x1^2 + x2^2 + 0.005 u^2 over 1, from (0, -1), |u| <= 20. Trapezoidal rule.
"""

import numpy as np
import trisweep as ts
from casadi import vertcat

from ..case import Case, Stated
from ..rules import by_stages, trapezoidal


def build() -> Stated:
    steps = 100
    ocp = ts.Problem(steps=steps, duration=1.0)
    x, u = ocp.state("x", 2, lower=-2, upper=2), ocp.state("u", lower=-20, upper=20)
    roof, given = by_stages(ocp, "roof", 8 * (np.linspace(0, 1, steps + 1) - 0.5) ** 2 - 0.5)
    cost = lambda x, u: x[0] ** 2 + x[1] ** 2 + 0.005 * u**2  # noqa: E731
    trapezoidal(ocp, lambda x, u: vertcat(x[1], u - x[1]), x, u, integrand=cost)
    ocp.constrain("below the roof", x[1] - roof[0], upper=0)
    ocp.constrain("start", x, equals=[0, -1], at="start")
    return Stated(ocp, {}, given)


CASE = Case(build, source="PSOPT (Becerra 2010), stc1", optimum=0.169818, tolerance=1e-3)
