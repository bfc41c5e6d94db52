"""Plans, each looked at again by coal and by this file's own arithmetic."""

import re

import numpy as np
import pytest
import trisweep as ts
from support.arm_plans import GOAL, START, clearance_by_coal, holds, table
from trisweep.drawing.planning_plot import plot
from trisweep.problems.mechanisms.capsule_arm import capsule_arm
from trisweep.problems.planning import board
from trisweep.problems.planning.board import Entry
from trisweep.problems.planning.trajectory import ArmMotion, along


@pytest.fixture(scope="module")
def arm():
    return capsule_arm()


def test_a_plan_around_a_post(arm):
    scene, limits = table(), ts.JointLimits(acceleration=8.0)
    plan = ts.plan(arm, START, GOAL, scene, limits)
    line = START + (GOAL - START) * np.linspace(0, 1, 50)[:, None]
    assert clearance_by_coal(arm, line, scene) < 0
    assert plan and plan.found and plan.check.passed, plan
    holds(arm, plan, limits.of(arm))
    np.testing.assert_allclose(plan.motion.q[[0, -1]], [START, GOAL], atol=1e-6)
    np.testing.assert_allclose(plan.motion.v[[0, -1]], 0, atol=1e-6)
    found = clearance_by_coal(arm, plan.motion.sample(10)[1], scene)
    assert found >= plan.check.clearance - 1e-9 > 0  # the spheres hold the capsules


def test_another_scene_needs_no_build_and_no_obstacle_the_straight_way(arm):
    limits = ts.JointLimits(acceleration=8.0)
    first = ts.plan(arm, START, GOAL, table(), limits)
    free = ts.plan(arm, START, GOAL, limits=limits)
    more = table().sphere("ball", 0.1, (0.2, 0.5, 0.8)).capsule("bar", 0.02, 0.4, (-0.2, -0.5, 0.6), (1.0, 0, 0))
    other = ts.plan(arm, START, GOAL, more.move("post", (0.45, 0.1, 0.4)), limits)
    assert first.solution.solver is free.solution.solver is other.solution.solver
    assert free.found and other.found, other
    assert free.duration <= first.duration + 2e-3  # the weight of accelerations
    assert clearance_by_coal(arm, other.motion.sample(10)[1], more) > 0
    # A straight motion of one joint of 1.6 rad, 2 rad/s and 8 rad/s^2: 1.6 / 2 + 2 / 8 s, but for whole steps.
    assert 1.05 - 1e-3 <= free.duration < 1.08


def test_a_tool_goal(arm):
    R, p = arm.link_pose(GOAL, "tool")
    plan = ts.plan(arm, START, ts.ToolGoal("tool", p, R), table(), ts.JointLimits(acceleration=8.0))
    assert plan.found, plan
    reached = arm.link_pose(plan.motion.q[-1], "tool")
    np.testing.assert_allclose(reached[0], R, atol=1e-5)
    np.testing.assert_allclose(reached[1], p, atol=1e-5)


def test_what_cannot_be_is_said_before_anything_is_solved(arm):
    limits, inside = ts.JointLimits(acceleration=8.0), np.array([0.0, 1.45, 0.0, 0.3, 0.0, 0.3])
    cases = {
        "goal in collision": (START, inside, "link .* and 'post' are .* mm into each other"),
        "start in collision": (inside, GOAL, "'post'"),
        "start outside limits": (START - 2.0, GOAL, "joint 'link 1_joint'"),
        "goal outside limits": (START, GOAL + 2.0, "joint 'link 2_joint'"),
        "goal out of reach": (START, ts.ToolGoal("tool", (2.0, 0, 0.5)), "'tool'"),
    }
    for status, (start, goal, reason) in cases.items():
        plan = ts.plan(arm, start, goal, table(), limits)
        assert plan.status == status and not plan and not plan.found and plan.solution is None
        assert re.search(reason, plan.reason), plan.reason
        with pytest.raises(ts.ProblemError, match="this plan has no motion"):
            plan.animate("nowhere.html")


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        ({"start": START[:5]}, "start is .* expected 6 finite numbers"),
        ({"goal": GOAL * np.nan}, "goal is .* expected 6 finite numbers"),
        ({"goal": ts.ToolGoal("tool", (0, 0))}, "position is .* expected 3"),
        ({"goal": ts.ToolGoal("tool", (0, 0, 1), np.ones((3, 3)))}, "no rotation matrix"),
        ({"goal": ts.ToolGoal("nose", (0, 0, 1))}, "link 'nose'"),
        ({"limits": ts.JointLimits(velocity=-1)}, "velocity is -1"),
        ({"limits": ts.JointLimits(torque=[1, 2])}, "torque is .* expected a number or"),
    ],
)
def test_misuse_is_a_sentence(arm, arguments, sentence):
    given = {"start": START, "goal": GOAL, "limits": ts.JointLimits(acceleration=8.0)} | arguments
    with pytest.raises(ts.ProblemError, match=sentence):
        ts.plan(arm, given["start"], given["goal"], table(), given["limits"])


