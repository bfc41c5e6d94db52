"""Goals in space and avoidance on the statement, against kinematics, IPOPT and the check of all pairs."""

import casadi as ca
import numpy as np
import pytest
import trisweep as ts
from trisweep.dynamics import Cloud
from trisweep.ocp.statement.space.goals import rotation_error
from trisweep.problems.mechanisms.capsule_arm import capsule_arm


@pytest.fixture(scope="module")
def arm():
    return capsule_arm()


def statement(arm, steps=1):
    ocp = ts.Problem(steps=steps, step=0.1)
    q = ocp.state("q", on=arm, lower=arm.q_lower, upper=arm.q_upper)
    u = ocp.control("u", arm.nv)
    ocp.next(q=q + 0.1 * u)
    ocp.minimize(ts.sumsqr(u))
    return ocp, q


def test_a_rotation_error_is_the_rotation_vector_and_vanishes_nowhere_else():
    E = ca.SX.sym("E", 3, 3)
    error = ca.Function("error", [E], [rotation_error(E)])
    rng = np.random.default_rng(0)
    for angle in (0.0, 1e-6, 0.5, 2.0, 3.0, 3.1415):
        axis = rng.standard_normal(3)
        axis /= np.linalg.norm(axis)
        K = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
        R = np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K
        np.testing.assert_allclose(np.array(error(R)).ravel(), 2 * np.sin(angle / 2) * axis, atol=1e-6)


def test_a_pose_is_reached(arm):
    q_goal = np.array([0.4, -0.7, 0.5, 0.9, 0.6, -0.4])
    R, p = arm.link_pose(q_goal, "tool")
    ocp, q = statement(arm)
    ocp.reach("tool", position=p, rotation=R)
    solution = ocp.build().solve(guess={"q": q_goal + 0.2})
    assert solution.status == "solved"
    found = arm.link_pose(solution.q[-1], "tool")
    np.testing.assert_allclose(found[0], R, atol=1e-6)
    np.testing.assert_allclose(found[1], p, atol=1e-6)


def test_pointing_a_line_and_a_tolerance(arm):
    ocp, q = statement(arm)
    ocp.reach("tool", position=(0.4, 0.1, 0.5), along=(0, 0, 1), pointing=((0, 0, 1), (0, 0, -1)))
    solution = ocp.build().solve(guess={"q": np.array([0.2, 0.9, 0.0, 1.2, 0.0, 1.0])})
    assert solution.status == "solved"
    R, p = arm.link_pose(solution.q[-1], "tool")
    np.testing.assert_allclose(p[:2], [0.4, 0.1], atol=1e-6)
    np.testing.assert_allclose(R[:, 2], [0, 0, -1], atol=1e-6)
    loose, q = statement(arm)
    loose.reach("tool", position=(0.4, 0.1, 0.5), tolerance=0.05)
    rough = loose.build().solve(guess={"q": solution.q[-1]})
    assert rough.status == "solved" and rough.objective <= solution.objective
    assert abs(arm.link_pose(rough.q[-1], "tool")[1] - [0.4, 0.1, 0.5]).max() <= 0.05 + 1e-6


def test_two_goals_of_a_link_with_a_tolerance_that_comes_with_the_solve(arm):
    ocp, q = statement(arm, steps=4)
    room = ocp.parameter("room")
    first, last = np.array([0.4, 0.1, 0.5]), np.array([0.3, -0.2, 0.6])
    ocp.reach("tool", position=first, tolerance=room, at=2, name="on the way")
    ocp.reach("tool", position=last, pointing=((0, 0, 1), (0, 0, -1)), angle=room, name="there")
    solver, guess = ocp.build(), {"q": np.array([0.2, 0.9, 0.0, 1.2, 0.0, 1.0])}
    costs = []
    for given in (0.05, 0.2):
        solution = solver.solve(guess, room=given)
        assert solution.status == "solved"
        assert abs(arm.link_pose(solution.q[2], "tool")[1] - first).max() <= given + 1e-6
        R, p = arm.link_pose(solution.q[-1], "tool")
        np.testing.assert_allclose(p, last, atol=1e-6)
        assert np.arccos(-R[2, 2]) <= given + 1e-6
        costs.append(solution.objective)
    assert costs[1] < costs[0]
    assert {"on the way position", "there position", "there pointing"} <= set(solution.constraints)


