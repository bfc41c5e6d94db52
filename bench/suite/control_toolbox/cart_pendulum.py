"""A pendulum on a cart swings up in the least time.

    (I + m L^2 / 4) theta'' = -(m L / 2) (x'' cos theta + g sin theta),   I = m L^2 / 12
    (M + m) x'' + (m L / 2) (theta'' cos theta - theta'^2 sin theta) = F

M = 0.5 kg, m = 1 kg, L = 1 m, |F| <= 5 N, |x| <= 1 m, |x'| <= 2 m/s, theta from hanging to pi. Trapezoidal rule.
The guess is a swing that grows; from a straight way no solver here finds a feasible motion.
"""

import numpy as np
import trisweep as ts
from casadi import cos, sin, vertcat

from ..case import Case, Stated
from ..rules import trapezoidal, with_next

CART, POLE, LENGTH, GRAVITY = 0.5, 1.0, 1.0, 9.81


def rates(x, u):
    theta, omega = x[1], x[3]
    arm, inertia = POLE * LENGTH / 2, POLE * LENGTH**2 / 3
    a = (u + arm * omega**2 * sin(theta) + arm**2 / inertia * GRAVITY * sin(theta) * cos(theta)) / (
        CART + POLE - arm**2 / inertia * cos(theta) ** 2
    )
    return vertcat(x[2:], a, -arm / inertia * (a * cos(theta) + GRAVITY * sin(theta)))


def build() -> Stated:
    steps = 100
    ocp = ts.Problem(steps=steps, duration=ts.Free(guess=3.0, lower=0.1))
    inf = np.inf
    x = ocp.state("x", 4, lower=[-1, -inf, -2, -inf], upper=[1, inf, 2, inf])
    u = ocp.state("u", lower=-5, upper=5)
    trapezoidal(ocp, rates, x, u)
    ocp.minimize(ocp.time_step * steps, at="end", name="time")
    ocp.constrain("start", vertcat(x[0], x[1], x[3]), equals=0, at="start")
    ocp.constrain("stand", vertcat(x[1], x[3]), equals=[np.pi, 0], at="end")
    t = np.linspace(0, 1, steps + 1)
    swing = np.pi * t * np.cos(3 * np.pi * (1 - t))
    way = np.column_stack([0 * t, swing, 0 * t, np.gradient(swing, 3.0 / steps)])
    return Stated(ocp, with_next({"x": way, "u": 0.0}))


CASE = Case(build, source="OptimalControlProblems.jl, cart_pendulum (equations of motion derived anew)")
