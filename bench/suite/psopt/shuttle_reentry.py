"""The space shuttle's re-entry with the greatest cross range (Betts 2010, 6.1), in feet, seconds and radians.

State (altitude h, longitude, latitude theta, speed v, climb gamma, azimuth psi), controls angle of attack and bank:

    h' = v sin gamma,   phi' = v cos gamma sin psi / (r cos theta),   theta' = v cos gamma cos psi / r
    v' = -D / m - g sin gamma,   gamma' = L cos beta / (m v) + cos gamma (v / r - g / v)
    psi' = L sin beta / (m v cos gamma) + v cos gamma sin psi sin theta / (r cos theta)

The cost is minus the last latitude, in degrees. Trapezoidal rule.
"""

import numpy as np
import trisweep as ts
from casadi import cos, exp, sin, vertcat

from ..case import Case, Stated
from ..rules import line, trapezoidal, with_next

MASS, AREA, RADIUS, MU = 203000 / 32.174, 2690.0, 20902900.0, 0.14076539e17
DEGREE = np.pi / 180


def rates(x, u):
    h, theta, v, gamma, psi = x[0], x[2], x[3], x[4], x[5]
    attack, bank = u[0] / DEGREE, u[1]
    r = RADIUS + h
    g = MU / r**2
    pressure = 0.002378 * exp(-h / 23800) * v**2 / 2 * AREA / MASS
    drag = (0.07854 - 6.1592e-3 * attack + 6.21408e-4 * attack**2) * pressure
    lift = (-0.20704 + 0.029244 * attack) * pressure
    along = v * cos(gamma) / r
    return vertcat(
        v * sin(gamma),
        along * sin(psi) / cos(theta),
        along * cos(psi),
        -drag - g * sin(gamma),
        lift * cos(bank) / v + cos(gamma) * (v / r - g / v),
        lift * sin(bank) / (v * cos(gamma)) + along * sin(psi) * sin(theta) / cos(theta),
    )


def build() -> Stated:
    steps = 100
    ocp = ts.Problem(steps=steps, duration=ts.Free(guess=2000.0, lower=100.0, upper=4000.0))
    low = [0, -np.pi, -89 * DEGREE, 1000, -89 * DEGREE, -np.pi]
    high = [300000, np.pi, 89 * DEGREE, 40000, 89 * DEGREE, np.pi]
    x = ocp.state("x", 6, lower=low, upper=high)
    u = ocp.state("u", 2, lower=[-89 * DEGREE, -np.pi / 2], upper=[89 * DEGREE, DEGREE])
    trapezoidal(ocp, rates, x, u)
    ocp.minimize(-x[2] / DEGREE, at="end", name="cross range")
    start, end = (260000, 0, 0, 25600, -DEGREE, np.pi / 2), (80000, 0, 0, 2500, -5 * DEGREE, -np.pi / 2)
    ocp.constrain("start", x, equals=start, at="start")
    ocp.constrain("end", vertcat(x[0], x[3], x[4]), equals=[end[0], end[3], end[4]], at="end")
    return Stated(ocp, with_next({"x": line(start, end, steps), "u": [0.0, -DEGREE]}))


CASE = Case(build, source="PSOPT (Becerra 2010), shuttle_reentry", optimum=-34.14119, tolerance=5e-3)
