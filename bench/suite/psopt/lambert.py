"""Lambert's problem: the orbit through two places in a given time, in m and s. There is no cost: only an answer.

    r'' = -mu r / |r|^3,   mu = 6.672e-11 * 5.9742e24

From (15945.34, 0, 0) km to (12214.83899, 10249.46731, 0) km in 76 min. Runge-Kutta of order 4.
"""

import trisweep as ts
from casadi import norm_2

from ..case import Case, Stated
from ..rules import line

MU, DURATION = 6.672e-11 * 5.9742e24, 76 * 60.0
START, END = (15945.34e3, 0.0, 0.0), (12214.83899e3, 10249.46731e3, 0.0)


def build() -> Stated:
    steps = 100
    ocp = ts.Problem(steps=steps, duration=DURATION, integrator="rk4")
    most = 10 * START[0]
    r, v = ocp.state("r", 3, lower=-most, upper=most), ocp.state("v", 3, lower=-most / DURATION, upper=most / DURATION)
    ocp.derivative(r=v, v=-MU * r / norm_2(r) ** 3)
    ocp.constrain("start", r, equals=START, at="start")
    ocp.constrain("end", r, equals=END, at="end")
    return Stated(ocp, {"r": line(START, END, steps), "v": [(b - a) / DURATION for a, b in zip(START, END)]})


CASE = Case(build, source="PSOPT (Becerra 2010), lambert", optimum=0.0, tolerance=1e-6)
