"""The length of a pendulum on a table, from where its tip was seen: a DAE of index 3.

    p'' = lambda p,   |p|^2 = L^2

Seen at (sin, cos)(t + 1/2) at t = 1/2, 1, ... 10, so L = 1 and the squared errors vanish. Runge-Kutta of order 4; the
force lambda is the control, and the length a constant state.
"""

import numpy as np
import trisweep as ts
from casadi import sumsqr

from ..case import Case, Stated


def build() -> Stated:
    steps = 40
    ocp = ts.Problem(steps=steps, duration=10.0, integrator="rk4")
    p, v = ocp.state("p", 2, lower=-2, upper=2), ocp.state("v", 2, lower=-2, upper=2)
    length = ocp.state("length")
    force = ocp.control("force", lower=-10, upper=10)
    seen = ocp.parameter("seen", 2, per_stage=True)
    ocp.derivative(p=v, v=force * p, length=0 * length)
    ocp.minimize(sumsqr(p - seen), at=slice(2, None, 2), name="squared errors")
    ocp.constrain("rigid", length**2 - sumsqr(p), equals=0)
    ocp.constrain("a length", length, lower=0, upper=5, at="start")
    t = np.linspace(0, 10, steps + 1) + 0.5
    tip = np.column_stack([np.sin(t), np.cos(t)])
    return Stated(ocp, {"p": tip, "v": 1.0, "length": 0.5}, {"seen": tip})


CASE = Case(build, source="PSOPT (Becerra 2010), dae_i3", optimum=0.0, tolerance=1e-4)
