"""Vehicles: a quadrotor through gates, cars that park and race, a truck with its trailer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import trisweep as ts
from casadi import cross, mtimes
from trisweep.problems.tasks import quadrotor
from trisweep.problems.tasks.truck_trailer import truck_trailer_parking

from .motion import Motion, Part, of_task

GATES = {12: (1.0, 0.8, 0.5), 24: (2.0, -0.8, 1.0), 36: (3.0, 0.6, 0.5)}  # stage: place, m


def quadrotor_gates() -> Motion:
    """Through three gates to a point, in the least time."""
    steps, hover = 48, quadrotor.MASS * quadrotor.GRAVITY / 4
    ocp = ts.Problem(steps=steps, duration=ts.Free(4.0, 0.5, 10.0), integrator="rk4", name="fly")
    tilt = [quadrotor.TILT_LIMIT, quadrotor.TILT_LIMIT, np.pi]
    p, v = ocp.state("p", 3), ocp.state("v", 3, lower=-8, upper=8)
    e, w = ocp.state("e", 3, lower=-np.array(tilt), upper=tilt), ocp.state("w", 3, lower=-10, upper=10)
    f = ocp.control("f", 4, lower=0.0, upper=quadrotor.THRUST_LIMIT)
    arm, drag, inertia = quadrotor.ARM, quadrotor.DRAG_RATIO, np.array(quadrotor.INERTIA)
    torque = ts.vertcat(arm * (f[1] - f[3]), arm * (f[2] - f[0]), drag * (f[0] - f[1] + f[2] - f[3]))
    lift = mtimes(quadrotor.rotation(e), ts.vertcat(0, 0, f[0] + f[1] + f[2] + f[3])) / quadrotor.MASS
    ocp.derivative(
        p=v, e=quadrotor.angle_rates(e, w), v=lift - ts.vertcat(0, 0, quadrotor.GRAVITY),
        w=(torque - cross(w, inertia * w)) / inertia,
    )  # fmt: skip
    ocp.minimize(ocp.time_step * steps, at="end")
    ocp.minimize(1e-3 * ts.sumsqr(f - hover) + 1e-3 * ts.sumsqr(w))
    ocp.constrain("start", ts.vertcat(p, v, e, w), equals=0, at="start")
    for stage, gate in GATES.items():
        ocp.constrain(f"gate at {stage}", ts.sumsqr(p - np.array(gate)), upper=0.15**2, at=stage)
    ocp.constrain("end", ts.vertcat(p, v, e, w), equals=[4.0, *[0.0] * 11], at="end")
    return Motion((Part(ocp, {}, {"p": [4.0, 0.0, 0.0]}, {"f": hover}),))


def _car(steps: int, duration: float | ts.Free, speed: float) -> tuple[Any, ...]:
    """A bicycle by its rear axle: place, heading, speed and steering; acceleration and rate of steering."""
    ocp = ts.Problem(steps=steps, duration=duration, integrator="rk4", name="drive")
    p, heading = ocp.state("p", 2), ocp.state("heading")
    s, steer = ocp.state("s", lower=-speed, upper=speed), ocp.state("steer", lower=-0.6, upper=0.6)
    a, rate = ocp.control("a", lower=-4, upper=4), ocp.control("rate", lower=-2, upper=2)
    ocp.derivative(p=s * ts.vertcat(ts.cos(heading), ts.sin(heading)), heading=s * ts.tan(steer) / 2.6, s=a, steer=rate)
    ocp.minimize(1e-2 * (a**2 + rate**2 + steer**2))
    return ocp, p, heading, s, steer


def parking_car() -> Motion:
    """Backwards into a gap between two cars, in the least time; the corners keep off two round neighbours."""
    steps = 60
    ocp, p, heading, s, steer = _car(steps, ts.Free(8.0, 1.0, 40.0), 2.0)
    ocp.minimize(ocp.time_step * steps, at="end")
    start, end = [0.0, 3.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0]
    pose = ts.vertcat(p, heading, s, steer)
    ocp.constrain("start", pose, equals=start, at="start")
    ocp.constrain("end", pose, equals=end, at="end")
    along, side = ts.vertcat(ts.cos(heading), ts.sin(heading)), ts.vertcat(-ts.sin(heading), ts.cos(heading))
    for i, (x, y) in enumerate(((-0.7, 0.7), (-0.7, -0.7), (3.3, 0.7), (3.3, -0.7))):
        corner = p + x * along + y * side
        for other in (-3.4, 6.0):
            ocp.constrain(f"corner {i} off {other}", ts.sumsqr(corner - np.array([other, 0.0])), lower=1.3**2)
    return Motion((Part(ocp, {"p": start[:2]}, {"p": end[:2]}),))


def race_car() -> Motion:
    """Along a winding track in the least time: by the way along its middle line, with a limit on the grip."""
    steps, length = 80, 200.0
    ocp = ts.Problem(steps=steps, step=length / steps, integrator="rk4", name="race")  # "time" is the way, m
    n, chi = ocp.state("n", lower=-3.5, upper=3.5), ocp.state("chi", lower=-0.8, upper=0.8)
    s, steer = ocp.state("s", lower=3, upper=40), ocp.state("steer", lower=-0.5, upper=0.5)
    way, time = ocp.state("way"), ocp.state("time")
    a, rate = ocp.control("a", lower=-8, upper=4), ocp.control("rate", lower=-1, upper=1)
    bend = 0.04 * ts.sin(way / 15) + 0.03 * ts.sin(way / 9)
    slower = (1 - n * bend) / (s * ts.cos(chi))  # s of time a metre of the way
    turn = s * ts.tan(steer) / 2.6
    ocp.derivative(
        n=ts.tan(chi) * (1 - n * bend), chi=slower * turn - bend, s=slower * a, steer=slower * rate, way=1.0,
        time=slower,
    )  # fmt: skip
    ocp.minimize(time, at="end")
    ocp.minimize(1e-4 * (a**2 + 10 * rate**2))
    ocp.constrain("grip", (s * turn / 9) ** 2 + (a / 9) ** 2, upper=1)
    first = {"s": 15.0}
    ocp.constrain("start", ts.vertcat(n, chi, s, steer, way, time), equals=[0, 0, 15, 0, 0, 0], at="start")
    return Motion((Part(ocp, first, {"s": 15.0, "way": length, "time": length / 15}),))


def truck_trailer() -> Motion:
    return of_task(truck_trailer_parking())


MOTIONS: tuple[Callable[[], Motion], ...] = (quadrotor_gates, parking_car, race_car, truck_trailer)
