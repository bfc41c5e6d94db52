"""The optimal-control problem of a plan: from rest to rest in the least time, away from all obstacles, within limits.

States q, v, and with a limited jerk a; control a or the jerk, constant on a step, so the steps are exact. Torques are
rows of inverse dynamics: no acceleration has to be solved for. Start, goal, obstacles, and how far the stages stay
inside the joints' limits, are parameters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from casadi import SX, sumsqr

from ...dynamics import Cloud, Model, Scene
from ...ocp import Free, Problem
from ...ocp.solve.solver import Solver
from ...ocp.statement.space.avoid import Avoidance
from .limits import FilledJointLimits

EFFORT = 1e-3  # weight of accelerations beside a second of duration: what makes the answer unique
TORQUE_SHARE = 0.97  # of the limit at the stages; the rest is for what happens between them


@dataclass(frozen=True, eq=False)
class MotionProblem:
    """A built solver for motions of one robot, and its rows of avoidance."""

    cloud: Cloud
    limits: FilledJointLimits
    problem: Problem
    avoidance: Avoidance
    solver: Solver
    smooth: bool

    @property
    def steps(self) -> int:
        return self.problem.steps


def motion_problem(cloud: Cloud, limits: FilledJointLimits, steps: int, margin: float) -> MotionProblem:
    """State and build it."""
    model, smooth = cloud.model, bool(np.isfinite(limits.jerk).any())
    ocp = Problem(steps=steps, duration=Free(guess=2.0, lower=0.02, upper=60.0), name="plan")
    assert ocp.free_duration is not None
    duration, h = ocp.free_duration.symbol, ocp.time_step
    room = ocp.parameter("room", model.nq, per_stage=True)
    q = ocp.state("q", model.nq, lower=model.q_lower + room, upper=model.q_upper - room, on=model)
    v = ocp.state("v", model.nv, lower=-limits.velocity, upper=limits.velocity)
    least, most = -limits.acceleration, limits.acceleration
    if smooth:
        a, jerk = ocp.state("a", model.nv, least, most), ocp.control("jerk", model.nv, -limits.jerk, limits.jerk)
        ocp.next(q=q + h * v + h**2 / 2 * a + h**3 / 6 * jerk, v=v + h * a + h**2 / 2 * jerk, a=a + h * jerk)
        ocp.minimize(EFFORT / steps * sumsqr(jerk / limits.jerk))
        for end in ("start", "end"):
            ocp.constrain(f"no acceleration at the {end}", a, equals=0, at=end)
    else:
        a = ocp.control("a", model.nv, least, most)
        ocp.next(q=q + h * v + h**2 / 2 * a, v=v + h * a)
        ocp.minimize(EFFORT / steps * sumsqr(a / limits.acceleration))
    ocp.minimize(duration, at="end", name="duration")
    ocp.constrain("start", q, equals=ocp.parameter("start_pose", model.nq), at="start")
    ocp.constrain("goal", q, equals=ocp.parameter("goal", model.nq), at="end")
    for end in ("start", "end"):
        ocp.constrain(f"at rest at the {end}", v, equals=0, at=end)
    limited = np.flatnonzero(np.isfinite(limits.torque)).tolist()
    if limited:
        tau = _torques(model, q, v, a)[limited] / limits.torque[limited]
        ocp.constrain("torque", tau, lower=-TORQUE_SHARE, upper=TORQUE_SHARE, at="steps")
    avoidance = ocp.avoid(Scene(), cloud, q, margin)
    return MotionProblem(cloud, limits, ocp, avoidance, ocp.build(), smooth)


def _torques(model: Model, q: SX, v: SX, a: SX) -> SX:
    return SX(model.inverse_dynamics(q, v, a))
