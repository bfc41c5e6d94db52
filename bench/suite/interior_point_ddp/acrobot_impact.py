"""An acrobot swings up with stops at its elbow: contact by complementarity, its gap paid for.

Variational midpoint rule, 100 steps of 0.05 s: with mean speeds v-, v+ before and after a stage, M at mean places,

    M+ v+ - M- v- + h ((c- + c+) / 2 - (0, tau) - (0, lambda2 - lambda1) + v+ / 2) = 0,   c = C v + gravity
    s = (pi/2 - elbow, pi/2 + elbow),   lambda s = gap,   lambda, s, gap >= 0,   |tau| <= 8

Cost 0.01 h tau^2 + 2 sum gap, and 200 |v|^2 + 700 |q - (pi, 0)|^2 at the end. Masses and lengths of both links are
random (from our own seeds), in [0.9, 1.1].
"""

import numpy as np
import trisweep as ts
from casadi import cos, mtimes, sin, sum1, sumsqr, vertcat

from ..case import Case, Stated

STEPS, STEP, INERTIA, CENTRE, GRAVITY = 100, 0.05, 0.333, 0.5, 9.81


def mass_times(q, v, m2, l1):
    """M(q) v."""
    cross = m2 * l1 * CENTRE * cos(q[1])
    inner = INERTIA + cross
    return vertcat((2 * INERTIA + m2 * l1**2 + 2 * cross) * v[0] + inner * v[1], inner * v[0] + INERTIA * v[1])


def bias(q, v, m1, l1, m2):
    """C(q, v) v and the weight."""
    whirl = m2 * l1 * CENTRE * sin(q[1])
    outer = m2 * GRAVITY * CENTRE * sin(q[0] + q[1])
    inner = (m1 * CENTRE + m2 * l1) * GRAVITY * sin(q[0])
    return vertcat(-2 * whirl * v[1] * v[0] - whirl * v[1] ** 2 + inner + outer, whirl * v[0] ** 2 + outer)


def build() -> Stated:
    ocp = ts.Problem(steps=STEPS, step=STEP)
    before, q = ocp.state("before", 2), ocp.state("q", 2)
    torque, after = ocp.control("torque", lower=-8, upper=8), ocp.control("after", 2)
    push, room, gap = (ocp.control(name, 2, lower=0) for name in ("push", "room", "gap"))
    m1, l1, m2 = ocp.parameter("m1"), ocp.parameter("l1"), ocp.parameter("m2")
    ocp.next(before=q, q=after)
    old, new = (q - before) / STEP, (after - q) / STEP
    here, there = (before + q) / 2, (q + after) / 2
    drift = (bias(here, old, m1, l1, m2) + bias(there, new, m1, l1, m2)) / 2
    contact = mtimes(np.array([[0, 0], [-1, 1]]), push)
    motion = mass_times(there, new, m2, l1) - mass_times(here, old, m2, l1)
    ocp.constrain("motion", motion + STEP * (drift - vertcat(0, torque) - contact + new / 2), equals=0)
    ocp.constrain("room at the stops", room - vertcat(np.pi / 2 - after[1], after[1] + np.pi / 2), equals=0)
    ocp.constrain("complementarity", push * room - gap, equals=0)
    ocp.minimize(0.01 * STEP * torque**2 + 2 * sum1(gap), name="effort and gaps")
    ocp.minimize(200 * sumsqr(old) + 700 * sumsqr(q - vertcat(np.pi, 0)), at="end", name="upright")
    ocp.constrain("hanging", vertcat(before, q), equals=0, at="start")
    return Stated(ocp, *instance(0))


def instance(i: int) -> tuple[dict, dict]:
    m1, l1, m2 = 0.9 + 0.2 * np.random.default_rng(i).random(3)
    return {"push": 0.01, "room": 0.01, "gap": 0.01}, {"m1": m1, "l1": l1, "m2": m2}


CASE = Case(build, source="InteriorPointDDP.jl (Xu et al. 2025), acrobot_contact", instances=100, instance=instance)
