"""Controllers: commands against full solves, loops that differ from the plan, jumps, deadlines, bad input."""

import pickle

import numpy as np
import pytest
import trisweep as ts
from trisweep.errors import ProblemError


def double_integrator(limit=np.inf, speed=np.inf, steps=20):
    ocp = ts.Problem(steps=steps, step=0.1)
    x, v = ocp.state("x"), ocp.state("v", lower=-speed, upper=speed)
    u = ocp.control("u", lower=-limit, upper=limit)
    goal = ocp.parameter("goal")
    ocp.next(x=x + 0.1 * v, v=v + 0.1 * u)
    ocp.minimize((x - goal) ** 2 + 0.1 * v**2 + 0.01 * u**2)
    ocp.minimize(10 * (x - goal) ** 2 + v**2, at="end")
    ocp.start("x", "v")
    return ocp.build()


def pendulum():
    ocp = ts.Problem(steps=40, step=0.05, integrator="rk4")
    angle, rate = ocp.state("angle"), ocp.state("rate")
    torque = ocp.control("torque", lower=-3.0, upper=3.0)
    ocp.derivative(angle=rate, rate=torque - 9.81 * ts.sin(angle) - 0.1 * rate)
    ocp.minimize(5 * (1 + ts.cos(angle)) + 0.1 * rate**2 + 0.01 * torque**2)
    ocp.minimize(50 * (1 + ts.cos(angle)) + rate**2, at="end")
    ocp.start("angle", "rate")
    return ocp.build()


def test_without_limits_a_step_of_a_linear_problem_is_its_solution():
    solver = double_integrator()
    controller = solver.controller(shift=False)
    rng = np.random.default_rng(0)
    for k in range(10):
        x, v, goal = rng.standard_normal(3)
        command = controller.step({"x": x, "v": v}, goal=goal)
        expected = solver.solve(start={"x": x, "v": v}, goal=goal)
        np.testing.assert_allclose(command.u, expected.u[0], rtol=1e-9, atol=1e-9)
        assert command.status == ("solved" if k == 0 else "under way")
        assert command.iterations == 1 or k == 0


def test_with_limits_a_few_steps_come_to_the_solution_and_controls_keep_theirs():
    solver = double_integrator(limit=1.0, speed=0.8)
    controller = solver.controller(shift=False, iterations=30, barrier=1e-9)
    rng = np.random.default_rng(1)
    for _ in range(20):
        state = {"x": 3 * rng.standard_normal(), "v": rng.uniform(-0.7, 0.7)}
        command = controller.step(state, goal=0.0)
        expected = solver.solve(start=state, goal=0.0)
        assert expected.solved
        assert abs(command.u[0]) <= 1.0
        np.testing.assert_allclose(command.u, expected.u[0], atol=1e-3)


def test_no_cycle_says_more_of_its_plan_than_the_judge():
    """A scaled error is small in small units; "solved" is the judge's word alone."""
    for cost in (1.0, 1e-8):
        ocp = ts.Problem(steps=20, step=0.1)
        x, u = ocp.state("x"), ocp.control("u", lower=-1.0, upper=1.0)
        ocp.next(x=x + 0.1 * ts.sin(u))
        ocp.minimize(cost * (x**2 + 0.01 * u**2))
        ocp.start("x")
        controller = ocp.build().controller(shift=False, iterations=5)
        for start in (0.5, -0.5, 0.2):
            command = controller.step({"x": start})
            assert command.status in ("under way", "solved")
            plan = controller.plan
            if plan.solved:
                assert plan.check().stationarity <= 1e-6 * cost
                assert plan.check().complementarity <= 1e-6 * cost
            else:
                assert command.status == "under way"


def test_one_step_a_cycle_closes_the_loop_of_a_plant_that_differs():
    solver = double_integrator(limit=1.0)
    controller = solver.controller()
    rng, x, v = np.random.default_rng(2), 2.0, 0.0
    for k in range(150):
        if k == 80:
            x, v = -3.0, 0.5  # a jump
        command = controller.step({"x": x, "v": v}, goal=1.0)
        assert abs(command.u[0]) <= 1.0
        x, v = x + 0.1 * v, v + 0.1 * (1.15 * command.u[0] + 0.01 * rng.standard_normal())
    assert abs(x - 1.0) < 0.05
    assert len(controller.history) == 150
    assert controller.history.iterations[1:].max() <= 500


def test_a_pendulum_is_swung_up_held_and_caught_again():
    controller = pendulum().controller(iterations=2, guess={"angle": np.linspace(0.0, np.pi, 41)})
    angle, rate = 0.0, 0.0
    heights = []
    for k in range(300):
        if k == 200:
            angle += 1.0  # rad: a kick
        command = controller.step({"angle": angle, "rate": rate})
        assert abs(command.torque[0]) <= 3.0
        for _ in range(5):
            rate += 0.01 * (command.torque[0] - 9.81 * np.sin(angle) - 0.12 * rate)
            angle += 0.01 * rate
        heights.append(-np.cos(angle))
    assert min(heights[150:200]) > 0.99
    assert min(heights[-20:]) > 0.99


