"""How to mix two catalysts along a tubular reactor so that most of the third substance is made.

    x1' = u (10 x2 - x1),   x2' = u (x1 - 10 x2) - (1 - u) x2,   0 <= u <= 1
    minimise  x1 + x2 - 1  at the end, t = 1

As in COPS, three Gauss points a step, with a control at each.
"""

import trisweep as ts
from casadi import vertcat

from ..case import Case, Stated
from ..rules import collocation

POINTS = 3


def build() -> Stated:
    ocp = ts.Problem(steps=100, duration=1.0)
    x = ocp.state("x", 2)
    u = ocp.control("u", POINTS, lower=0, upper=1)
    shares = iter(u[i] for i in range(POINTS))

    def rates(x):
        share = next(shares)
        forward = share * (10 * x[1] - x[0])
        return vertcat(forward, -forward - (1 - share) * x[1])

    collocation(ocp, rates, x, POINTS)
    ocp.minimize(x[0] + x[1] - 1, at="end", name="what is left")
    ocp.constrain("feed", x, equals=[1, 0], at="start")
    return Stated(ocp, {"x": [1.0, 0.0]})


CASE = Case(build, source="COPS 3.0 (Dolan, More, Munson 2004), problem 14", optimum=-0.0480556, tolerance=1e-6)
