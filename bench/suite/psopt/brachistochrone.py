"""The curve on which a bead slides from the origin to (2, 2) m, two down, in the least time.

    x' = v sin(theta),   y' = v cos(theta),   v' = 9.8 cos(theta)

States x, y in m, v in m/s, control theta from the vertical in rad; Runge-Kutta of order 4.
"""

import numpy as np
import trisweep as ts
from casadi import cos, sin, vertcat

from ..case import Case, Stated
from ..rules import line


def build() -> Stated:
    steps = 40
    ocp = ts.Problem(steps=steps, duration=ts.Free(guess=2.0, lower=1e-3, upper=10.0), integrator="rk4")
    x = ocp.state("x", 3, lower=0, upper=20)
    theta = ocp.control("theta", lower=0, upper=2 * np.pi)
    ocp.derivative(x=vertcat(x[2] * sin(theta), x[2] * cos(theta), 9.8 * cos(theta)))
    ocp.minimize(ocp.time_step * steps, at="end", name="time")
    ocp.constrain("start", x, equals=0, at="start")
    ocp.constrain("end", x[:2], equals=2, at="end")
    return Stated(ocp, {"x": line([0, 0, 0], [1, 1, 1], steps), "theta": 1.0})


CASE = Case(build, source="PSOPT (Becerra 2010), brac1", optimum=0.8247591, tolerance=1e-3)
