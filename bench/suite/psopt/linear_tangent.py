"""Linear tangent steering: the height 5 with the speed (45, 0) in the least time, with an acceleration of 100.

As COPS' particle, but by Runge-Kutta of order 4 and from another guess: the angle starts at 1.
"""

import numpy as np
import trisweep as ts
from casadi import cos, sin, vertcat

from ..case import Case, Stated
from ..rules import line


def build() -> Stated:
    steps = 50
    ocp = ts.Problem(steps=steps, duration=ts.Free(guess=1.0, lower=1e-3, upper=1.0), integrator="rk4")
    p, v = ocp.state("p", 2, lower=-100, upper=100), ocp.state("v", 2, lower=-100, upper=100)
    angle = ocp.control("angle", lower=-np.pi / 2, upper=np.pi / 2)
    ocp.derivative(p=v, v=100 * vertcat(cos(angle), sin(angle)))
    ocp.minimize(ocp.time_step * steps, at="end", name="time")
    ocp.constrain("start", vertcat(p, v), equals=0, at="start")
    ocp.constrain("end", vertcat(p[1], v), equals=[5, 45, 0], at="end")
    return Stated(ocp, {"p": line([0, 0], [12, 5], steps), "v": line([0, 0], [45, 0], steps), "angle": 1.0})


CASE = Case(build, source="PSOPT (Becerra 2010), lts", optimum=0.5545709, tolerance=1e-3)
