"""A soft landing on the moon with little fuel, in scaled units.

    h' = v,   v' = -1 + T / m,   m' = -T / 2.349,   0 <= T <= 1.227

From h = 1 with v = -0.783, m = 1 to rest on the ground; integral of T, time free. Runge-Kutta of order 4.
"""

import trisweep as ts
from casadi import vertcat

from ..case import Case, Stated
from ..rules import line


def build() -> Stated:
    steps = 70
    ocp = ts.Problem(steps=steps, duration=ts.Free(guess=1.5, lower=1e-2, upper=1000.0), integrator="rk4")
    x = ocp.state("x", 3, lower=[-20, -20, 0.01], upper=[20, 20, 1])
    thrust = ocp.control("thrust", lower=0, upper=1.227)
    ocp.derivative(x=vertcat(x[1], thrust / x[2] - 1, -thrust / 2.349))
    ocp.minimize(ocp.time_step * thrust, name="fuel")
    ocp.constrain("start", x, equals=[1, -0.783, 1], at="start")
    ocp.constrain("land", x[:2], equals=0, at="end")
    return Stated(ocp, {"x": line([1, -0.783, 1], [0, 0, 0.01], steps), "thrust": 0.6})


CASE = Case(build, source="PSOPT (Becerra 2010), moon", optimum=1.420411, tolerance=1e-3)
