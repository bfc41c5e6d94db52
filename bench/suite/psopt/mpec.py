"""A slope that jumps where the state changes sign, by complementarity with a penalty: y' = 2 - s.

    -y - p + q = 0,   -1 <= s <= 1,   p, q >= 0,   penalty 1000 (p (s + 1) + q (1 - s))

(y(2) - 5/3)^2 and the integral of y^2 over 2, from -1. Trapezoidal rule.
"""

import trisweep as ts

from ..case import Case, Stated
from ..rules import trapezoidal, with_next


def cost(y, u):
    return y**2 + 1e3 * (u[1] * (u[0] + 1) + u[2] * (1 - u[0]))


def build() -> Stated:
    ocp = ts.Problem(steps=100, duration=2.0)
    y, u = ocp.state("x", lower=-10, upper=10), ocp.state("u", 3, lower=[-1, 0, 0], upper=[1, 10, 10])
    trapezoidal(ocp, lambda y, u: 2 - u[0], y, u, integrand=cost)
    ocp.minimize((y - 5 / 3) ** 2, at="end", name="goal")
    ocp.constrain("sign", -y - u[1] + u[2], equals=0)
    ocp.constrain("start", y, equals=-1, at="start")
    return Stated(ocp, with_next({"x": -1.0, "u": 0.0}))


CASE = Case(build, source="PSOPT (Becerra 2010), mpec", optimum=1.678929, tolerance=3e-2)
