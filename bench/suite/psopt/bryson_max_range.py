"""The greatest range of a vehicle whose thrust of half its weight may point anywhere.

    x' = v u1,   y' = v u2,   v' = 1/2 - u2,   u1^2 + u2^2 = 1

From rest at the origin to the height 0.1 in time 2. Runge-Kutta of order 4.
"""

import trisweep as ts
from casadi import sumsqr, vertcat

from ..case import Case, Stated
from ..rules import line


def build() -> Stated:
    steps = 50
    ocp = ts.Problem(steps=steps, duration=2.0, integrator="rk4")
    x = ocp.state("x", 3, lower=-10, upper=10)
    u = ocp.control("u", 2, lower=-10, upper=10)
    ocp.derivative(x=vertcat(x[2] * u[0], x[2] * u[1], 0.5 - u[1]))
    ocp.minimize(-x[0], at="end", name="range")
    ocp.constrain("unit direction", sumsqr(u), equals=1)
    ocp.constrain("start", x, equals=0, at="start")
    ocp.constrain("height", x[1], equals=0.1, at="end")
    return Stated(ocp, {"x": line([0, 0, 0], [1, 0.1, 1], steps), "u": [1.0, 0.0]})


CASE = Case(build, source="PSOPT (Becerra 2010), bryson_max_range", optimum=-1.712313, tolerance=2e-3)