def test_what_is_wrong_is_said_before_anything_changes():
    def run(disturbed):
        controller = double_integrator(limit=1.0).controller()
        commands = []
        for k in range(6):
            state = {"x": 1.0 - 0.1 * k, "v": 0.1 * k}
            controller.prepare(goal=0.0)
            if disturbed:
                for wrong, message in (
                    ({"x": np.nan, "v": 0.0}, "measured 'x' is nan, expected finite numbers"),
                    ({"x": [1.0, 2.0], "v": 0.0}, r"measured 'x' has shape \(2,\), expected \(1,\)"),
                    ({"x": 1.0}, "measured are x, expected x, v"),
                    ({"self": 1.0}, "measured are self, expected x, v"),
                    ({"x": "here", "v": 0.0}, "'x' is 'here', expected numbers"),
                ):
                    with pytest.raises(ProblemError, match=message):
                        controller.feedback(**wrong)
                for wrong, message in (
                    ({"goal": np.inf}, "parameter 'goal' is inf, expected finite numbers"),
                    ({"goal": [1.0, 2.0]}, r"parameter 'goal' has shape \(2,\), expected \(1,\)"),
                    ({"target": 1.0}, "there is no parameter 'target'; the parameters are goal"),
                ):
                    with pytest.raises(ProblemError, match=message):
                        controller.prepare(**wrong)
            commands.append(controller.feedback(**state).u[0])
        return commands

    assert run(True) == run(False)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda s: s.controller(iterations=0.5), "iterations is 0.5"),
        (lambda s: s.controller(seconds=-1.0), "seconds is -1.0"),
        (lambda s: s.controller(barrier=0.0), "barrier is 0.0"),
        (lambda s: s.controller().feedback(x=0.0, v=0.0), "parameter 'goal' has no value"),
        (lambda s: s.controller().plan, "there is no plan yet"),
    ],
)
def test_what_is_refused(make, message):
    with pytest.raises(ProblemError, match=message):
        make(double_integrator())


def test_a_problem_without_measured_states_has_no_controller():
    ocp = ts.Problem(steps=3, step=0.1)
    x, u = ocp.state("x"), ocp.control("u")
    ocp.next(x=x + u)
    ocp.minimize(u**2)
    with pytest.raises(ProblemError, match="name the states by start"):
        ocp.build().controller()


def test_a_deadline_that_is_over_ends_the_cycle_after_its_first_step():
    controller = double_integrator(limit=1.0).controller(iterations=50, seconds=1e-7, barrier=1e-9)
    controller.guess = {"x": 1.0}
    first = controller.step({"x": 1.0, "v": 0.0}, goal=0.0)
    assert first.late or first.status == "solved"
    controller = double_integrator(limit=1.0).controller(iterations=50, barrier=1e-9)
    controller.step({"x": 1.0, "v": 0.0}, goal=0.0)
    controller._core.seconds = 1e-9
    command = controller.step({"x": 1.001, "v": 0.0}, goal=0.0)
    assert command.late and command.iterations == 1 and command.status == "under way"


def test_a_jump_without_time_for_a_solve_is_answered_by_an_iteration_a_cycle():
    controller = double_integrator(limit=1.0).controller(iterations=50, barrier=1e-9, shift=False)
    controller.step({"x": 1.0, "v": 0.0}, goal=0.0)
    controller._core.seconds = 1e-9
    for _ in range(40):
        command = controller.step({"x": -2.0, "v": 0.0}, goal=0.0)
        assert command.late and command.iterations == 1 and abs(command.u[0]) <= 1.0
    assert controller.plan.solved


@pytest.mark.parametrize("jump", [1.0, -2.5])
def test_a_solve_that_runs_out_of_time_goes_on_in_the_next_cycle(jump):
    controller = pendulum().controller(shift=False, barrier=1e-9, guess={"angle": np.linspace(0.0, np.pi, 41)})
    controller.step({"angle": 0.0, "rate": 0.0})
    controller._core.seconds = 1e-9
    for _ in range(200):
        command = controller.step({"angle": jump, "rate": 0.0})
        assert command.iterations <= 1 and abs(command.torque[0]) <= 3.0
        if command.status == "solved":
            break
    assert "time limit" in controller.history.statuses
    assert controller.plan.solved
    np.testing.assert_allclose(controller.plan.angle[0], jump)


def test_the_plan_is_judged_the_history_is_told_and_drawn(tmp_path):
    controller = double_integrator(limit=1.0).controller(iterations=30, barrier=1e-9, shift=False)
    for _ in range(5):
        command = controller.step({"x": 1.0, "v": 0.0}, goal=0.0)
    plan = controller.plan
    assert plan.check().complementarity < 1e-6
    np.testing.assert_array_equal(np.clip(plan.u[0], -1.0, 1.0), command.u)
    assert "5 cycles" in str(controller.history) and "feedback" in str(controller.history)
    assert controller.history.limited == {"u": 5} and "at limits: 'u' in 5 cycles" in str(controller.history)
    assert controller.check() == plan.check()
    controller.history.plot(tmp_path / "cycles.png")
    assert (tmp_path / "cycles.png").stat().st_size > 1000
    with pytest.raises(AttributeError, match="command has no 'tau', expected u"):
        command.tau  # noqa: B018
    assert "u=" in repr(command)


def test_a_controller_travels_without_its_plan():
    controller = double_integrator(limit=1.0).controller(iterations=3)
    command = controller.step({"x": 1.0, "v": 0.0}, goal=0.0)
    other = pickle.loads(pickle.dumps(controller))
    again = other.step({"x": 1.0, "v": 0.0}, goal=0.0)
    np.testing.assert_array_equal(command.u, again.u)
