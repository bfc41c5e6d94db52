"""The F-8 aircraft recovers from an angle of attack in the least time, its tail's angle w within 0.05236 rad (relaxed).

    x1' = -0.877 x1 + x3 - 0.088 x1 x3 + 0.47 x1^2 - 0.019 x2^2 - x1^2 x3 + 3.846 x1^3
          - 0.215 w + 0.28 x1^2 w + 0.47 x1 w^2 + 0.63 w^3
    x2' = x3,   x3' = -4.208 x1 - 0.396 x3 - 0.47 x1^2 - 3.564 x1^3 - 20.967 w + 6.265 x1^2 w + 46 x1 w^2 + 61.4 w^3

From (0.4655, 0, 0) to rest (Kaya and Noakes 2003; mintOC). Runge-Kutta of order 4.
"""

import trisweep as ts
from casadi import vertcat

from ..case import Case, Stated
from ..rules import line

START = (0.4655, 0.0, 0.0)


def build() -> Stated:
    steps = 120
    ocp = ts.Problem(steps=steps, duration=ts.Free(guess=3.781, lower=1.0, upper=8.0), integrator="rk4")
    x, w = ocp.state("x", 3, lower=-2, upper=2), ocp.control("w", lower=-0.05236, upper=0.05236)
    a, b, q = x[0], x[1], x[2]
    climb = -0.877 * a + q - 0.088 * a * q + 0.47 * a**2 - 0.019 * b**2 - a**2 * q + 3.846 * a**3
    climb += -0.215 * w + 0.28 * a**2 * w + 0.47 * a * w**2 + 0.63 * w**3
    pitch = -4.208 * a - 0.396 * q - 0.47 * a**2 - 3.564 * a**3
    pitch += -20.967 * w + 6.265 * a**2 * w + 46 * a * w**2 + 61.4 * w**3
    ocp.derivative(x=vertcat(climb, q, pitch))
    ocp.minimize(ocp.time_step * steps, at="end", name="time")
    ocp.constrain("start", x, equals=START, at="start")
    ocp.constrain("end", x, equals=0, at="end")
    return Stated(ocp, {"x": line(START, (0, 0, 0), steps)})


CASE = Case(
    build, source="PSOPT (Becerra 2010), f8; a local optimum of mintOC (Schlueter)", optimum=5.72864, tolerance=1e-3
)
