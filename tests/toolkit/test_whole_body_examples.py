"""The examples of whole bodies, held against Pinocchio: its dynamics alone say whether their motions can be."""

import runpy
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from support.loop_oracles import dense_rows, least_forces
from support.robot_oracles import twin
from trisweep.problems.twins.pinocchio_model import PinocchioBuilder, mass_matrix

EXAMPLES = Path(__file__).parents[2] / "examples"
RESIDUAL = 1e-9  # of the equations of motion, relative to their terms
DRIFT = 1e-4  # m, rad
LIMIT = 1e-6  # N, N m


@pytest.fixture
def example(tmp_path, monkeypatch, capsys):
    def run(name):
        monkeypatch.chdir(tmp_path)
        found = runpy.run_path(str(EXAMPLES / f"{name}.py"))
        assert (tmp_path / f"{name}.html").stat().st_size > 10_000
        assert found["solution"].status == "solved"
        return found

    return run


def follow(robot, other, motion, contacts, actuated, step, near):
    """Forces at every step: with ours the motion must obey Pinocchio's equations. Steps by its matrices alone must come
    near the next state, and nothing may drift from the contacts.
    """
    data, found, h = other.createData(), [], np.diff(motion.times)
    for k, tau in enumerate(motion.tau):
        q, v, joint_forces = motion.q[k], motion.v[k], np.r_[np.zeros(robot.nv - actuated), tau]
        a, forces = robot.forward_dynamics(q, v, joint_forces, contacts)
        J, wanted = dense_rows(other, data, q, v, contacts)
        h_0, M = pin.rnea(other, data, q, v, np.zeros(robot.nv)), mass_matrix(other, data, q)
        f = np.concatenate(forces)
        size = np.abs(M @ a).max() + np.abs(h_0).max() + np.abs(joint_forces).max()
        assert np.abs(M @ a + h_0 - joint_forces - J.T @ f).max() < RESIDUAL * size
        assert np.abs(J @ a - wanted).max() < RESIDUAL * (np.abs(a).max() + np.abs(wanted).max())
        q_next, v_next = step(other, data, q, v, joint_forces, contacts, h[k])
        assert np.abs(pin.difference(other, q_next, motion.q[k + 1])).max() < near
        assert np.abs(v_next - motion.v[k + 1]).max() < near / h[k]
        found.append(np.split(f, np.cumsum([c.size for c in contacts])[:-1]))
    for q in motion.q:
        for contact in contacts:
            assert displacement(robot, q, contact) < DRIFT
    return found


def runge_kutta(other, data, q, v, tau, contacts, h):
    def rate(q, v):
        return v, least_forces(other, data, q, v, tau, contacts)[0]

    def moved(rates, h):
        return pin.integrate(other, q, h * rates[0]), v + h * rates[1]

    k1 = rate(q, v)
    k2 = rate(*moved(k1, h / 2))
    k3 = rate(*moved(k2, h / 2))
    k4 = rate(*moved(k3, h))
    return moved([(a + 2 * b + 2 * c + d) / 6 for a, b, c, d in zip(k1, k2, k3, k4)], h)


def displacement(robot, q, contact):
    """m or rad between a contact's frame and its target."""
    R, p = robot.link_pose(q, contact.link)
    p, R = p + R @ contact.frame.p.ravel(), R @ contact.frame.R
    R_0, p_0 = (np.eye(3), np.zeros(3)) if contact.other is None else robot.link_pose(q, contact.other)
    away = np.abs(p - p_0 - R_0 @ contact.target.p.ravel()).max()
    return away if contact.classical else max(away, np.abs(R - R_0 @ contact.target.R).max())


def within_cone(x, y, z, friction, least):
    assert z > least - LIMIT and max(abs(x), abs(y)) < friction * z + LIMIT


