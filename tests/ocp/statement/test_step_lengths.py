"""Steps of other lengths: a list, or a parameter; against statements that say the same by hand."""

import numpy as np
import pytest
import trisweep as ts
from trisweep.errors import ProblemError

LENGTHS = np.r_[np.full(6, 0.05), np.full(4, 0.15), 0.4, 0.4]


def pendulum(step, steps=12, integrator="rk4", by_hand=False):
    ocp = ts.Problem(steps=steps, step=None if by_hand else step, integrator=integrator)
    angle, rate = ocp.state("angle"), ocp.state("rate")
    torque = ocp.control("torque", lower=-4.0, upper=4.0)
    h = ocp.parameter("h", per_stage=True) if by_hand else ocp.time_step
    goal = ocp.parameter("goal")
    force = torque - 9.81 * ts.sin(angle)
    if by_hand:
        ocp.next(angle=angle + h * rate, rate=rate + h * force)
    else:
        ocp.derivative(angle=rate, rate=force)
    ocp.minimize(h * ((angle - goal) ** 2 + 0.1 * rate**2 + 0.01 * torque**2))
    ocp.minimize((angle - goal) ** 2 + rate**2, at="end")
    ocp.start("angle", "rate")
    return ocp.build()


START = {"angle": 0.4, "rate": -0.3}


def test_a_list_of_lengths_is_what_one_would_state_by_hand():
    solver = pendulum(LENGTHS, integrator="euler")
    solution = solver.solve(start=START, goal=0.7)
    hand = pendulum(None, by_hand=True).solve(start=START, goal=0.7, h=np.r_[LENGTHS, LENGTHS[-1]])
    assert solution.solved and hand.solved
    np.testing.assert_allclose(solution.torque, hand.torque, atol=1e-9)
    assert solution.objective == pytest.approx(hand.objective, rel=1e-10)
    np.testing.assert_allclose(solution.times, np.r_[0.0, np.cumsum(LENGTHS)])
    np.testing.assert_array_equal(solution.parameters["step"].ravel(), np.r_[LENGTHS, 0.4])


def test_lengths_come_with_a_solve():
    listed, named, even = pendulum(LENGTHS), pendulum("h"), pendulum(0.1)
    for given in (LENGTHS, LENGTHS[:, None], np.r_[LENGTHS, LENGTHS[-1]]):
        found = named.solve(start=START, goal=0.7, h=given)
        np.testing.assert_array_equal(found.torque, listed.solve(start=START, goal=0.7).torque)
    np.testing.assert_allclose(
        named.solve(start=START, goal=0.7, h=0.1).torque, even.solve(start=START, goal=0.7).torque, atol=1e-9
    )
    other = listed.solve(start=START, goal=0.7, step=0.1)
    np.testing.assert_allclose(other.torque, even.solve(start=START, goal=0.7).torque, atol=1e-9)
    many = named.solve_many(start=START, goal=np.array([[0.2], [0.7]]), h=LENGTHS)
    np.testing.assert_array_equal(many[1].torque, listed.solve(start=START, goal=0.7).torque)


def test_a_plan_is_shifted_to_the_nearest_time():
    solution = pendulum(LENGTHS).solve(start=START, goal=0.7)
    moved = solution.shifted().guess
    np.testing.assert_array_equal(moved["angle"][:6], solution.angle[1:7])
    np.testing.assert_array_equal(moved["angle"][7:], solution.angle[7:])


def test_a_controller_looks_far_with_few_steps():
    solver = pendulum(LENGTHS)
    controller = solver.controller(iterations=40, barrier=1e-9)
    angle, rate, statuses = 0.4, -0.3, []
    for _ in range(20):
        command = controller.step({"angle": angle, "rate": rate}, goal=0.7)
        expected = solver.solve(start={"angle": angle, "rate": rate}, goal=0.7)
        # so flat is the cost that the barrier's 1e-9 moves a torque near its limit by 1e-3
        np.testing.assert_allclose(command.torque, expected.torque[0], atol=5e-3)
        statuses.append(command.status)
        rate += 0.05 * (command.torque[0] - 9.81 * np.sin(angle))
        angle += 0.05 * rate
    assert statuses.count("under way") >= 15
    with pytest.raises(ProblemError, match="'step' has a length that is not positive"):
        controller.prepare(step=0.0)
    run = ts.closed_loop(
        solver.controller(), lambda x, u, period: x, seconds=0.2, start=START, parameters=lambda time: {"goal": 0.7}
    )
    assert len(run.torque) == 4


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ([0.1, 0.2], "step has 2 lengths, expected 12, one a step"),
        ([0.1] * 11 + [-1.0], "one of step is -1.0, expected a positive number of seconds"),
        ([], "step has 0 lengths"),
        ("two words", "name is 'two words', expected an identifier"),
    ],
)
def test_what_is_refused(step, message):
    with pytest.raises(ProblemError, match=message):
        pendulum(step)


def test_lengths_of_a_solve_are_positive():
    with pytest.raises(ProblemError, match="'h' is 0 at one of its steps, expected positive lengths"):
        pendulum("h").solve(start=START, goal=0.7, h=np.zeros(12))
