"""What a guess leaves out: against Pinocchio's inverse dynamics, by CasADi's rows, and what stays as it was given."""

import numpy as np
import pinocchio as pin
import pytest
import trisweep as ts
from support.robot_oracles import ours, twin

STEPS, STEP = 30, 0.02


def arm_through_poses():
    arm = ours("iiwa14")
    ocp = ts.Problem(steps=STEPS, step=STEP, integrator="semi-implicit euler")
    q = ocp.state("q", arm.nq, lower=arm.q_lower, upper=arm.q_upper)
    v = ocp.state("v", arm.nv, lower=-10, upper=10)
    tau = ocp.control("tau", arm.nv, lower=-arm.effort_limit, upper=arm.effort_limit)
    ocp.derivative(q=v, v=arm.forward_dynamics(q, v, tau))
    ocp.minimize(ts.sumsqr(tau))
    times = STEP * np.arange(STEPS + 1)
    return ocp.build(), 0.3 * np.sin(2 * times[:, None] + np.arange(7))


def dog_on_its_feet():
    dog, feet = ours("go1"), ("FR_foot", "FL_foot", "RR_foot", "RL_foot")
    stand = dog.neutral()
    stand[7:] = np.tile([0.0, 0.8, -1.6], 4)
    ocp = ts.Problem(steps=10, step=STEP, integrator="semi-implicit euler")
    q, v = ocp.state("q", on=dog), ocp.state("v", dog.nv, lower=-20, upper=20)
    tau = ocp.control("tau", 12, lower=-23.7, upper=23.7)
    a, _ = dog.forward_dynamics(q, v, ts.vertcat(np.zeros(6), tau), [ts.point(foot) for foot in feet])
    ocp.derivative(q=v, v=a)
    ocp.minimize(ts.sumsqr(tau))
    ocp.constrain("stand", q, equals=stand, at="start")
    ocp.constrain("at rest", v, equals=0, at="start")
    ocp.constrain("down", q[2], equals=stand[2] - 0.02, at="end")
    return ocp.build(), stand, feet


def distance(solver, guess, **parameters):
    """Of the rows that are to be zero, by CasADi alone."""
    shared, own = solver.inputs.parameters(parameters)
    point = solver._begin(guess, False, None, shared, own)
    point = type(point)(point.z, np.zeros(solver.layout.size_y), point.w, shared, point.stage_parameters)
    rows = solver.plain_conditions.sums(point).rows[: solver.layout.limited.start]
    return float(rows @ rows)


def test_poses_of_an_arm_become_a_motion():
    solver, poses = arm_through_poses()
    found, other = solver.complete({"q": poses}), twin("iiwa14")
    data = other.createData()
    np.testing.assert_array_equal(found["q"], poses)
    np.testing.assert_allclose(found["v"][1:], np.diff(poses, axis=0) / STEP, atol=0.05)
    for q, v, following, tau in zip(poses, found["v"], found["v"][1:], found["tau"]):
        expected = pin.rnea(other, data, q, v, (following - v) / STEP)
        np.testing.assert_allclose(tau, expected, atol=1e-3 * np.abs(expected).max())


def test_a_dog_is_carried_by_its_feet():
    solver, stand, feet = dog_on_its_feet()
    found, other = solver.complete({"q": stand}), twin("go1")
    data = other.createData()
    pin.computeJointJacobians(other, data, stand)
    pin.updateFramePlacements(other, data)
    frames = [other.getFrameId(foot) for foot in feet]
    J = np.vstack([pin.getFrameJacobian(other, data, frame, pin.LOCAL_WORLD_ALIGNED)[:3] for frame in frames])
    for v, following, tau in zip(found["v"], found["v"][1:], found["tau"]):
        carried = pin.rnea(other, data, stand, v, (following - v) / STEP)
        left = carried - np.r_[np.zeros(6), tau]
        assert np.abs(left - J.T @ np.linalg.lstsq(J.T, left)[0]).max() < 5e-2 * np.abs(carried).max()


