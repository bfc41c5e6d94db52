"""A quadruped's forces by its centroid: four gaits and speeds (QUADCMPC1 ... 4; Leziart's thesis, 2022).

State (place, angles, their rates) from the reference, control the forces at four feet, steps of 0.02 s:

    v' = sum f / m - g,   w' = I^-1 sum r x f,   |fx|, |fy| <= fz / 2,   0 <= fz <= 30 N in contact, else none

m = 2.5 kg; inertia and feet are those of the robot Solo, rounded to three digits, so the numbers of the source's files
are met to about a per cent and no optimum is published for these. Feet in the air have forces, but no effect: a cost
of 1e-5 |f|^2 / 2, which the source has not, makes all of them unique.
"""

import numpy as np
import trisweep as ts
from casadi import cross, mtimes, reshape, vertcat

from ..case import Case, Stated

STEP, MASS, GRAVITY, STEPS = 0.02, 2.5, 9.81, 32
INERTIA = np.array([0.0309, 0.0511, 0.0694])
FEET = np.array([[0.19, 0.15, -0.237], [0.19, -0.15, -0.237], [-0.19, 0.15, -0.237], [-0.19, -0.15, -0.237]]).T
STATES = np.array([2, 2, 10, 0.25, 0.25, 10, 0.2, 0.2, 0.2, 0, 0, 0.3])
FORCES = 1e-5
DIAGONAL, OTHER, STAND = (1, 0, 0, 1), (0, 1, 1, 0), (1, 1, 1, 1)
# The gait, as feet and steps, and the speed ahead.
CASES = (
    (((DIAGONAL, 8), (OTHER, 8), (DIAGONAL, 8), (OTHER, 8)), 0.1),
    (((DIAGONAL, 12), (OTHER, 12), (OTHER, 8)), 0.1),
    (((STAND, 32),), 0.0),
    (((DIAGONAL, 8), (OTHER, 8), (OTHER, 16)), 0.0),
)


def build() -> Stated:
    ocp = ts.Problem(steps=STEPS, step=STEP)
    x = ocp.state("x", 12)
    f = reshape(ocp.control("f", 12), 3, 4)
    contact, ahead = ocp.parameter("contact", 4, per_stage=True), ocp.parameter("ahead")
    pushes = [contact[i] * f[:, i] for i in range(4)]
    turn = sum(cross(FEET[:, i], pushes[i]) for i in range(4)) / INERTIA
    a = sum(pushes) / MASS - vertcat(0, 0, GRAVITY)
    ocp.next(x=vertcat(x[:6] + STEP * x[6:], x[6:9] + STEP * a, x[9:] + STEP * turn))
    drift = x - vertcat(np.zeros(6), ahead, np.zeros(5))
    ocp.minimize(mtimes(drift.T, STATES * drift) / 2, at=slice(1, None), name="states")
    ocp.minimize(FORCES * ts.sumsqr(f) / 2, name="forces")
    for i, axis in enumerate("xy"):
        ocp.constrain(f"cone {axis} ahead", f[2, :].T / 2 - f[i, :].T, lower=0)
        ocp.constrain(f"cone {axis} back", f[2, :].T / 2 + f[i, :].T, lower=0)
    ocp.constrain("pushes", f[2, :].T, lower=0, upper=30)
    ocp.constrain("start", x, equals=0, at="start")
    return Stated(ocp, *instance(0))


def instance(i: int) -> tuple[dict, dict]:
    gait, speed = CASES[i]
    contact = np.concatenate([np.tile(feet, (steps, 1)) for feet, steps in gait] + [np.zeros((1, 4))])
    return {}, {"contact": contact, "ahead": speed}


CASE = Case(build, source="mpc_qpbenchmark, QUADCMPC*", instances=4, instance=instance)
