"""A missile flies low, pulls up and dives on its target, in the least time (Subchan and Zbikowski 2007), in SI units.

    gamma' = ((T - D) sin a + L cos a) / (m V) - g cos(gamma) / V,   V' = ((T - D) cos a - L sin a) / m - g sin(gamma)
    x' = V cos(gamma),   h' = V sin(gamma),   D, L = (C_D, C_L) rho(h) V^2 S / 2

C_D = -1.9431 a^2 - 0.1499 a + 0.2359, C_L = 21.9 a, rho = 3.312e-9 h^2 - 1.142e-4 h + 1.224, m = 1005, S = 0.3376.
|L| <= 4 m g, h >= 30 up to x = 7500 and 0 from there on, smoothly. Trapezoidal rule.
"""

import numpy as np
import trisweep as ts
from casadi import cos, sin, tanh, vertcat

from ..case import Case, Stated
from ..rules import line, trapezoidal, with_next

MASS, GRAVITY, AREA = 1005.0, 9.81, 0.3376
START, END = (0.0, 272.0, 0.0, 30.0), (-np.pi / 2, 310.0, 10000.0, 0.0)


def forces(x, u):
    a, h = u[1], x[3]
    pressure = (3.312e-9 * h**2 - 1.142e-4 * h + 1.224) * x[1] ** 2 * AREA / 2
    return (-1.9431 * a**2 - 0.1499 * a + 0.2359) * pressure, 21.9 * a * pressure


def rates(x, u):
    gamma, speed, a = x[0], x[1], u[1]
    drag, lift = forces(x, u)
    push = u[0] - drag
    return vertcat(
        (push * sin(a) + lift * cos(a)) / (MASS * speed) - GRAVITY * cos(gamma) / speed,
        (push * cos(a) - lift * sin(a)) / MASS - GRAVITY * sin(gamma),
        speed * cos(gamma),
        speed * sin(gamma),
    )


def build() -> Stated:
    steps = 80
    ocp = ts.Problem(steps=steps, duration=ts.Free(guess=50.0, lower=10.0, upper=100.0))
    x = ocp.state("x", 4, lower=[-np.pi / 2, 200, 0, 0], upper=[np.pi / 2, 310, 10000, 1900])
    u = ocp.state("u", 2, lower=[1000, -0.3], upper=[6000, 0.3])
    trapezoidal(ocp, rates, x, u)
    ocp.minimize(ocp.time_step * steps, at="end", name="time")
    low = (1 + tanh((7500 - x[2]) / 10)) / 2
    ocp.constrain("load factor", forces(x, u)[1] / (MASS * GRAVITY), lower=-4, upper=4)
    ocp.constrain("above ground", x[3] - 30 * low, lower=0)
    ocp.constrain("start", x, equals=START, at="start")
    ocp.constrain("end", x, equals=END, at="end")
    return Stated(ocp, with_next({"x": line(START, END, steps), "u": [6000.0, 0.0]}))


CASE = Case(build, source="PSOPT (Becerra 2010), missile", optimum=40.91862, tolerance=1e-2)
