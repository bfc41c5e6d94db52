"""The statement of time-optimal motions of an arm: a leg for every point that is to be passed, each in its own time.

States q, v, and with a limited jerk a; control a or the jerk, constant on a step, so the steps are exact. Torques are
rows of inverse dynamics: no acceleration has to be solved for. Legs are phases: velocities, and with a limited jerk
accelerations, are those of the leg before; the first begins and the last ends at rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from casadi import SX, sumsqr

from ...dynamics import Model
from ...ocp import Free, Problem
from .arguments import instance, whole
from .limits import FilledJointLimits, JointLimits
from .payload import ENTRIES, carrying

EFFORT = 1e-3  # weight of accelerations beside a second of duration: what makes the answer unique
TORQUE_SHARE = 0.97  # of the limit at the stages; the rest is for what happens between them


@dataclass(frozen=True, eq=False)
class Leg:
    """A phase of a motion, and the symbols in it."""

    problem: Problem
    q: SX
    v: SX
    a: SX


def legs(robot: Model, count: int = 1, steps: int = 30, limits: JointLimits | None = None) -> list[Leg]:
    """The phases of a motion from rest to rest in the least time, within the limits of the joints; where it goes is
    yours to say, leg by leg, before `legs[0].problem.build()`.

    first, second = ts.legs(arm, 2)
    first.problem.constrain("start", first.q, equals=start, at="start")
    first.problem.reach("tool", position=(0.4, 0.2, 0.6))  # at its end
    second.problem.constrain("goal", second.q, equals=goal, at="end")
    """
    instance("legs: robot", robot, Model)
    count, steps = whole("legs: count", count, 1, 1000), whole("legs: steps", steps, 2, 100_000)
    given = JointLimits() if limits is None else instance("legs: limits", limits, JointLimits)
    return linked_legs(robot, given.of(robot), count, steps)


def linked_legs(
    model: Model, limits: FilledJointLimits, count: int, steps: int, body: int = -1, room: bool = False
) -> list[Leg]:
    """See `legs`. body: the one that carries something, whose moments are the parameter "payload"; room: whether how
    far the stages stay inside the joints' limits is a parameter.
    """
    found = [_leg(model, limits, steps, f"leg {k + 1}", body, room) for k in range(count)]
    for before, after in pairwise(found):
        before.problem.then(after.problem)
    for leg, end in ((found[0], "start"), (found[-1], "end")):
        leg.problem.constrain(f"at rest at the {end}", leg.v, equals=0, at=end)
        if limits.smooth:
            leg.problem.constrain(f"no acceleration at the {end}", leg.a, equals=0, at=end)
    return found


def _leg(model: Model, limits: FilledJointLimits, steps: int, name: str, body: int, room: bool) -> Leg:
    ocp = Problem(steps=steps, duration=Free(guess=2.0, lower=0.02, upper=60.0), name=name)
    assert ocp.free_duration is not None
    duration, h = ocp.free_duration.symbol, ocp.time_step
    inside = ocp.parameter("room", model.nq, per_stage=True) if room else 0.0
    q = ocp.state("q", model.nq, lower=model.q_lower + inside, upper=model.q_upper - inside, on=model)
    v = ocp.state("v", model.nv, lower=-limits.velocity, upper=limits.velocity)
    least, most = -limits.acceleration, limits.acceleration
    if limits.smooth:
        a, jerk = ocp.state("a", model.nv, least, most), ocp.control("jerk", model.nv, -limits.jerk, limits.jerk)
        ocp.next(q=q + h * v + h**2 / 2 * a + h**3 / 6 * jerk, v=v + h * a + h**2 / 2 * jerk, a=a + h * jerk)
        ocp.minimize(EFFORT / steps * sumsqr(jerk / limits.jerk))
    else:
        a = ocp.control("a", model.nv, least, most)
        ocp.next(q=q + h * v + h**2 / 2 * a, v=v + h * a)
        ocp.minimize(EFFORT / steps * sumsqr(a / limits.acceleration))
    ocp.minimize(duration, at="end", name="duration")
    limited = np.flatnonzero(np.isfinite(limits.torque)).tolist()
    if limited:
        moved = model if body < 0 else carrying(model, body, ocp.parameter("payload", ENTRIES))
        tau = SX(moved.inverse_dynamics(q, v, a))[limited] / limits.torque[limited]
        ocp.constrain("torque", tau, lower=-TORQUE_SHARE, upper=TORQUE_SHARE, at="steps")
    return Leg(ocp, q, v, a)
