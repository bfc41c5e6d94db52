"""The statements of `bench/whole_body.py`: robots on their feet crouch by 10 cm, legs with loops too, two arms lift a
box that they both hold, an arm reaches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
import trisweep as ts
from trisweep.problems.mechanisms.legs import legs as cassie_like

STEPS, STEP, DOWN, FRICTION = 30, 0.02, 0.1, 0.7
Stated = tuple[ts.Problem, dict[str, Any]]  # with a guess: standing still


@dataclass(frozen=True)
class Stance:
    """Links that stand, whether their soles are flat, and the joints that are bent at the start, rad."""

    feet: tuple[str, ...]
    flat: bool
    bent: dict[str, float]


def legs(joints: tuple[str, ...], angles: tuple[float, ...], names: tuple[str, ...]) -> dict[str, float]:
    return {joint.format(name): angle for name in names for joint, angle in zip(joints, angles)}


SIDES, CORNERS = ("left", "right"), ("FR", "FL", "RR", "RL")
STANCES = {
    "go1": Stance(
        tuple(f"{corner}_foot" for corner in CORNERS), False,
        legs(("{}_thigh_joint", "{}_calf_joint"), (0.8, -1.6), CORNERS),
    ),
    "hyq": Stance(
        ("lf_foot", "rf_foot", "lh_foot", "rh_foot"), False,
        legs(("{}_hfe_joint", "{}_kfe_joint"), (0.75, -1.5), ("lf", "rf"))
        | legs(("{}_hfe_joint", "{}_kfe_joint"), (-0.75, 1.5), ("lh", "rh")),
    ),
    "g1": Stance(
        tuple(f"{side}_ankle_roll_link" for side in SIDES), True,
        legs(("{}_hip_pitch_joint", "{}_knee_joint", "{}_ankle_pitch_joint"), (-0.4, 0.8, -0.4), SIDES),
    ),
    "talos": Stance(
        tuple(f"{side}_sole_link" for side in SIDES), True,
        legs(("leg_{}_3_joint", "leg_{}_4_joint", "leg_{}_5_joint"), (-0.4, 0.8, -0.4), SIDES),
    ),
}  # fmt: skip


def standing(name: str) -> tuple[Any, np.ndarray, list[Any]]:
    """A robot, where it stands, and what holds its feet."""
    robot, stance = ts.robot(name), STANCES[name]
    stand = robot.neutral()
    for joint, part in zip(robot.joint_names, robot.q_slices):
        stand[part] = stance.bent.get(joint, stand[part])
    stand = np.clip(stand, robot.q_lower, robot.q_upper)
    stand[2] -= robot.link_pose(stand, stance.feet[0])[1][2]
    return robot, stand, [(ts.weld if stance.flat else ts.point)(foot) for foot in stance.feet]


def crouch(name: str, integrator: str = "semi-implicit euler") -> Stated:
    """A robot of `STANCES` lowers its base, its feet where they are."""
    robot, stand, held = standing(name)
    ocp, q, v, tau = _driven(robot, integrator, robot.effort_limit[6:])
    a, forces = robot.forward_dynamics(q, v, ts.vertcat(np.zeros(6), tau), held)
    ocp.derivative(q=v, v=a)
    return _lowered(ocp, robot, stand, (q, v, tau, a), STANCES[name].feet, forces, held)


def crouch_with_loops(integrator: str = "semi-implicit euler") -> Stated:
    """The same of legs in the manner of Cassie: rods close two loops in each, one of them planar and so with dependent
    rows. All joints are driven.
    """
    made = cassie_like().stabilised(0.1)
    robot, held = made.model, list(made.constraints)
    ocp, q, v, tau = _driven(robot, integrator, np.full(robot.nv - 6, 200.0))
    a, forces = robot.forward_dynamics(q, v, ts.vertcat(np.zeros(6), tau), held)
    ocp.derivative(q=v, v=a)
    feet = {row.link: force for row, force in zip(held, forces) if row.other is None}
    return _lowered(ocp, robot, made.q, (q, v, tau, a), tuple(feet), tuple(feet.values()), held)


def _driven(robot: Any, integrator: str, limit: np.ndarray) -> tuple[ts.Problem, Any, Any, Any]:
    ocp = ts.Problem(steps=STEPS, step=STEP, integrator=integrator)
    q = ocp.state("q", on=robot, lower=robot.q_lower, upper=robot.q_upper)
    v = ocp.state("v", robot.nv, lower=-20, upper=20)
    return ocp, q, v, ocp.control("tau", len(limit), lower=-limit, upper=limit)


def _lowered(
    ocp: ts.Problem, robot: Any, stand: np.ndarray, variables: Sequence[Any], feet: Sequence[str],
    forces: Sequence[Any], held: Sequence[Any],
) -> Stated:  # fmt: skip
    q, v, tau, a = variables
    ocp.minimize(1e-3 * ts.sumsqr(tau) + 1e-2 * ts.sumsqr(v) + 1e-4 * ts.sumsqr(a))
    ocp.minimize(10 * ts.sumsqr(v), at="end")
    for foot, force in zip(feet, forces):
        x, y, z = ts.vertsplit(robot.link_pose(q, foot)[0] @ force[-3:])
        ocp.constrain(f"{foot} pushes", z, lower=1)
        ocp.constrain(f"{foot} grips", FRICTION * z - ts.vertcat(x, -x, y, -y), lower=0)
    ocp.constrain("stand", q, equals=stand, at="start")
    ocp.constrain("at rest", v, equals=0, at="start")
    ocp.constrain("down", q[2], equals=stand[2] - DOWN, at="end")
    return ocp, {"q": stand, "tau": robot.standing_torques(stand, list(held))[6:]}


def inverse_crouch(name: str, integrator: str = "semi-implicit euler") -> Stated:
    """`crouch` with accelerations and forces as controls, and inverse dynamics as equalities of every step: nothing is
    solved inside a step.
    """
    robot, stand, held = standing(name)
    ocp, q, v, tau = _driven(robot, integrator, robot.effort_limit[6:])
    a = ocp.control("a", robot.nv)
    forces = [ocp.control(f"force_{i}", row.size) for i, row in enumerate(held)]
    ocp.derivative(q=v, v=a)
    links = [ts.point(row.link) if row.classical else ts.weld(row.link) for row in held]
    lacking = robot.inverse_dynamics(q, v, a, constraints=links, forces=forces) - ts.vertcat(np.zeros(6), tau)
    ocp.constrain("moves", lacking, equals=0)
    for foot, row in zip(STANCES[name].feet, held):
        speed = robot.link_velocity(q, v, foot)
        still = robot.link_acceleration(q, v, a, foot) + (2 / row.period) * speed
        if row.classical:
            still = still[3:] + ca.cross(speed[:3], speed[3:])
        ocp.constrain(f"{foot} stays", still, equals=0)
    stated, guess = _lowered(ocp, robot, stand, (q, v, tau, a), STANCES[name].feet, forces, held)
    _, pressed = robot.forward_dynamics(stand, np.zeros(robot.nv), np.r_[np.zeros(6), guess["tau"]], held)
    return stated, guess | {f"force_{i}": force for i, force in enumerate(pressed)}


# An iiwa whose flange points forwards, 0.4 m above its base.
FORWARDS, WIDTH, MASS, LIFT = np.array([0, 0.6, 0, -1.5, 0, np.pi / 2 - 2.1, 0]), 0.3, 3.0, 0.15


def lift(integrator: str = "semi-implicit euler") -> Stated:
    """Two iiwas lift a box: it is fixed to the first one's flange and welded to the second one's, a closed loop."""
    arm = ts.robot("iiwa14")
    R, p = (np.asarray(part) for part in arm.link_pose(FORWARDS, "iiwa_flange"))
    away = 2 * p[0] + WIDTH
    builder = ts.ModelBuilder("two iiwas")
    builder.attach(arm, prefix="left ").attach(arm, prefix="right ", position=(away, 0, 0), rpy=(0, 0, np.pi))
    centre = R.T @ (WIDTH / 2, 0, 0)
    inertia = MASS * WIDTH**2 / 6 * np.eye(3)
    builder.add("box", "left iiwa_flange", "fixed", position=centre, mass=MASS, com=(0, 0, 0), inertia=inertia)
    arms, begin = builder.build(), np.r_[FORWARDS, FORWARDS]
    box_R, box_p = (np.asarray(part) for part in arms.link_pose(begin, "box"))
    hand_R, hand_p = (np.asarray(part) for part in arms.link_pose(begin, "right iiwa_flange"))
    target = (box_R.T @ hand_R, box_R.T @ (hand_p - box_p))
    hold = [ts.weld("right iiwa_flange", other="box", target=target, period=0.1)]
    ocp = ts.Problem(steps=STEPS, step=STEP, integrator=integrator)
    q = ocp.state("q", arms.nq, lower=arms.q_lower, upper=arms.q_upper)
    v = ocp.state("v", arms.nv, lower=-10, upper=10)
    tau = ocp.control("tau", arms.nv, lower=-arms.effort_limit, upper=arms.effort_limit)
    a, (wrench,) = arms.forward_dynamics(q, v, tau, hold)
    ocp.derivative(q=v, v=a)
    ocp.minimize(1e-3 * ts.sumsqr(tau) + 1e-1 * ts.sumsqr(v) + 1e-4 * ts.sumsqr(a))
    ocp.constrain("grip", wrench[3:], lower=-200, upper=200)  # N; the square of the force would rule the line search
    ocp.constrain("start", ts.vertcat(q - begin, v), equals=0, at="start")
    ocp.constrain("lifted", arms.link_pose(q, "box")[1], equals=box_p + np.array([0, 0, LIFT]), at="end")
    ocp.minimize(10 * ts.sumsqr(v), at="end")
    return ocp, {"q": begin, "tau": arms.standing_torques(begin, hold)}


def reach(integrator: str = "semi-implicit euler") -> Stated:
    """An iiwa goes from one configuration to another."""
    arm = ts.robot("iiwa14")
    ocp = ts.Problem(steps=STEPS, step=STEP, integrator=integrator)
    q = ocp.state("q", arm.nq, lower=arm.q_lower, upper=arm.q_upper)
    v = ocp.state("v", arm.nv, lower=-10, upper=10)
    tau = ocp.control("tau", arm.nv, lower=-arm.effort_limit, upper=arm.effort_limit)
    a = arm.forward_dynamics(q, v, tau)
    ocp.derivative(q=v, v=a)
    ocp.minimize(1e-3 * ts.sumsqr(tau) + 1e-2 * ts.sumsqr(v) + 1e-4 * ts.sumsqr(a))
    ocp.constrain("start", ts.vertcat(q - FORWARDS, v), equals=0, at="start")
    ocp.constrain("there", ts.vertcat(q - 0.5 * FORWARDS, v), equals=0, at="end")
    return ocp, {"q": FORWARDS, "tau": arm.inverse_dynamics(FORWARDS, np.zeros(7), np.zeros(7))}


def _crouch_of(name: str) -> Callable[[str], Stated]:
    return lambda integrator: crouch(name, integrator)


STATEMENTS: dict[str, Callable[[str], Stated]] = {
    **{name: _crouch_of(name) for name in STANCES},
    "legs with loops": crouch_with_loops,
    "two iiwas, a box": lift,
    "iiwa": reach,
}
