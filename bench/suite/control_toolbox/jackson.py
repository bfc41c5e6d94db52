"""Jackson's mixture of two catalysts: most of the third substance in t = 4.

    a' = -u (a - 10 b),   b' = u (a - 10 b) - (1 - u) b,   c' = (1 - u) b,   0 <= u <= 1

Part of the best control is singular. Trapezoidal rule.
"""

import trisweep as ts
from casadi import vertcat

from ..case import Case, Stated
from ..rules import trapezoidal, with_next


def rates(x, u):
    exchange, made = u * (x[0] - 10 * x[1]), (1 - u) * x[1]
    return vertcat(-exchange, exchange - made, made)


def build() -> Stated:
    ocp = ts.Problem(steps=100, duration=4.0)
    x = ocp.state("x", 3, lower=0, upper=1.1)
    u = ocp.state("u", lower=0, upper=1)
    trapezoidal(ocp, rates, x, u)
    ocp.minimize(-x[2], at="end", name="third substance")
    ocp.constrain("start", x, equals=[1, 0, 0], at="start")
    return Stated(ocp, with_next({"x": 0.1, "u": 0.1}))


CASE = Case(build, source="OptimalControlProblems.jl, jackson; value of CTDirect.jl", optimum=-0.192011, tolerance=1e-3)
