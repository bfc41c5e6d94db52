"""Controllers of configurations, of several phases, of limits that change: steps, and the commands of full solves."""

import casadi as ca
import numpy as np
import pytest
import trisweep as ts
from scipy.spatial.transform import Rotation
from support.ocp_problems import gimbal_problem
from trisweep.errors import ProblemError


def upright():
    """A gimbal, to be brought upright."""
    model, ocp, q, v, tau = gimbal_problem(15)
    R, _ = model.link_pose(q, "body")
    away = 3 - ca.trace(R) + 1 - q[4]
    ocp.minimize(away + 0.05 * ca.sumsqr(v) + 0.01 * ca.sumsqr(tau))
    ocp.minimize(20 * away + ca.sumsqr(v), at="end")
    return model, ocp.build()


def test_configurations_are_followed_by_steps():
    model, solver = upright()
    controller = solver.controller(iterations=12, barrier=1e-9)
    rng = np.random.default_rng(3)
    q, v = np.r_[Rotation.from_rotvec([0.6, -0.4, 0.3]).as_quat(), np.cos(0.5), np.sin(0.5)], np.zeros(model.nv)
    plant, statuses = model.compiled, []
    for k in range(25):
        sign = -1.7 if k % 2 else 1.0  # the same attitude, of another norm
        command = controller.step({"q": np.r_[sign * q[:4], q[4:]], "v": v})
        expected = solver.solve(start={"q": q, "v": v}, guess=controller.plan)
        assert expected.solved
        np.testing.assert_allclose(command.tau, expected.tau[0], atol=2e-4)
        statuses.append(command.status)
        v = v + 0.04 * (plant.forward_dynamics(q, v, command.tau) + 0.05 * rng.standard_normal(model.nv))
        turn = Rotation.from_quat(q[:4]) * Rotation.from_rotvec(0.04 * v[:3])
        wheel = np.arctan2(q[5], q[4]) + 0.04 * v[3]
        q = np.r_[turn.as_quat(), np.cos(wheel), np.sin(wheel)]
    assert statuses[0] == "solved" and statuses.count("under way") >= 20
    assert np.linalg.norm(controller.plan.q[0, :4]) == pytest.approx(1.0, abs=1e-12)
    assert Rotation.from_quat(q[:4]).magnitude() < 0.15
    with pytest.raises(ProblemError, match="expected unit quaternions and pairs that are not zero"):
        controller.feedback(q=np.zeros(6), v=v)


def relay():
    """A carriage that is pushed hard, then gently with a drag, on to a place that is given."""
    push = ts.Problem(steps=8, step=0.1, name="push")
    x, u = push.state("x", 2), push.control("u", lower=-2.0, upper=2.0)
    push.next(x=ca.vertcat(x[0] + 0.1 * x[1], x[1] + 0.1 * u))
    push.minimize(0.01 * u**2 + 0.1 * x[1] ** 2)
    glide = ts.Problem(steps=6, step=0.2, name="glide")
    y, w, goal = glide.state("y", 2), glide.control("w", lower=-0.5, upper=0.5), glide.parameter("goal")
    glide.next(y=ca.vertcat(y[0] + 0.2 * y[1], y[1] + 0.2 * (w - 0.3 * y[1])))
    glide.minimize(0.05 * w**2 + (y[0] - goal) ** 2)
    glide.minimize(10 * (y[0] - goal) ** 2 + y[1] ** 2, at="end")
    push.then(glide, y=x)
    push.start("x")
    return push.build()


def test_several_phases_are_followed_by_steps():
    solver = relay()
    controller = solver.controller(iterations=25, barrier=1e-9)
    rng, x, statuses = np.random.default_rng(4), np.array([0.0, 0.0]), []
    for _ in range(20):
        command = controller.step({"x": x}, goal=1.5)
        expected = solver.solve(start={"x": x}, goal=1.5)
        assert expected.solved
        np.testing.assert_allclose(command.u, expected.phases["push"].u[0], atol=1e-3)
        statuses.append(command.status)
        x = np.array([x[0] + 0.1 * x[1], x[1] + 0.1 * command.u[0] + 0.02 * rng.standard_normal()])
    assert statuses.count("under way") >= 12


def test_every_phase_of_a_plan_is_shifted():
    solver = relay()
    plan = solver.solve(start={"x": [0.0, 0.0]}, goal=1.5)
    moved = plan.shifted(2).guess
    for name, variable in (("push", "x"), ("push", "u"), ("glide", "y"), ("glide", "w")):
        rows = plan.phases[name][variable]
        np.testing.assert_array_equal(moved[name][variable], np.vstack([rows[2:], rows[-1:], rows[-1:]]))
    warm = solver.solve(start={"x": [0.02, 0.1]}, goal=1.5, warm_start=plan.shifted())
    assert warm.solved
    with pytest.raises(ProblemError, match="steps is 7, expected a whole number from 0 to 6"):
        plan.shifted(7)


def test_limits_that_change_are_followed_by_steps():
    ocp = ts.Problem(steps=10, step=0.1)
    x, u = ocp.state("x"), ocp.control("u", lower=-ocp.parameter("most"), upper=ocp.parameter("more"))
    ocp.next(x=x + 0.1 * u)
    ocp.minimize(x**2 + 0.01 * u**2)
    ocp.start("x")
    solver = ocp.build()
    controller, statuses = solver.controller(iterations=30, barrier=1e-9, shift=False), []
    for start, most in ((0.1, 1.0), (0.1, 0.9), (0.12, 0.8), (5.0, 0.5), (0.1, 0.8), (0.1, 0.7), (-3.0, 2.0)):
        command = controller.step({"x": start}, most=most, more=1.0)
        expected = solver.solve(start={"x": start}, most=most, more=1.0)
        np.testing.assert_allclose(command.u, expected.u[0], atol=1e-4)
        statuses.append(command.status)
    assert statuses[0] == "solved" and statuses.count("under way") >= 3
    with pytest.raises(ProblemError, match="limits of 'u'"):
        controller.prepare(most=-2.0)
    assert controller.step({"x": -5.0}).u[0] == pytest.approx(1.0, abs=1e-5)  # with the limits that it had
    assert controller.step({"x": 5.0}, most=0.5).u[0] == pytest.approx(-0.5, abs=1e-5)