def test_it_is_never_further_off_than_the_guess():
    random = np.random.default_rng(3)
    solver, poses = arm_through_poses()
    for size in (0.1, 1.0, 10.0):
        guess = {"q": poses + size * random.standard_normal(poses.shape)}
        found = solver.complete(guess)
        assert distance(solver, found) < distance(solver, guess)
        assert np.abs(found["v"]).max() <= 10


def test_fewer_iterations_from_poses_alone():
    solver, stand, _ = dog_on_its_feet()
    alone, completed = solver.solve({"q": stand}), solver.solve(solver.complete({"q": stand}))
    assert alone.solved and completed.solved and completed.statistics.iterations < alone.statistics.iterations


def hop():
    """A mass on the ground, then in the air."""
    stance = ts.Problem(steps=10, duration=ts.Free(0.3, 0.1, 1.0), name="stance")
    x, v = stance.state("x"), stance.state("v")
    push = stance.control("push", lower=0, upper=30)
    stance.derivative(x=v, v=push - 9.81)
    stance.minimize(push**2)
    stance.constrain("start", ts.vertcat(x, v), equals=0, at="start")
    flight = ts.Problem(steps=10, duration=ts.Free(0.3, 0.1, 1.0), name="flight")
    x, v = flight.state("x"), flight.state("v")
    flight.derivative(x=v, v=-9.81)
    flight.constrain("there", x, equals=0.5, at="end")
    stance.then(flight)
    return stance.build()


def test_phases_are_completed_together():
    solver = hop()
    guess = {"stance": {"x": np.linspace(0, 0.2, 11)}, "flight": {"x": np.linspace(0.2, 0.5, 11)}}
    found = solver.complete(guess)
    for name, given in guess.items():
        np.testing.assert_array_equal(found[name]["x"].ravel(), given["x"])
        assert (found[name]["duration"] == 0.3).all()
    assert ((found["stance"]["push"] >= 0) & (found["stance"]["push"] <= 30)).all()
    assert distance(solver, found) < 0.2 * distance(solver, guess)
    assert solver.solve(found).solved


def test_what_is_measured_stays():
    ocp = ts.Problem(steps=10, step=0.1)
    ocp.state("x")
    v, u = ocp.state("v"), ocp.control("u")
    ocp.derivative(x=v, v=u)
    ocp.minimize(u**2)
    ocp.start("x", "v")
    found = ocp.build().complete({"x": np.linspace(0, 1, 11)}, start={"x": 0.0, "v": 0.25})
    assert found["v"][0] == 0.25 and np.allclose(found["v"][5:], 1.0, atol=0.2)


def test_where_a_number_is_not_finite_the_guess_stays():
    ocp = ts.Problem(steps=5, step=0.1)
    x, u = ocp.state("x"), ocp.control("u")
    ocp.derivative(x=u * ts.sqrt(x))
    found = ocp.build().complete({"x": -1.0})
    assert (found["x"] == -1).all() and (found["u"] == 0).all()


def test_mistakes_are_said():
    solver, _ = arm_through_poses()
    with pytest.raises(ts.ProblemError, match=r"guess is a list, expected a dictionary"):
        solver.complete([1.0])
    with pytest.raises(ts.ProblemError, match=r"guess for 'p', but the variables are q, tau, v"):
        solver.complete({"p": 0.0})
    with pytest.raises(ts.ProblemError, match=r"'q' has shape \(3,\)"):
        solver.complete({"q": [1.0, 2.0, 3.0]})
    ocp = ts.Problem(steps=5, step=0.1)
    ocp.derivative(x=ocp.state("x"))
    with pytest.raises(ts.ProblemError, match=r"another back end, expected build\(backend='native'\)"):
        ocp.build(backend="ipopt").complete({"x": 1.0})
