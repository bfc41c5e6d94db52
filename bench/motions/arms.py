"""Arms: in joint and tool space, around obstacles, welded, in the least time, with a throw."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import trisweep as ts
from support.whole_bodies import lift
from trisweep.problems.tasks.iiwa_reach import GOAL, START, TORQUE_LIMIT, VELOCITY_LIMIT, iiwa_reach_constrained

from .motion import Motion, Part

FLANGE, STEPS = "iiwa_flange", 40
READY, ASIDE = np.array([-0.8, 0.6, 0.0, -1.5, 0.0, 0.9, 0.0]), np.array([0.8, 0.6, 0.0, -1.5, 0.0, 0.9, 0.0])


def _arm(
    robot: ts.Model, duration: float | ts.Free, speed: Any, effort: Any, start: np.ndarray, weight: float = 1e-3
) -> tuple[ts.Problem, Any, Any, Any, Any]:
    """From rest at `start`: the problem, q, v, tau and a."""
    ocp = ts.Problem(steps=STEPS, duration=duration, integrator="semi-implicit euler", name="move")
    q = ocp.state("q", robot.nq, lower=robot.q_lower, upper=robot.q_upper)
    v = ocp.state("v", robot.nv, lower=-np.array(speed), upper=speed)
    tau = ocp.control("tau", robot.nv, lower=-np.array(effort), upper=effort)
    a = robot.forward_dynamics(q, v, tau)
    ocp.derivative(q=v, v=a)
    ocp.minimize(weight * ts.sumsqr(tau) + 1e-2 * ts.sumsqr(v))
    ocp.constrain("start pose", q, equals=start, at="start")
    ocp.constrain("start at rest", v, equals=0, at="start")
    return ocp, q, v, tau, a


def _moved(ocp: ts.Problem, robot: ts.Model, start: np.ndarray, last: np.ndarray) -> Motion:
    return Motion((Part(ocp, {"q": start}, {"q": last}, {"tau": robot.inverse_dynamics(start, 0 * start, 0 * start)}),))


def _iiwa(duration: float | ts.Free, start: np.ndarray) -> tuple[ts.Model, ts.Problem, Any, Any, Any, Any]:
    robot = ts.robot("iiwa14")
    return robot, *_arm(robot, duration, VELOCITY_LIMIT, TORQUE_LIMIT, start)


def _to_rest(ocp: ts.Problem, q: Any, v: Any, goal: Any) -> None:
    ocp.constrain("goal", q, equals=goal, at="end")
    ocp.constrain("end at rest", v, equals=0, at="end")


def iiwa_joints() -> Motion:
    """To a pose, at rest there."""
    robot, ocp, q, v, *_ = _iiwa(2.0, np.array(START))
    _to_rest(ocp, q, v, GOAL)
    return _moved(ocp, robot, np.array(START), np.array(GOAL))


def iiwa_tool() -> Motion:
    """The tool to a place, pointing down, at rest."""
    robot, ocp, q, v, *_ = _iiwa(1.5, READY)
    rotation, place = robot.link_pose(q, FLANGE)
    ocp.constrain("place", place, equals=[0.5, 0.4, 0.35], at="end")
    ocp.constrain("down", ts.vertcat(rotation[0, 2], rotation[1, 2]), equals=0, at="end")
    ocp.constrain("end at rest", v, equals=0, at="end")
    return _moved(ocp, robot, READY, READY)


def _around(ocp: ts.Problem, robot: ts.Model, q: Any, links: tuple[str, ...], posts: list[tuple[float, ...]]) -> None:
    """Links stay out of upright posts: x, y and radius each, m."""
    for link in links:
        place = robot.link_pose(q, link)[1]
        for i, (x, y, radius) in enumerate(posts):
            away = (place[0] - x) ** 2 + (place[1] - y) ** 2
            ocp.constrain(f"{link} off post {i}", away, lower=radius**2)


def iiwa_around() -> Motion:
    """To a pose behind two posts."""
    robot, ocp, q, v, *_ = _iiwa(2.5, READY)
    _to_rest(ocp, q, v, ASIDE)
    _around(ocp, robot, q, (FLANGE, "iiwa_link_6"), [(0.6, 0.0, 0.2), (0.3, 0.35, 0.1)])
    return _moved(ocp, robot, READY, ASIDE)


def iiwa_welded() -> Motion:
    """The tool stays where it is, the elbow moves."""
    made = iiwa_reach_constrained(steps=STEPS)
    robot = ts.robot("iiwa14")
    holding = {"tau": robot.inverse_dynamics(np.array(START), np.zeros(7), np.zeros(7))}
    return Motion((Part(made.problem, {"q": START}, {"q": GOAL}, holding),), made.parameters)


def iiwa_quick() -> Motion:
    """To a pose in the least time."""
    robot, ocp, q, v, *_ = _iiwa(ts.Free(2.5, 0.2, 10.0), np.array(START))
    ocp.minimize(10 * ocp.time_step * STEPS, at="end")
    _to_rest(ocp, q, v, GOAL)
    return _moved(ocp, robot, np.array(START), np.array(GOAL))


def iiwa_throw() -> Motion:
    """The tool passes a place with a speed."""
    robot, ocp, q, v, *_ = _iiwa(1.0, READY)
    rotation, place = robot.link_pose(q, FLANGE)
    speed = rotation @ robot.link_velocity(q, v, FLANGE)[3:]
    ocp.constrain("place", place[2], equals=0.8, at="end")
    ocp.constrain("forwards", speed[0], lower=1.0, at="end")
    ocp.constrain("upwards", speed[2], lower=0.5, at="end")
    return _moved(ocp, robot, READY, READY)


def iiwas_lift() -> Motion:
    """Two arms lift a box that both hold: a closed loop."""
    ocp, guess = lift()
    return Motion((Part(ocp, {"q": guess["q"]}, {"q": guess["q"]}, {"tau": guess["tau"]}),))


def ur5_quick() -> Motion:
    """A UR5 around a post in the least time."""
    robot = ts.robot("ur5")
    start, goal = np.array([-0.7, -1.4, 1.8, -1.9, -1.5, 0.0]), np.array([0.9, -1.4, 1.8, -1.9, -1.5, 0.0])
    ocp, q, v, *_ = _arm(robot, ts.Free(2.0, 0.2, 10.0), np.full(6, 3.0), robot.effort_limit, start, weight=1e-5)
    ocp.minimize(10 * ocp.time_step * STEPS, at="end")
    ocp.constrain("goal", q, equals=goal, at="end")
    ocp.constrain("end at rest", v, equals=0, at="end")
    place = robot.link_pose(0.5 * (start + goal), "wrist_2_link")[1]
    _around(ocp, robot, q, ("wrist_2_link", "wrist_3_link"), [(place[0], place[1], 0.15)])
    return _moved(ocp, robot, start, goal)


MOTIONS: tuple[Callable[[], Motion], ...] = (
    iiwa_joints, iiwa_tool, iiwa_around, iiwa_welded, iiwa_quick, iiwa_throw, iiwas_lift, ur5_quick,
)  # fmt: skip
