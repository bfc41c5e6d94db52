"""Rates of a predator and its prey, from ten measurements of both.

    x1' = -p1 x1 + p2 x1 x2,   x2' = p3 x2 - p4 x1 x2,   x(0) = (0.4, 1)

Four Gauss points a step of 1/4; -1 <= p <= 5.
"""

import trisweep as ts
from casadi import vertcat

from ..case import Case, Stated
from ..measurements import least_squares
from ..rules import collocation

# x1, x2 at t = 1 ... 10
MEASURED = (
    (0.58462429, 1.653802752), (1.480323792, 1.898433328), (1.941197515, 0.791087389), (1.266090393, 0.402385741),
    (0.68499583, 0.435968041), (0.435253441, 0.725707829), (0.404814065, 1.244405746), (0.822427034, 2.052562952),
    (1.771604896, 1.426515341), (1.754832745, 0.548344791),
)  # fmt: skip


def build() -> Stated:
    ocp = ts.Problem(steps=40, duration=10.0)
    x, p = ocp.state("x", 2, lower=0, upper=3), ocp.state("p", 4)

    def rates(x):
        met = x[0] * x[1]
        return vertcat(p[1] * met - p[0] * x[0], p[2] * x[1] - p[3] * met)

    value = collocation(ocp, rates, x, points=4)
    ocp.next(p=p)
    ocp.constrain("start", x, equals=[0.4, 1], at="start")
    ocp.constrain("rates", p, lower=-1, upper=5, at="start")
    given = least_squares(ocp, value, range(1, 11), MEASURED, 10.0)
    return Stated(ocp, {"x": [0.4, 1.0], "p": [0.8, 0.8, 1.5, 1.5]}, given)


CASE = Case(build, source="PSOPT (Becerra 2010), predator", optimum=0.02753366, tolerance=1e-3)
