"""Robots on legs: jumps, landings, squats, turns and steps, with feet that push within friction cones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import trisweep as ts
from support.whole_bodies import STANCES, Stated, crouch, crouch_with_loops

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


def _stance(robot: ts.Model, name: str, places: Mapping[str, np.ndarray]) -> tuple[Any, ...]:
    """A phase with feet at `places`."""
    held = [ts.point(foot, target=place, period=0.05) for foot, place in places.items()]
    ocp, q, v, forces = _phase(robot, name, held)
    for foot, force in zip(places, forces):
        x, y, z = ts.vertsplit(robot.link_pose(q, foot)[0] @ force)
        ocp.constrain(f"{foot} pushes", z, lower=1)
        ocp.constrain(f"{foot} grips", FRICTION * z - ts.vertcat(x, -x, y, -y), lower=0)
    return ocp, q, v


def _places(robot: ts.Model, pose: np.ndarray, feet: Sequence[str]) -> dict[str, np.ndarray]:
    return {foot: robot.link_pose(pose, foot)[1] for foot in feet}


def _holding(robot: ts.Model, pose: np.ndarray, feet: Sequence[str]) -> dict[str, np.ndarray]:
    """Torques that hold a pose, all feet on the ground."""
    return {"tau": robot.standing_torques(pose, [ts.point(foot) for foot in feet])[6:]}


def _jump(name: str, moved: np.ndarray, clearance: float) -> Motion:
    """From standing to a pose that is `moved` (nv,) from there, in the air at last."""
    robot, stand, feet = _standing(name)
    end = robot.integrate(stand, moved)
    stance, q, v = _stance(robot, "stance", _places(robot, stand, feet))
    holding = _holding(robot, stand, feet)
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
    stance, q, v = _stance(robot, "stance", _places(robot, stand, feet))
    holding = _holding(robot, stand, feet)
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


def _stepped(name: str, length: float, clearance: float, swings: Sequence[Sequence[int]]) -> Motion:
    """All feet go ahead by a length, those of a swing at a time, between standing on all of them; each comes to rest
    where it lands.
    """
    robot, stand, feet = _standing(name)
    moved = length * np.eye(robot.nv)[0]
    ends = [robot.integrate(stand, share * moved) for share in np.linspace(0, 1, len(swings) + 1)]
    places = _places(robot, stand, feet)
    first, q, v = _stance(robot, "stance", places)
    holding = _holding(robot, stand, feet)
    first.constrain("stand", q, equals=stand, at="start")
    first.constrain("at rest", v, equals=0, at="start")
    parts = [Part(first, {"q": stand}, {"q": stand}, holding)]
    for i, swing in enumerate(swings):
        stepping = [feet[k] for k in swing]
        standing = {foot: place for foot, place in places.items() if foot not in stepping}
        ocp, q, v = _stance(robot, f"swing {i + 1}", standing)
        for foot in stepping:
            places[foot] = robot.link_pose(robot.integrate(stand, moved), foot)[1]
            here = robot.link_pose(q, foot)[1]
            ocp.constrain(f"{foot} clears", here[2], lower=places[foot][2] + clearance, at=STEPS // 2)
            ocp.constrain(f"{foot} lands", here, equals=places[foot], at="end")
            ocp.constrain(f"{foot} softly", robot.link_velocity(q, v, foot)[3:], equals=0, at="end")
        parts[-1].problem.then(ocp)
        parts.append(Part(ocp, {"q": ends[i]}, {"q": ends[i + 1]}, holding))
    last, q, v = _stance(robot, "stop", places)
    last.constrain("ahead", q[:3], equals=ends[-1][:3], at="end")
    last.constrain("at rest", v, equals=0, at="end")
    parts[-1].problem.then(last)
    return Motion((*parts, Part(last, {"q": ends[-1]}, {"q": ends[-1]}, holding)))


def go1_trot() -> Motion:
    """A step of 10 cm, feet in diagonal pairs."""
    return _stepped("go1", 0.1, 0.05, ((0, 3), (1, 2)))


def hyq_walk() -> Motion:
    """A step of 10 cm, one foot after the other."""
    return _stepped("hyq", 0.1, 0.05, ((3,), (1,), (2,), (0,)))


def _squat(stated: Stated) -> Motion:
    ocp, guess = stated
    low = guess["q"] - 0.1 * np.eye(len(guess["q"]))[2]
    return Motion((Part(ocp, {"q": guess["q"]}, {"q": low}, {"tau": guess["tau"]}),))


def go1_squat() -> Motion:
    return _squat(crouch("go1"))


def hyq_squat() -> Motion:
    return _squat(crouch("hyq"))


def g1_squat() -> Motion:
    return _squat(crouch("g1"))


def talos_squat() -> Motion:
    return _squat(crouch("talos"))


def loops_squat() -> Motion:
    """Legs with closed loops, in the manner of Cassie."""
    return _squat(crouch_with_loops())


def hyq_jump() -> Motion:
    """A heavier robot, 25 cm forwards."""
    return _jump("hyq", 0.25 * np.eye(18)[0], 0.05)


MOTIONS: tuple[Callable[[], Motion], ...] = (
    go1_jump, go1_turn, go1_landing, hyq_jump, go1_trot, hyq_walk, go1_squat, hyq_squat, g1_squat, talos_squat,
    loops_squat,
)  # fmt: skip
