"""When to buy and sell wheat whose price swings: p(t) = 1 + sin(pi t / 3 + 3 pi / 2) / 2.

    c' = 0.01 c - 0.2 w - p (b + s) - 0.01 b + 0.05 s,   w' = b + s - 0.05 w,   0 <= b <= 1,   -1 <= s <= 0

Cash c and wheat w are not negative, c(0) = 1, w(0) = 0; most wealth c + p w at t = 12. Trapezoidal rule.
"""

import numpy as np
import trisweep as ts
from casadi import vertcat

from ..case import Case, Stated
from ..rules import by_stages, trapezoidal, with_next


def rates(x, u, price):
    trade = u[0] + u[1]
    cash = 0.01 * x[0] - 0.2 * x[1] - price * trade - 0.01 * u[0] + 0.05 * u[1]
    return vertcat(cash, trade - 0.05 * x[1])


def build() -> Stated:
    steps = 120
    ocp = ts.Problem(steps=steps, duration=12.0)
    x, u = ocp.state("x", 2, lower=0), ocp.state("u", 2, lower=[0, -1], upper=[1, 0])
    times = np.linspace(0, 12, steps + 1)
    price, given = by_stages(ocp, "price", 1 + 0.5 * np.sin(np.pi * times / 3 + 1.5 * np.pi))
    trapezoidal(ocp, rates, x, u, data=price)
    ocp.minimize(-(x[0] + price[0] * x[1]), at="end", name="wealth")
    ocp.constrain("start", x, equals=[1, 0], at="start")
    return Stated(ocp, with_next({"x": [1.0, 0.0], "u": 0.0}), given)


CASE = Case(build, source="PSOPT (Becerra 2010), wheat", optimum=-1.742652, tolerance=3e-2)
