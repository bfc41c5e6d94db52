"""The shortest flight from New York to London on a flattened earth, in km and h.

(x, y, z)' = 900 (sin theta cos phi, sin theta sin phi, cos theta) on (x^2 + y^2) / a^2 + z^2 / b^2 = 1.
Runge-Kutta of order 4; the way's length is 900 times the free duration. (PSOPT gives 5664.873 km, 2 % more than the
geodesic: not taken as an optimum.)
"""

import numpy as np
import trisweep as ts
from casadi import cos, sin, vertcat

from ..case import Case, Stated

SPEED, EQUATOR, POLE = 900.0, 6384.0, 6353.0


def place(latitude, longitude_west):
    up, turn = np.radians(90 - np.asarray(latitude)), np.radians(360 - np.asarray(longitude_west))
    return np.column_stack(
        [EQUATOR * np.sin(up) * np.cos(turn), EQUATOR * np.sin(up) * np.sin(turn), POLE * np.cos(up)]
    )


def build() -> Stated:
    steps = 40
    way = place(np.linspace(40.6413, 51.47, steps + 1), np.linspace(73.7781, 0.4543, steps + 1))
    legs = np.diff(way, axis=0)
    lengths = np.linalg.norm(legs, axis=1)
    ocp = ts.Problem(steps=steps, duration=ts.Free(lengths.sum() / SPEED, 3.0, 10.0), integrator="rk4")
    box = np.array([EQUATOR, EQUATOR, POLE])
    x = ocp.state("x", 3, lower=-box, upper=box)
    u = ocp.control("u", 2, lower=0, upper=[np.pi, 2 * np.pi])
    ocp.derivative(x=SPEED * vertcat(sin(u[0]) * cos(u[1]), sin(u[0]) * sin(u[1]), cos(u[0])))
    ocp.minimize(SPEED * ocp.time_step * steps, at="end", name="length")
    ocp.constrain(
        "on the ground", (x[0] ** 2 + x[1] ** 2) / EQUATOR**2 + x[2] ** 2 / POLE**2, equals=1, at=slice(1, -1)
    )
    ocp.constrain("New York", x, equals=way[0], at="start")
    ocp.constrain("London", x, equals=way[-1], at="end")
    angles = np.column_stack([np.arccos(legs[:, 2] / lengths), np.arctan2(legs[:, 1], legs[:, 0]) % (2 * np.pi)])
    return Stated(ocp, {"x": way, "u": angles})


CASE = Case(build, source="PSOPT (Becerra 2010), geodesic")