def test_a_tool_is_kept_upright(arm):
    ocp, q = statement(arm, steps=10)
    start = np.array([-0.6, 0.6, 0.0, 0.9, 0.0, np.pi - 1.5])
    ocp.constrain("start", q, equals=start, at="start")
    R, p = arm.link_pose(start, "tool")
    ocp.reach("tool", position=p + np.array([0.0, 0.3, 0.1]))
    ocp.keep_upright("tool", angle=0.2, up=R[:, 2])
    solution = ocp.build().solve(guess={"q": start})
    assert solution.status == "solved"
    leaning = [float(arm.link_pose(row, "tool")[0][:, 2] @ R[:, 2]) for row in solution.q]
    assert min(leaning) >= np.cos(0.2) - 1e-7


def test_an_obstacle_is_avoided_and_may_move_without_a_build(arm):
    cloud = Cloud(arm)
    scene = ts.Scene().sphere("ball", 0.1, (0.45, 0.0, 0.55))
    start, goal = np.array([-0.8, 0.9, 0, 0.8, 0, 0.5]), np.array([0.8, 0.9, 0, 0.8, 0, 0.5])
    ocp, q = statement(arm, steps=12)
    ocp.constrain("start", q, equals=start, at="start")
    ocp.constrain("goal", q, equals=goal, at="end")
    avoidance = ocp.avoid(scene, cloud, q, margin=0.02)
    solver = ocp.build()
    line = start + (goal - start) * np.linspace(0, 1, 13)[:, None]
    assert cloud.nearest(line, scene).distance.min() < 0
    guess = {"q": line + 0.2 * np.sin(np.linspace(0, np.pi, 13))[:, None] * np.eye(6)[1]}
    other = ts.Scene().sphere("ball", 0.1, (0.45, 0.0, 0.5)).box("shelf", (0.2, 0.2, 0.02), (0.3, 0, 0.9))
    for around in (scene, other):
        solution = solver.solve(guess=guess, **avoidance.values(guess["q"], around))
        again = solver.solve(guess=solution, **avoidance.values(solution.q, around))
        assert again.status == "solved"
        assert cloud.nearest(again.q, around).distance.min() >= 0.02 - 1e-6
    free = solver.solve(guess=guess, **avoidance.values(guess["q"], ts.Scene()))
    np.testing.assert_allclose(free.q, line, atol=1e-5)


@pytest.mark.parametrize(
    "say, sentence",
    [
        (lambda o, q, a: o.reach("nose", position=(0, 0, 1)), "link 'nose' is on 0 of 1 robots"),
        (lambda o, q, a: o.reach("tool"), "'tool' has no goal"),
        (lambda o, q, a: o.reach("tool", position=(0, 1)), "position of 'tool' has shape"),
        (lambda o, q, a: o.reach("tool", position=(0, np.nan, 1)), "not finite"),
        (lambda o, q, a: o.reach("tool", rotation=np.zeros((3, 3))), "no rotation matrix"),
        (lambda o, q, a: o.reach("tool", position=(0, 0, 1), tolerance=-1), "tolerance of tool position is -1"),
        (lambda o, q, a: o.reach("tool", pointing=((0, 0, 0), (0, 0, 1))), "expected a direction"),
        (lambda o, q, a: o.keep_upright("tool", angle=-0.1), "angle is -0.1"),
        (lambda o, q, a: o.avoid(ts.Scene(), a, q, margin=-1), "margin is -1"),
        (lambda o, q, a: o.avoid([], a, q), "scene is a list"),
    ],
)
def test_a_goal_that_makes_no_sense_is_a_sentence(arm, say, sentence):
    ocp, q = statement(arm)
    with pytest.raises(ts.ProblemError, match=sentence):
        say(ocp, q, arm)
    assert not [term for term in ocp.terms if term.kind != "objective"]