def test_the_squat_stays_on_its_soles(example):
    found = example("squat")
    robot, motion, (length, width) = found["robot"], found["solution"], found["SOLE"]
    for wrenches in follow(robot, twin("g1"), motion, found["contacts"], robot.nv - 6, runge_kutta, 1e-4):
        for wrench in wrenches:
            within_cone(*wrench[3:], found["FRICTION"], 20)
            assert abs(wrench[0]) < width * wrench[5] + LIMIT and abs(wrench[1]) < length * wrench[5] + LIMIT
    assert motion.q[:, 2].min() < found["stand"][2] - found["DOWN"] + 1e-6
    assert np.abs(motion.q[-1] - found["stand"])[2:].max() < 1e-3


def test_the_walk_lands_on_its_feet(example):
    found = example("walk")
    dog, other, phases = found["dog"], twin("go1"), found["solution"].phases
    places = {"stance": found["before"], "stop": found["after"]}
    for name, pair, where in (("first pair", 1, "before"), ("second pair", 0, "after")):
        places[name] = {foot: found[where][foot] for foot in found["pairs"][pair]}
    data = other.createData()
    for name, motion in phases.items():
        contacts = [found["ts"].point(foot, target=place, period=0.1) for foot, place in places[name].items()]
        for k, forces in enumerate(follow(dog, other, motion, contacts, 12, runge_kutta, 1e-4)):
            for contact, force in zip(contacts, forces):
                within_cone(*(dog.link_pose(motion.q[k], contact.link)[0] @ force), found["FRICTION"], 1)
    for one, two, landing in (("first pair", "second pair", (0,)), ("second pair", "stop", (0, 1))):
        q, v, stopped = phases[one].q[-1], phases[one].v[-1], [f for i in landing for f in found["pairs"][i]]
        J, _ = dense_rows(other, data, q, v, [found["ts"].point(foot, period=None) for foot in stopped])
        M = mass_matrix(other, data, q)
        MJ = np.linalg.solve(M, J.T)
        after = v - MJ @ np.linalg.solve(J @ MJ, J @ v)
        assert np.abs(phases[two].v[0] - after).max() < 1e-7
        assert np.linalg.norm(J @ v) > 1e-2  # something was stopped
    assert phases["stop"].q[-1][0] == pytest.approx(found["LENGTH"], abs=1e-7)


def test_the_box_stays_between_the_hands(example):
    found = example("carry")
    arms, motion, hold, along_y = found["arms"], found["solution"], found["hold"], np.array([0.0, 1.0, 0.0])
    builder = PinocchioBuilder()
    for side, x in (("left", -0.55), ("right", 0.55)):
        parent, place = "universe", np.array([x, 0, 0])
        for link, length, mass in (("upper", 0.4, 2.0), ("lower", 0.4, 2.0), ("hand", 0.1, 0.5)):
            about = mass * np.diag([0.03**2, length**2 / 12 + 0.01**2, length**2 / 12 + 0.01**2])
            com = np.array([length / 2, 0, 0])
            builder.add(f"{side} {link}", parent, "revolute", place, np.zeros(3), along_y, mass, com, about)
            parent, place = f"{side} {link}", np.array([length, 0, 0])
    joint, _ = builder.places["left hand"]
    on_hand = pin.SE3(np.eye(3), np.array([0.1 + found["WIDTH"] / 2, 0, 0]))
    inertia = pin.Inertia(found["MASS"], np.zeros(3), found["MASS"] * found["WIDTH"] ** 2 / 6 * np.eye(3))
    builder.model.appendBodyToJoint(joint, inertia, on_hand)
    builder.model.addFrame(pin.Frame("box", joint, 0, on_hand, pin.BODY))
    for ((moment, push, slip),) in follow(arms, builder.model, motion, [hold], 6, runge_kutta, 1e-4):
        within_cone(slip, 0.0, -push, found["FRICTION"], found["GRIP"])
        assert abs(moment) < -found["PALM"] * push + LIMIT
    assert arms.link_pose(motion.q[-1], "box")[1] == pytest.approx(found["begin"] + found["LIFT"], abs=1e-7)
