"""A block moves by 1 with the least work, which is the size of force times speed, split into two slacks.

x+ = x + h (v, u), u v = s1 - s2, s >= 0, |u| <= 10, 100 steps of 0.01 s; cost h (s1 + s2), 500 |x - (1, 0)|^2 last.
"""

import trisweep as ts
from casadi import sum1, sumsqr, vertcat

from ..case import Case, Stated

STEP = 0.01


def build() -> Stated:
    ocp = ts.Problem(steps=100, step=STEP, integrator="euler")
    x, u = ocp.state("x", 2), ocp.control("u", lower=-10, upper=10)
    s = ocp.control("s", 2, lower=0)
    ocp.derivative(x=vertcat(x[1], u))
    ocp.minimize(STEP * sum1(s), name="work")
    ocp.minimize(500 * sumsqr(x - vertcat(1, 0)), at="end", name="goal")
    ocp.constrain("power", s[0] - s[1] - u * x[1], equals=0)
    ocp.constrain("start", x, equals=0, at="start")
    return Stated(ocp, {"u": 0.01, "s": 0.01})


CASE = Case(build, source="InteriorPointDDP.jl (Xu et al. 2025), double_integrator", optimum=1.26574842, tolerance=1e-5)
