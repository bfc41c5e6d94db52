"""A hang glider uses a thermal to get as far as it can while it loses 100 m.

    r = (x / 100 - 2.5)^2,   updraft = 2.5 (1 - r) exp(-r),   w = vy - updraft,   v = sqrt(vx^2 + w^2)
    D = (c0 + c1 cL^2) rho S v^2 / 2,   L = cL rho S v^2 / 2
    m vx' = -(L w + D vx) / v,   m vy' = (L vx - D w) / v - m g,   0 <= cL <= 1.4

State (x, y, vx, vy) in m and m/s, control cL.
"""

import numpy as np
import trisweep as ts
from casadi import exp, sqrt, vertcat

from ..case import Case, Stated
from ..rules import trapezoidal, with_next

MASS, GRAVITY, SPAN, DENSITY = 100.0, 9.81, 14.0, 1.13
DRAG, INDUCED, LIFT_LIMIT = 0.034, 0.069662, 1.4
SPEED = (13.23, -1.288)


def rates(x, u):
    r = (x[0] / 100 - 2.5) ** 2
    w = x[3] - 2.5 * (1 - r) * exp(-r)
    v = sqrt(x[2] ** 2 + w**2)
    pressure = DENSITY * SPAN * v / 2  # times v
    drag, lift = (DRAG + INDUCED * u**2) * pressure, u * pressure
    return vertcat(x[2:], -(lift * w + drag * x[2]) / MASS, (lift * x[2] - drag * w) / MASS - GRAVITY)


def build() -> Stated:
    steps = 100
    ocp = ts.Problem(steps=steps, duration=ts.Free(guess=1.0))
    x = ocp.state("x", 4, lower=[0, -np.inf, 0, -np.inf])
    u = ocp.state("u", lower=0, upper=LIFT_LIMIT)
    trapezoidal(ocp, rates, x, u)
    ocp.minimize(-x[0], at="end", name="range")
    ocp.constrain("start", x, equals=[0, 1000, *SPEED], at="start")
    ocp.constrain("end", x[1:], equals=[900, *SPEED], at="end")
    t, one = np.linspace(0, 1, steps + 1), np.ones(steps + 1)
    way = np.column_stack([SPEED[0] * t, 1000 - 100 * t, SPEED[0] * one, SPEED[1] * one])
    return Stated(ocp, with_next({"x": way, "u": LIFT_LIMIT / 2}))


CASE = Case(build, source="COPS 3.0 (Dolan, More, Munson 2004), problem 11", optimum=-1255.05, tolerance=1e-4)
