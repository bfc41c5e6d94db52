"""Plans through via points, with tools kept to something, with a load: each looked at apart from the planner."""

from itertools import islice

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
import trisweep as ts
from support.arm_plans import GOAL, START, clearance_by_coal, holds, table
from support.rivals import needs_rivals
from trisweep.native.compiler import compiler
from trisweep.problems.mechanisms.capsule_arm import capsule_arm
from trisweep.problems.planning import planner
from trisweep.problems.planning.asked import shortest
from trisweep.problems.planning.goals import filled
from trisweep.problems.planning.inverse_kinematics import configurations
from trisweep.problems.robot import robot_file

LIMITS = ts.JointLimits(acceleration=8.0)
THREADED = ts.JointLimits(acceleration=8.5)  # a planner of its own, with three solvers
VIA = np.array([0.1, 0.2, 0.3, 1.2, 0.2, 0.4])


@pytest.fixture(scope="module")
def arm():
    return capsule_arm()


def at(motion, time):
    """Configuration and velocity of a motion at a time, from its polynomials."""
    k = min(int(np.searchsorted(motion.times, time, side="right")) - 1, motion.steps - 1)
    t = time - motion.times[k]
    q = motion.q[k] + t * motion.v[k] + t**2 / 2 * motion.a[k] + t**3 / 6 * motion.jerk[k]
    return q, motion.v[k] + t * motion.a[k] + t**2 / 2 * motion.jerk[k]


def nothing_is_compiled(*_, **__):
    raise AssertionError("machine code is made")


@pytest.mark.parametrize("jerk", [None, 60.0])
def test_a_via_point_is_passed_without_a_stop(arm, jerk):
    scene, limits = table(), ts.JointLimits(acceleration=8.0, jerk=jerk)
    plan = ts.plan(arm, START, GOAL, scene, limits, via=[VIA])
    assert plan.found, plan
    holds(arm, plan, limits.of(arm))
    assert clearance_by_coal(arm, plan.motion.sample(10)[1], scene) > 0
    (passed,) = plan.motion.via_times
    q, v = at(plan.motion, passed)
    np.testing.assert_allclose(q, VIA, atol=1e-5)
    assert abs(v).max() > 0.5
    np.testing.assert_allclose(plan.motion.q[[0, -1]], [START, GOAL], atol=1e-6)
    times, _, _, a = plan.motion.sample(10)
    if jerk is not None:
        assert (abs(np.diff(a, axis=0)) <= jerk * np.diff(times)[:, None] * (1 + 1e-5)).all()
    stops = [ts.plan(arm, *ends, scene, limits).duration for ends in ((START, VIA), (VIA, GOAL))]
    assert plan.duration < 0.95 * sum(stops)


def test_via_points_on_the_way_cost_nothing(arm):
    """One joint of 1.6 rad, 2 rad/s and 8 rad/s^2: 1.6 / 2 + 2 / 8 s, wherever on its way it is looked at."""
    on_the_way = [START + share * (GOAL - START) for share in (0.3, 0.6)]
    plan = ts.plan(arm, START, GOAL, limits=LIMITS, via=on_the_way)
    assert plan.found and 1.05 - 1e-3 <= plan.duration < 1.08
    # 0.48 rad after 0.25 rad of speeding up in 0.25 s, and 0.48 rad further
    np.testing.assert_allclose(plan.motion.via_times, [0.125 + 0.48 / 2, 0.125 + 0.96 / 2], atol=0.02)


@needs_rivals
def test_stated_legs_have_the_objective_of_ipopt(arm):
    def stated():
        first, second = ts.legs(arm, 2, steps=12, limits=LIMITS)
        first.problem.constrain("start", first.q, equals=START, at="start")
        first.problem.reach("tool", position=(0.2, 0.1, 0.9))
        second.problem.constrain("goal", second.q, equals=GOAL, at="end")
        return first.problem

    guess = {"q": START, "duration": 1.0}
    ours, theirs = (stated().build(backend=name).solve(guess) for name in ("native", "ipopt"))
    assert ours.status == theirs.status == "solved"
    assert ours.objective == pytest.approx(theirs.objective, rel=1e-6)
    passed = arm.link_pose(ours.phases["leg 1"].q[-1], "tool")[1]
    np.testing.assert_allclose(passed, (0.2, 0.1, 0.9), atol=1e-6)


