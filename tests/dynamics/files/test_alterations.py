"""Robots with a payload, numbers or symbols, and with joints held: against Pinocchio, and in a problem."""

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
import trisweep as ts
from support.robot_oracles import ours, relative, states, twin
from trisweep.adjoint import solved
from trisweep.errors import ModelError

MASS, CENTRE, INERTIA = 3.0, np.array([0.01, 0.02, 0.1]), np.diag([0.01, 0.02, 0.015])


@pytest.fixture(scope="module")
def loaded():
    return ours("iiwa14").with_payload("iiwa_flange", MASS, CENTRE, INERTIA)


def test_a_payload_is_matter_on_its_link_as_pinocchio_has_it(loaded):
    other = pin.Model(twin("iiwa14"))
    frame = other.frames[other.getFrameId("iiwa_flange")]
    other.appendBodyToJoint(frame.parentJoint, pin.Inertia(MASS, CENTRE, INERTIA), frame.placement)
    data = other.createData()
    q, v, tau = states(loaded, 20)
    code = loaded.compiled.forward_dynamics(q, v, tau)
    for n in range(20):
        expected = pin.aba(other, data, q[n], v[n], tau[n]).copy()
        assert relative(loaded.forward_dynamics(q[n], v[n], tau[n]), expected) < 1e-11
        assert relative(code[n], expected) < 1e-11
    bare = ours("iiwa14")
    assert bare.inertias[-1].m + MASS == pytest.approx(loaded.inertias[-1].m)


@pytest.mark.parametrize("held", [[], [ts.weld("iiwa_link_6")]])
def test_a_payload_of_symbols_is_that_of_numbers(loaded, held):
    mass, centre = ca.SX.sym("mass"), ca.SX.sym("centre", 3)
    model = ours("iiwa14").with_payload("iiwa_flange", mass, centre, INERTIA)
    symbols = [ca.SX.sym(name, 7) for name in ("q", "v", "tau")]
    q, v, tau = (row[0] for row in states(loaded, 1))

    def dynamics(robot, *state):
        found = robot.forward_dynamics(*state, held)
        return found[0] if held else found

    function = ca.Function("f", [*symbols, mass, centre], [solved(dynamics(model, *symbols))])
    expected = dynamics(loaded, q, v, tau)
    assert relative(np.array(function(q, v, tau, MASS, CENTRE)).ravel(), expected) < 1e-10
    # with numbers for the state the answer is still an expression of the load
    given = ca.Function("f", [mass, centre], [ca.SX(model.inverse_dynamics(q, v, tau))])
    assert relative(np.array(given(MASS, CENTRE)).ravel(), loaded.inverse_dynamics(q, v, tau)) < 1e-10


def lift(arm_of):
    """A short reach of an arm that may depend on the problem's parameter "load"."""
    ocp = ts.Problem(steps=15, step=0.05, integrator="semi-implicit euler")
    q, v = ocp.state("q", 7), ocp.state("v", 7)
    tau = ocp.control("tau", 7)
    arm = arm_of(ocp.parameter("load"))
    ocp.derivative(q=v, v=arm.forward_dynamics(q, v, tau))
    ocp.minimize(1e-3 * ts.sumsqr(tau) + ts.sumsqr(v))
    ocp.minimize(100 * ts.sumsqr(q - 0.4) + 10 * ts.sumsqr(v), at="end")
    ocp.start("q", "v")
    return ocp.build()


def test_one_build_serves_every_load():
    arm = ours("iiwa14")
    solver = lift(lambda load: arm.with_payload("iiwa_flange", load, CENTRE))
    start = {"q": np.linspace(0.1, 0.7, 7), "v": np.zeros(7)}
    objectives = []
    for load in (0.0, 4.0):
        changing = solver.solve(start=start, load=load)
        fixed = lift(lambda _, load=load: arm.with_payload("iiwa_flange", load, CENTRE)).solve(start=start, load=load)
        assert changing.solved and fixed.solved
        np.testing.assert_allclose(changing.tau, fixed.tau, rtol=1e-6, atol=1e-5)
        objectives.append(changing.objective)
    assert objectives[1] > 1.05 * objectives[0]


