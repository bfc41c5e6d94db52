"""Closed loops: against a loop by hand, plants that differ, delays, noise, and what is refused."""

import numpy as np
import pytest
import trisweep as ts
from trisweep.errors import ProblemError

STEP = 0.1


def controller(**options):
    ocp = ts.Problem(steps=20, step=STEP)
    x, v = ocp.state("x"), ocp.state("v")
    u = ocp.control("u", lower=-1.0, upper=1.0)
    goal = ocp.parameter("goal")
    ocp.next(x=x + STEP * v, v=v + STEP * u)
    ocp.minimize((x - goal) ** 2 + 0.1 * v**2 + 0.01 * u**2)
    ocp.minimize(10 * (x - goal) ** 2 + v**2, at="end")
    ocp.start("x", "v")
    return ocp.build().controller(**options)


def plant(states, controls, period):
    return {"x": states["x"] + period * states["v"], "v": states["v"] + period * 1.2 * controls["u"]}


START = {"x": 1.0, "v": 0.0}


def test_it_is_the_loop_by_hand():
    run = ts.closed_loop(controller(), plant, 3.0, START, parameters={"goal": 0.5})
    by_hand, states = controller(), {name: np.array([value]) for name, value in START.items()}
    for k in range(30):
        np.testing.assert_array_equal(run.x[k], states["x"])
        command = by_hand.step(states, goal=0.5)
        np.testing.assert_array_equal(run.u[k], command.u)
        states = plant(states, command.controls, STEP)
    assert run.status == "finished" and run.times[-1] == pytest.approx(3.0) and len(run.u) == len(run.history) == 30
    assert abs(run.x[-1, 0] - 0.5) < 0.02
    assert "finished after 3 s" in str(run)


def test_a_goal_that_moves_a_delay_and_noise():
    goal = 0.5
    still = ts.closed_loop(controller(), plant, 2.0, START, lambda time: {"goal": goal})
    late = ts.closed_loop(controller(), plant, 2.0, START, lambda time: {"goal": goal}, delay=2)
    np.testing.assert_array_equal(late.u[:2], 0.0)
    np.testing.assert_array_equal(late.u[2], still.u[0])
    noisy = [
        ts.closed_loop(controller(), plant, 4.0, START, {"goal": goal}, noise={"x": 0.01}, seed=s) for s in (1, 1, 2)
    ]
    np.testing.assert_array_equal(noisy[0].x, noisy[1].x)
    assert (noisy[0].x[1:] != noisy[2].x[1:]).any()
    assert abs(noisy[0].x[-10:] - goal).max() < 0.1
    steps = ts.closed_loop(controller(), plant, 8.0, START, lambda time: {"goal": 1.0 if time < 4 else -1.0})
    assert abs(steps.x[39, 0] - 1.0) < 0.05 and abs(steps.x[-1, 0] + 1.0) < 0.05


def test_a_plant_that_is_a_robot_with_a_load(tmp_path):
    arm = ts.robot("iiwa14")
    ocp = ts.Problem(steps=10, step=0.02, integrator="semi-implicit euler")
    q, v = ocp.state("q", arm.nq), ocp.state("v", arm.nv)
    tau = ocp.control("tau", arm.nv, lower=-arm.effort_limit, upper=arm.effort_limit)
    goal = ocp.parameter("goal", arm.nq)
    ocp.derivative(q=v, v=arm.forward_dynamics(q, v, tau))
    ocp.minimize(10 * ts.sumsqr(q - goal) + 0.1 * ts.sumsqr(v) + 1e-6 * ts.sumsqr(tau))
    ocp.minimize(100 * ts.sumsqr(q - goal) + ts.sumsqr(v), at="end")
    ocp.start("q", "v")
    pose = np.array([0.2, 0.5, 0.0, -1.3, 0.0, 1.2, 0.0])
    start = {"q": pose, "v": np.zeros(7)}
    loop = ts.closed_loop(
        ocp.build().controller(guess={"q": pose}), arm.with_payload("iiwa_flange", mass=1.0), 0.6, start,
        parameters={"goal": pose + 0.1},
    )  # fmt: skip
    assert loop.status == "finished" and loop.q.shape == (31, 7) and loop.tau.shape == (30, 7)
    assert np.abs(loop.q[-1] - pose - 0.1).max() < 0.05
    assert loop.trajectory is not None and len(loop.trajectory.times) == 301
    np.testing.assert_allclose(loop.trajectory.q[::10], loop.q, atol=1e-12)
    np.testing.assert_array_equal(loop.trajectory.tau[::10], loop.tau)
    loop.plot(tmp_path / "loop.png")
    assert (tmp_path / "loop.png").stat().st_size > 1000
    with pytest.raises(ProblemError, match=r"the model has q \(6\)"):
        ts.closed_loop(ocp.build().controller(), arm.lock({"iiwa_joint_7": 0.0}), 0.1, start, parameters={"goal": pose})


def test_a_plant_that_explodes_ends_the_run():
    def explodes(states, controls, period):
        return {"x": states["x"] * np.inf if states["x"] < 0.97 else plant(states, controls, period)["x"], "v": [-1.0]}

    run = ts.closed_loop(controller(), explodes, 3.0, START, {"goal": 0.0})
    assert run.status == "diverged" and len(run.x) == len(run.u) < 10 and np.isfinite(run.x).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"controller": 3}, "controller is 3, expected that of"),
        ({"plant": 3}, "plant is 3, expected a model"),
        ({"seconds": -1.0}, "seconds is -1.0, expected at least a period, 0.1"),
        ({"seconds": "long"}, "seconds is 'long'"),
        ({"start": {"x": 1.0}}, "start has x, expected x, v"),
        ({"start": {"x": [1.0, 2.0], "v": 0.0}}, r"start, 'x', has shape \(2,\), expected \(1,\)"),
        ({"start": {"x": np.nan, "v": 0.0}}, "measured 'x' is"),
        ({"delay": 0.5}, "delay is 0.5, expected a whole number of periods"),
        ({"noise": {"w": 1.0}}, "there is no measured state 'w'"),
        ({"noise": {"x": -1.0}}, "noise of 'x' is"),
        ({"plant": lambda states, controls, period: {"x": 1.0}}, "the plant's answer has x, expected x, v"),
        ({"plant": lambda states, controls, period: None}, "the plant's answer has None"),
        ({"parameters": {"gaol": 1.0}}, "there is no parameter 'gaol'"),
    ],
)
def test_what_is_refused(change, message):
    given = {"controller": controller(), "plant": plant, "seconds": 1.0, "start": START, "parameters": {"goal": 0.0}}
    with pytest.raises(ProblemError, match=message):
        ts.closed_loop(**(given | change))