def test_a_tool_goal_on_the_way_chooses_its_configuration(arm):
    R, p = arm.link_pose(VIA, "tool")
    fixed = ts.plan(arm, START, GOAL, table(), LIMITS, via=[VIA])
    free = ts.plan(arm, START, GOAL, table(), LIMITS, via=[ts.ToolGoal("tool", p)])
    assert free.found and free.duration < fixed.duration
    reached = arm.link_pose(at(free.motion, free.motion.via_times[0])[0], "tool")[1]
    np.testing.assert_allclose(reached, p, atol=1e-4)
    turned = ts.plan(arm, START, ts.ToolGoal("tool", p, R, tolerance=0.02, angle=0.1), table(), LIMITS)
    R_found, p_found = arm.link_pose(turned.motion.q[-1], "tool")
    assert turned.found and abs(p_found - p).max() <= 0.02 + 1e-4
    assert np.arccos((np.trace(R.T @ R_found) - 1) / 2) <= 0.1 * np.sqrt(3) + 1e-4


def test_a_tool_is_kept_upright_and_on_a_line_between_the_stages_too(arm, monkeypatch):
    def leaning(plan):
        R, _ = arm.compiled.link_pose(plan.motion.sample(10)[1], "tool")
        return np.arccos(-R[:, 2, 2]).max()

    assert leaning(ts.plan(arm, START, GOAL, table(), LIMITS)) > 1.5
    down = ts.ToolGoal("tool", pointing=((0, 0, 1), (0, 0, -1)), angle=1.0)
    plan = ts.plan(arm, START, GOAL, table(), LIMITS, keep=down)
    assert plan.found and leaning(plan) <= 1.0 + 1e-6
    assert clearance_by_coal(arm, plan.motion.sample(10)[1], table()) > 0
    start = arm.link_pose(START, "tool")[1]
    line = ts.ToolGoal("tool", position=start, along=(0, 1, 0), tolerance=0.005)
    plan = ts.plan(arm, START, GOAL, limits=LIMITS, keep=[line])
    off = arm.compiled.link_pose(plan.motion.sample(10)[1], "tool")[1] - start
    assert plan.found and abs(off[:, [0, 2]]).max() <= 0.005 * (1 + 1e-5)
    assert abs(off[-1, 1]) > 0.9
    holds(arm, plan, LIMITS.of(arm))
    monkeypatch.setattr(compiler, "expanded", nothing_is_compiled)  # nor for another line, nor for another cone
    back = ts.ToolGoal("tool", position=start, along=(0.1, -1, 0.05), tolerance=0.15)
    plan = ts.plan(arm, START, GOAL, limits=LIMITS, keep=[back])
    q = plan.motion.sample(10)[1]
    off = arm.compiled.link_pose(q, "tool")[1] - start
    along = np.array([0.1, -1, 0.05]) / np.linalg.norm([0.1, -1, 0.05])
    assert plan.found and np.linalg.norm(off - np.outer(off @ along, along), axis=1).max() <= 0.15 * np.sqrt(2)
    leaned = ts.ToolGoal("tool", pointing=((0, 0, 2), (0.1, 0, -1)), angle=1.1)
    plan = ts.plan(arm, START, GOAL, table(), LIMITS, keep=leaned)
    R, _ = arm.compiled.link_pose(plan.motion.sample(10)[1], "tool")
    aim = np.array([0.1, 0, -1]) / np.linalg.norm([0.1, 0, -1])
    assert plan.found and np.arccos(R[:, :, 2] @ aim).max() <= 1.1 + 1e-6


def test_ends_off_what_is_kept_and_via_points_that_cannot_be_are_said(arm):
    down = ts.ToolGoal("tool", pointing=((0, 0, 1), (0, 0, -1)), angle=0.5)
    plan = ts.plan(arm, START, GOAL, limits=LIMITS, keep=down)
    assert (
        plan.status == "start off what is kept"
        and "link 'tool' is 0.942 rad off, expected 0.5 rad at most" in plan.reason
    )
    inside = np.array([0.0, 1.45, 0.0, 0.3, 0.0, 0.3])
    plan = ts.plan(arm, START, GOAL, table(), LIMITS, via=[VIA, inside])
    assert plan.status == "via point 2 in collision" and "'post'" in plan.reason and not plan.attempts
    plan = ts.plan(arm, START, GOAL, table(), LIMITS, via=[ts.ToolGoal("tool", (3, 0, 0))])
    assert plan.status == "via point 1 out of reach" and "'tool'" in plan.reason
    plan = ts.plan(arm, START, GOAL, table(), LIMITS, via=[VIA + 3.0])
    assert plan.status == "via point 1 outside limits"


