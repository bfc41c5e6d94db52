"""DTOC3: a linear-quadratic problem of 4999 steps (Coleman and Liao 1995).

    (x, y)+ = (x, y) + (y, u - x) / 5000,   sum of (x^2 + y^2 / 2 + 3 u^2) / 5000,   from (15, 5)

The states' cost is not counted at the first stage.
"""

import trisweep as ts
from casadi import vertcat

from ..case import Case, Stated

S = 1 / 5000


def build() -> Stated:
    ocp = ts.Problem(steps=4999)
    x, u = ocp.state("x", 2), ocp.control("u")
    ocp.next(x=vertcat(x[0] + S * x[1], x[1] - S * x[0] + S * u))
    ocp.minimize(3 * S * u**2, name="controls")
    ocp.minimize(S * (x[0] ** 2 + x[1] ** 2 / 2), at=slice(1, None), name="states")
    ocp.constrain("start", x, equals=[15, 5], at="start")
    return Stated(ocp)


CASE = Case(build, source="Maros and Meszaros (1999), DTOC3", optimum=235.262481, tolerance=1e-6)