def test_joints_that_are_held_are_gone_as_from_pinocchios_reduced_model():
    model, other = ours("talos"), twin("talos")
    hold = {"arm_left_3_joint": 0.3, "leg_right_4_joint": 0.7, "head_1_joint": -0.1}
    where = pin.neutral(other)
    for name, angle in hold.items():
        where[other.joints[other.getJointId(name)].idx_q] = angle
    reduced = pin.buildReducedModel(other, [other.getJointId(name) for name in hold], where)
    data, held = reduced.createData(), model.lock(hold)
    assert list(reduced.names)[1:] == list(held.joint_names)
    np.testing.assert_array_equal(held.effort_limit[6:], reduced.effortLimit[6:])
    np.testing.assert_array_equal(held.q_lower[7:], reduced.lowerPositionLimit[7:])
    q, v, tau = states(held, 10)
    for n in range(10):
        assert relative(held.forward_dynamics(q[n], v[n], tau[n]), pin.aba(reduced, data, q[n], v[n], tau[n])) < 1e-10
        pin.framesForwardKinematics(reduced, data, q[n])
        for link in ("arm_left_7_link", "leg_right_6_link", "head_2_link", "base_link"):
            place = data.oMf[reduced.getFrameId(link)]
            R, p = held.link_pose(q[n], link)
            np.testing.assert_allclose(p, place.translation, atol=1e-12)
            np.testing.assert_allclose(R, place.rotation, atol=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.with_payload("hand", 1.0), "has no link 'hand'"),
        (lambda m: m.with_payload("universe", 1.0), "the link is part of the world"),
        (lambda m: m.with_payload("iiwa_flange", -1.0), "mass is -1, expected a mass >= 0"),
        (lambda m: m.with_payload("iiwa_flange", np.nan), "mass: entry 0 is not finite"),
        (lambda m: m.with_payload("iiwa_flange", 1.0, (0, 0)), r"centre has shape \(2, 1\), expected \(3,\)"),
        (lambda m: m.with_payload("iiwa_flange", 1.0, inertia=np.eye(2)), r"inertia has shape \(2, 2\)"),
        (lambda m: m.with_payload("iiwa_flange", 1.0, inertia=-np.eye(3)), "principal moments"),
        (lambda m: m.with_payload("iiwa_flange", 1.0, inertia=np.triu(np.ones((3, 3)))), "expected a symmetric matrix"),
        (lambda m: m.with_payload("iiwa_flange", ca.SX.sym("m")).compiled, "have the symbols m, expected numbers"),
        (
            lambda m: ts.simulate(m.with_payload("iiwa_flange", ca.SX.sym("m")), np.zeros(7)),
            "simulate: the inertias of 'iiwa14' have the symbols m",
        ),
        (lambda m: m.lock({"elbow": 0.0}), "has no joint 'elbow', expected one of"),
        (lambda m: m.lock(dict.fromkeys(m.joint_names, 0.0)), "all 7 joints of 'iiwa14' are held"),
        (lambda m: m.lock({m.joint_names[0]: [0.0, 1.0]}), r"has shape \(2, 1\), expected \(1,\)"),
        (lambda m: m.lock(["elbow"]), "expected a mapping of joints' names"),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(ModelError, match=message):
        call(ours("iiwa14"))


def test_a_robot_with_its_turns_counted_moves_as_it_did():
    """Kinova's arm has three joints without end: in rad they give the same poses and torques as in (cos, sin)."""
    arm = ours("kinova")
    counted, rng = arm.unwound(), np.random.default_rng(4)
    assert (arm.nq, counted.nq, counted.nv) == (9, 6, 6)
    free = ~np.isfinite(counted.q_upper)
    assert (
        free.sum() == 3
        and (counted.q_lower[~free] == arm.q_lower[np.isfinite(arm.q_lower) & (arm.q_lower != -1)]).all()
    )
    for _ in range(10):
        v, a, q = (rng.normal(size=6) for _ in range(3))
        as_it_was = arm.integrate(arm.neutral(), q)
        for link in ("j2s6s200_link_3", "j2s6s200_link_6"):
            for ours_now, before in zip(counted.link_pose(q, link), arm.link_pose(as_it_was, link)):
                assert relative(ours_now, before) < 1e-12
        assert relative(counted.inverse_dynamics(q, v, a), arm.inverse_dynamics(as_it_was, v, a)) < 1e-12
    iiwa = ours("iiwa14")
    assert iiwa.unwound().joints == iiwa.joints