@pytest.mark.parametrize(
    "words, sentence",
    [
        ({"via": VIA}, "via is .* expected a list"),
        ({"via": [VIA[:5]]}, "via point 1 is .* expected 6 finite numbers"),
        ({"via": ts.ToolGoal("tool", (0, 0, 1))}, "via is .* expected a list"),
        ({"keep": "upright"}, "keep is 'upright', expected ToolGoals"),
        ({"keep": ts.ToolGoal("tool", (0, 0, 1))}, "tolerance 0, expected some"),
        ({"keep": ts.ToolGoal("tool", pointing=((0, 0, 1), (0, 0, 1)))}, "angle 0, expected some"),
        ({"keep": ts.ToolGoal("tool")}, "has no goal"),
        ({"keep": ts.ToolGoal("tool", pointing=((0, 0, 0), (0, 0, 1)), angle=1.0)}, "expected a direction"),
        ({"via": [VIA], "path": [START, GOAL]}, "path is given beside via"),
        ({"payload": 3.0}, "payload is 3.0, expected a Payload"),
        ({"payload": ts.Payload("tool", -1.0)}, "mass is -1, expected a mass >= 0"),
        ({"payload": ts.Payload("tool", ca.SX.sym("m"))}, "has symbols in it, expected numbers"),
        ({"payload": ts.Payload("nose", 1.0)}, "no link 'nose'"),
        ({"payload": ts.Payload("tool", 1.0, inertia=-np.eye(3))}, "principal moments"),
        ({"threads": 0}, "threads is 0, expected a whole number from 1"),
    ],
)
def test_misuse_is_a_sentence(arm, words, sentence):
    with pytest.raises(ts.TrisweepError, match=sentence):
        ts.plan(arm, START, GOAL, table(), LIMITS, **words)


def test_a_load_by_pinocchio_and_no_code_for_another_one(monkeypatch):
    """Torques of motions, by Pinocchio with the load in the link's inertia, are within limits and as the check says."""
    iiwa = ts.robot("iiwa14")
    start, goal = np.array([-0.8, 1.2, 0, -1.0, 0, 0.6, 0]), np.array([0.8, 1.2, 0.3, -1.0, 0, 0.9, 0])
    limits = ts.JointLimits(velocity=3.0, torque=(60.0, 200.0, 60.0, 90.0, 30.0, 20.0, 10.0))
    inertia = np.diag([0.02, 0.03, 0.01])
    ts.plan(iiwa, start, goal, limits=limits, payload=ts.Payload("iiwa_flange", 1.0))
    monkeypatch.setattr(compiler, "expanded", nothing_is_compiled)
    durations, twins = [], {}
    for mass in (0.0, 6.0, 12.0):
        plan = ts.plan(
            iiwa, start, goal, limits=limits, payload=ts.Payload("iiwa_flange", mass, (0.05, 0, 0.1), inertia)
        )
        assert plan.found, plan
        twin = pin.buildModelFromUrdf(str(robot_file("iiwa14")))
        frame = twin.frames[twin.getFrameId("iiwa_flange")]
        load = pin.Inertia(mass, np.array([0.05, 0, 0.1]), inertia)
        twin.appendBodyToJoint(frame.parentJoint, load, frame.placement)
        data, (_, q, v, a) = twin.createData(), plan.motion.sample(10)
        tau = np.array([pin.rnea(twin, data, *state) for state in zip(q, v, a)])
        share = abs(tau / limits.torque).max()
        assert share <= 1 + 1e-6 and share == pytest.approx(plan.check.torque, rel=1e-9)
        durations.append(plan.duration)
        twins[mass] = twin, plan
    assert durations[2] > 1.05 * durations[0]
    heavy, light = twins[12.0][0], twins[0.0][1]
    data, (_, q, v, a) = heavy.createData(), light.motion.sample(10)
    too_much = np.array([pin.rnea(heavy, data, *state) for state in zip(q, v, a)])
    assert abs(too_much / limits.torque).max() > 1.05  # the load matters


