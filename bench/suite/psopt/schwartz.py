"""Schwartz' problem: a nonlinear oscillator around an ellipse, then to the origin.

    x1' = x2,   x2' = u - 0.1 (1 + 2 x1^2) x2

For t < 1: 9 (x1 - 1)^2 + ((x2 - 0.4) / 0.3)^2 >= 1, |u| <= 1, x2 >= -0.8; to t = 2.9: |u| <= 50. The cost
5 |x|^2 at the end vanishes. Two phases; Runge-Kutta of order 4.
"""

import trisweep as ts
from casadi import sumsqr, vertcat

from ..case import Case, Stated


def build() -> Stated:
    phases = []
    for name, duration, slowest, push in (("around", 1.0, -0.8, 1.0), ("home", 1.9, -10.0, 50.0)):
        ocp = ts.Problem(steps=40, duration=duration, integrator="rk4", name=name)
        x = ocp.state("x", 2, lower=[-20, slowest], upper=10)
        u = ocp.control("u", lower=-push, upper=push)
        ocp.derivative(x=vertcat(x[1], u - 0.1 * (1 + 2 * x[0] ** 2) * x[1]))
        phases.append((ocp, x))
    (around, x), (home, last) = phases
    around.constrain("ellipse", 9 * (x[0] - 1) ** 2 + ((x[1] - 0.4) / 0.3) ** 2, lower=1)
    around.constrain("start", x, equals=1, at="start")
    around.then(home)
    home.minimize(5 * sumsqr(last), at="end", name="at the origin")
    return Stated(around, {"around": {"x": 1.0}, "home": {"x": 1.0}})


CASE = Case(build, source="PSOPT (Becerra 2010), twophase_schwartz", optimum=0.0, tolerance=1e-6)
