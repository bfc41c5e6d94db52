"""Robots on legs: jumps, landings, squats and turns, with feet that push within friction cones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import trisweep as ts
from whole_body import STANCES, crouch

from .motion import Motion, Part

FRICTION, STEPS = 0.7, 15


def _standing(name: str) -> tuple[ts.Model, np.ndarray, tuple[str, ...]]:
    """The robot, its pose on the ground, its feet."""
    robot, stance = ts.robot(name), STANCES[name]
    pose = robot.neutral()
    for joint, part in zip(robot.joint_names, robot.q_slices):
        pose[part] = stance.bent.get(joint, pose[part])
    pose[2] -= robot.link_pose(pose, stance.feet[0])[1][2]
    return robot, pose, stance.feet


def _phase(robot: ts.Model, name: str, contacts: Sequence[ts.Constraint], steps: int = STEPS) -> tuple[Any, ...]:
    """What all phases share: the robot, its limits, the cost."""
    duration = ts.Free(0.3, 0.1, 0.6)
    ocp = ts.Problem(steps=steps, duration=duration, integrator="semi-implicit euler", name=name)
    q = ocp.state("q", on=robot, lower=robot.q_lower, upper=robot.q_upper)
    v = ocp.state("v", robot.nv, lower=-20, upper=20)
    limit = robot.effort_limit[6:]
    tau = ocp.control("tau", robot.nv - 6, lower=-limit, upper=limit)
    found = robot.forward_dynamics(q, v, ts.vertcat(np.zeros(6), tau), contacts)
    a, forces = found if contacts else (found, ())
    ocp.derivative(q=v, v=a)
    ocp.minimize(1e-3 * ts.sumsqr(tau) + 1e-3 * ts.sumsqr(v))
    return ocp, q, v, forces


def _stance(
    robot: ts.Model, name: str, stand: np.ndarray, feet: tuple[str, ...], steps: int = STEPS
) -> tuple[Any, ...]:
    """A phase with all feet where they are in `stand`."""
    held = [ts.point(foot, target=robot.link_pose(stand, foot)[1], period=0.05) for foot in feet]
    ocp, q, v, forces = _phase(robot, name, held, steps)
    for foot, force in zip(feet, forces):
        x, y, z = ts.vertsplit(robot.link_pose(q, foot)[0] @ force)
        ocp.constrain(f"{foot} pushes", z, lower=1)
        ocp.constrain(f"{foot} grips", FRICTION * z - ts.vertcat(x, -x, y, -y), lower=0)
    return ocp, q, v, {"tau": robot.standing_torques(stand, held)[6:]}


def _jump(name: str, moved: np.ndarray, clearance: float) -> Motion:
    """From standing to a pose that is `moved` (nv,) from there, in the air at last."""
    robot, stand, feet = _standing(name)
    end = robot.integrate(stand, moved)
    stance, q, v, holding = _stance(robot, "stance", stand, feet)
    stance.constrain("stand", q, equals=stand, at="start")
    stance.constrain("at rest", v, equals=0, at="start")
    flight, q, v, _ = _phase(robot, "flight", ())
    for foot in feet:
        flight.constrain(f"{foot} clears", robot.link_pose(q, foot)[1][2], lower=clearance, at=8)
    flight.constrain("land", q, equals=end, at="end")
    stance.then(flight)
    return Motion((Part(stance, {"q": stand}, {"q": stand}, holding), Part(flight, {"q": stand}, {"q": end})))


def go1_jump() -> Motion:
    """`examples/jump.py`, with other limits on time and torque."""
    return _jump("go1", 0.3 * np.eye(18)[0], 0.06)


def go1_turn() -> Motion:
    """A jump that turns by 40 degrees."""
    return _jump("go1", 0.7 * np.eye(18)[5], 0.05)


def go1_landing() -> Motion:
    """From falling at 1 m/s, 25 cm above the stance, to standing still; the feet touch down softly."""
    robot, stand, feet = _standing("go1")
    above = robot.integrate(stand, 0.25 * np.eye(18)[2])
    flight, q, v, _ = _phase(robot, "flight", (), 10)
    flight.constrain("above", q, equals=above, at="start")
    flight.constrain("falling", v, equals=-1.0 * np.eye(18)[2], at="start")
    stance, q, v, holding = _stance(robot, "stance", stand, feet)
    for foot in feet:
        stance.constrain(
            f"{foot} down", robot.link_pose(q, foot)[1], equals=robot.link_pose(stand, foot)[1], at="start"
        )
        stance.constrain(f"{foot} soft", robot.link_velocity(q, v, foot)[3:], equals=0, at="start")
    stance.constrain("still", v, equals=0, at="end")
    stance.constrain("high", q[2], lower=stand[2] - 0.05, at="end")
    flight.then(stance)
    falling = {"q": above, "v": -1.0 * np.eye(18)[2]}
    return Motion((Part(flight, falling, {"q": stand}), Part(stance, {"q": stand}, {"q": stand}, holding)))


def _squat(name: str) -> Motion:
    ocp, guess = crouch(name)
    low = guess["q"] - 0.1 * np.eye(len(guess["q"]))[2]
    return Motion((Part(ocp, {"q": guess["q"]}, {"q": low}, {"tau": guess["tau"]}),))


def go1_squat() -> Motion:
    return _squat("go1")


def hyq_squat() -> Motion:
    return _squat("hyq")


def g1_squat() -> Motion:
    return _squat("g1")


def talos_squat() -> Motion:
    return _squat("talos")


def hyq_jump() -> Motion:
    """A heavier robot, 25 cm forwards."""
    return _jump("hyq", 0.25 * np.eye(18)[0], 0.05)


MOTIONS: tuple[Callable[[], Motion], ...] = (
    go1_jump, go1_turn, go1_landing, hyq_jump, go1_squat, hyq_squat, g1_squat, talos_squat,
)  # fmt: skip