def test_the_answer_does_not_depend_on_the_number_of_threads(arm, monkeypatch):
    """Three seeds side by side, the best of which is taken."""
    scene = table().box("shelf", (0.5, 0.04, 0.3), (0.55, 0.25, 0.35)).sphere("ball", 0.08, (0.3, -0.2, 0.7))
    monkeypatch.setattr(planner, "TOGETHER", 3)
    monkeypatch.setattr(planner, "_groups", lambda seeds: iter([list(islice(seeds, 3))]))
    plans = [ts.plan(arm, START, GOAL, scene, THREADED, threads=count) for count in (1, 2, 3)]
    first = plans[0]
    assert first.found and len(first.attempts) == 3, first
    for other in plans[1:]:
        assert [each.outcome for each in other.attempts] == [each.outcome for each in first.attempts]
        for part in ("lengths", "q", "v", "a"):
            assert np.array_equal(getattr(other.motion, part), getattr(first.motion, part))


def test_a_load_that_cannot_be_held_is_said(arm):
    load = ts.Payload("tool", 30.0, (0.0, 0.0, 0.1))
    plan = ts.plan(arm, START, GOAL, limits=LIMITS, payload=load)
    needs = abs(arm.with_payload("tool", 30.0, load.centre).inverse_dynamics(START, np.zeros(6), np.zeros(6)))
    worst = int(needs.argmax())
    assert plan.status == "start too heavy to hold" and not plan.attempts
    assert f"joint 'link {worst + 1}_joint' needs {needs[worst]:.3g} to stay there, its limit is 60" in plan.reason


def test_a_goal_whose_nearest_configuration_is_taken_is_met_by_another(arm):
    """A ball where the elbow would be: the tool can be there all the same."""
    goal = ts.ToolGoal("tool", arm.link_pose(GOAL, "tool")[1])
    near = next(configurations(arm, (filled(arm, goal),), START, 0))
    scene = ts.Scene()
    for k, q in enumerate(near):
        scene.sphere(f"ball {k}", 0.05, arm.link_pose(q, "link 4")[1])
    plan = ts.plan(arm, START, goal, scene, LIMITS)
    assert all(clearance_by_coal(arm, [q], scene) < 0 for q in near)
    assert plan.found, plan
    assert clearance_by_coal(arm, plan.motion.sample(10)[1], scene) > 0
    np.testing.assert_allclose(arm.link_pose(plan.motion.q[-1], "tool")[1], goal.position, atol=1e-4)


def test_a_plan_is_where_the_next_one_begins(arm):
    before = ts.plan(arm, START, GOAL, table(), LIMITS, via=[VIA])
    moved = table().move("post", (0.45, 0.03, 0.4))
    after = ts.plan(arm, START, GOAL, moved, LIMITS, via=[VIA], path=before)
    assert after.found and [each.seed for each in after.attempts] == ["the given path"]
    with pytest.raises(ts.ProblemError, match="path is a plan of 2 legs, expected one found for 1 legs"):
        ts.plan(arm, START, GOAL, moved, LIMITS, path=before)


def test_a_file_without_rates_is_said():
    arm = ts.robot("double_pendulum")
    with pytest.raises(ts.ProblemError, match=r"velocity of '.*' is 0 in the robot's file, expected positive numbers"):
        ts.plan(arm, arm.neutral(), arm.neutral())


def test_the_shortest_chain_is_that_of_all_chains():
    rng = np.random.default_rng(3)
    layers = [rng.normal(size=(count, 2)) for count in (1, 4, 3, 5)]
    ways = {}
    for last in range(5):
        chains = [
            np.array([layers[0][0], layers[1][i], layers[2][j], layers[3][last]]) for i in range(4) for j in range(3)
        ]
        ways[last] = min(abs(np.diff(chain, axis=0)).max(axis=1).sum() for chain in chains)
    found = shortest(layers)
    np.testing.assert_allclose([abs(np.diff(each, axis=0)).max(axis=1).sum() for each in found], sorted(ways.values()))
