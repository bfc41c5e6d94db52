"""The benchmark of Sathya 2024c Sec. 7: a KUKA LBR iiwa moves from one pose to another with little torque and
little speed.

States q (rad) and v (rad/s), control tau (N m), explicit Euler, limits of the robot on all three: 21 bounds a stage.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from casadi import SX, sumsqr
from numpy.typing import ArrayLike

from ...dynamics import weld
from ...errors import ProblemError
from ...ocp import Problem
from ..ready import Task
from ..robot import robot

START = (0.0, 0.4, 0.0, -1.2, 0.0, 0.8, 0.0)  # rad
GOAL = (1.0, -0.5, 0.6, 0.9, -0.7, -0.4, 0.5)  # rad
TORQUE_LIMIT = (320.0, 320.0, 176.0, 176.0, 110.0, 40.0, 40.0)  # N m
VELOCITY_LIMIT = (1.48, 1.48, 1.75, 1.31, 2.27, 2.36, 2.36)  # rad/s
END_EFFECTOR = "iiwa_flange"
DYNAMICS = ("forward", "inverse")


def iiwa_reach(
    start: ArrayLike = START,
    goal: ArrayLike = GOAL,
    steps: int = 50,
    step: float = 0.05,
    torque_weight: float = 1e-3,
    velocity_weight: float = 1e-2,
    constrained: bool = False,
    goal_weight: float = 10.0,
    dynamics: str = "forward",
) -> Task:
    """From `start` to `goal` (7,), rad, in `steps` steps of `step` s; both are parameters of the problem.

    Cost: torque_weight |tau|^2 + velocity_weight |v|^2, summed over the steps, the velocity's also at the end.
    constrained: the end effector is welded where it is at the start, and the goal, which it cannot reach then, is a
    cost goal_weight |q - goal|^2 at the end.
    dynamics: "forward", or "inverse": the accelerations are the controls, and the torques rows with limits.
    Guess: at rest in the start pose, without torque, or without acceleration.
    """
    if dynamics not in DYNAMICS or (constrained and dynamics == "inverse"):
        raise ProblemError(
            f"iiwa_reach: dynamics is {dynamics!r}, expected 'forward', or 'inverse' without constraints"
        )
    arm = robot("iiwa14")
    ocp = Problem(steps=steps, step=step, integrator="euler")
    q = ocp.state("q", arm.nq, lower=arm.q_lower, upper=arm.q_upper)
    v = ocp.state("v", arm.nv, lower=-np.array(VELOCITY_LIMIT), upper=VELOCITY_LIMIT)
    lower, upper = -np.array(TORQUE_LIMIT), np.array(TORQUE_LIMIT)
    if dynamics == "inverse":
        a = ocp.control("a", arm.nv)
        tau = SX(arm.inverse_dynamics(q, v, a))
        ocp.constrain("torque", tau, lower=lower, upper=upper)
    else:
        tau = ocp.control("tau", arm.nv, lower=lower, upper=upper)
    start_pose, goal_pose = ocp.parameter("start_pose", arm.nq), ocp.parameter("goal", arm.nq)

    if constrained:
        a, _ = arm.forward_dynamics(q, v, tau, constraints=[weld(END_EFFECTOR)])
    elif dynamics == "forward":
        a = arm.forward_dynamics(q, v, tau)
    ocp.derivative(q=v, v=a)
    ocp.minimize(torque_weight * sumsqr(tau), name="torque")
    ocp.minimize(velocity_weight * sumsqr(v), at="all", name="velocity")
    ocp.constrain("start pose", q, equals=start_pose, at="start")
    ocp.constrain("start at rest", v, equals=0, at="start")
    if constrained:
        ocp.minimize(goal_weight * sumsqr(q - goal_pose), at="end", name="goal")
    else:
        ocp.constrain("reach the goal", q, equals=goal_pose, at="end")
    name = "iiwa_reach_constrained" if constrained else "iiwa_reach"
    return Task(name, ocp, guess={"q": start}, parameters={"start_pose": start, "goal": goal})


def iiwa_reach_constrained(**options: Any) -> Task:
    """`iiwa_reach` with the end effector welded; the options are the same."""
    return iiwa_reach(**options, constrained=True)