def test_a_sampled_motion_is_its_polynomials():
    rng = np.random.default_rng(1)
    h, steps = 0.1, 5
    q, v, a = ([rng.standard_normal(2)] for _ in range(3))
    jerk = rng.standard_normal((5, 2))
    for j in jerk:
        q.append(q[-1] + h * v[-1] + h**2 / 2 * a[-1] + h**3 / 6 * j)
        v.append(v[-1] + h * a[-1] + h**2 / 2 * j)
        a.append(a[-1] + h * j)
    motion = ArmMotion(np.full(steps, h), *map(np.array, (q, v, a)), jerk)
    times, *sampled = motion.sample(10)
    for values, stages in zip(sampled, (q, v, a)):
        np.testing.assert_allclose(values[::10], stages, atol=1e-12)
    np.testing.assert_allclose(np.gradient(sampled[0], times, axis=0)[1:-1], sampled[1][1:-1], atol=1e-3)
    slower = motion.slower(2.0)
    np.testing.assert_allclose(slower.sample(10)[1], sampled[0], atol=1e-12)


def test_a_guess_along_a_path_passes_its_ends():
    path = np.array([[0.0, 1.0], [1.0, 1.0], [1.0, 0.0]])
    guess = along(path, 20, np.ones(2), np.ones(2))
    np.testing.assert_allclose(guess.q[[0, -1]], path[[0, -1]])
    assert guess.duration >= 2.0 and (guess.v[[0, -1]] == 0).all()


def test_a_limited_jerk(arm):
    limits = ts.JointLimits(acceleration=8.0, jerk=60.0)
    plan = ts.plan(arm, START, GOAL, table(), limits)
    assert plan.found, plan
    holds(arm, plan, limits.of(arm))
    times, q, v, a = plan.motion.sample(10)
    assert abs(np.diff(a, axis=0) / np.diff(times)[:, None]).max() <= 60.0 * (1 + 1e-5)
    np.testing.assert_allclose(a[[0, -1]], 0, atol=1e-5)
    assert clearance_by_coal(arm, q, table()) > 0
    assert plan.duration > ts.plan(arm, START, GOAL, table(), ts.JointLimits(acceleration=8.0)).duration


def entry(number, status="found", judged=0.01, rival=np.nan):
    numbers = {"seconds": 0.05 * number, "processor_seconds": 0.04, "duration": 1.0, "clearance": 0.01, "torque": 0.9}
    return Entry(
        set="cage",
        number=number,
        status=status,
        reason="",
        iterations=20,
        attempts=1,
        judged=judged,
        rival=rival,
        **numbers,
    )


def test_the_boards_rows_and_picture(tmp_path):
    entries = [
        entry(1, rival=1.5),
        entry(2, rival=0.9),
        entry(3, judged=-0.001),
        entry(4, "not found", np.nan),
        entry(5),
    ]
    said = board.row("cage", entries)
    assert "3 of 5" in said and "hit 1" in said and "rival longer 1 of 2, by 1.20, none 0" in said
    assert "rival" not in board.row("cage", [entry(1)])
    board.write_csv(tmp_path / "cage.csv", entries)
    assert len((tmp_path / "cage.csv").read_text().splitlines()) == 6
    figure = plot(*board.to_draw(entries), tmp_path / "cage.png")
    times, shares = figure.axes[0].lines[0].get_data()
    assert list(times) == [50.0, 100.0, 250.0] and list(shares) == [20.0, 40.0, 60.0]
    with pytest.raises(ts.ProblemError, match="jobs is 0, expected at least 1"):
        board.board("panda", ["cage"], 1, jobs=0)
