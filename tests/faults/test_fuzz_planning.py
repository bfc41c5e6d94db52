"""Scenes and plans of junk: a sentence, or obstacles and motions that are what they say."""

import numpy as np
import pytest
import trisweep as ts
from support.junk import damaged, fuzz, picker
from trisweep.dynamics.algebra.spatial import placement
from trisweep.dynamics.kinematic_tree import Shape
from trisweep.errors import TrisweepError
from trisweep.problems.planning import planner

pytestmark = pytest.mark.usefixtures("quiet")
pick = picker()


def test_scenes():
    def attempt(rng):
        scene = ts.Scene().box("table", (1, 1, 0.1), (0, 0, 0)).sphere("ball", 0.1, (1, 0, 0))
        before = scene.blocks()
        name, place = pick(rng, "new", "table", share=0.2), pick(rng, (0, 1, 0))
        try:
            match int(rng.integers(8)):
                case 0:
                    scene.sphere(name, pick(rng, 0.2), place)
                case 1:
                    scene.box(name, pick(rng, (1, 2, 3)), place, pick(rng, (0, 0, 0)))
                case 2:
                    scene.cylinder(name, pick(rng, 0.1), pick(rng, 1.0), place, pick(rng, (0, 0, 0)))
                case 3:
                    scene.half_space(name, pick(rng, (0, 0, 1)), place)
                case 4:
                    scene.height_map(name, pick(rng, [[0, 1.0], [0.5, 0]]), pick(rng, 0.5), place)
                case 5:
                    scene.move(name, place, pick(rng, None, (0, 0, 1)))
                case 6:
                    scene.remove(name)
                case _:
                    scene.capsule(name, pick(rng, 0.1), pick(rng, 1.0), place)
        except TrisweepError:
            assert np.array_equal(scene.blocks(), before)  # nothing is left half done
            raise
        assert np.isfinite(scene.blocks()).all()

    fuzz(800, 20, attempt)


YAML = b"""
- {name: table, kind: box, size: [1.2, 0.8, 0.05], position: [0.5, 0, 0.2], rpy: [0, 0, 0.1]}
- {name: post, kind: cylinder, radius: 0.04, length: 0.8, position: [0.4, 0.3, 0.6]}
- name: ball
  kind: sphere
  radius: &r 0.2
  position: [1, *r, *r]
- {name: ground, kind: half_space, normal: [0, 0, 1], point: [0, 0, -0.1]}
"""


def test_damaged_scenes(tmp_path):
    file = tmp_path / "scene.yaml"

    def attempt(rng):
        file.write_bytes(damaged(YAML, rng))
        assert np.isfinite(ts.Scene.load(file).blocks()).all()

    fuzz(800, 21, attempt)
    file.write_bytes(YAML)
    assert list(ts.Scene.load(file)) == ["table", "post", "ball", "ground"]


@pytest.fixture(scope="module")
def arm():
    builder = ts.ModelBuilder("arm")
    reach = {"lower": -2.5, "upper": 2.5, "velocity": 2.0, "effort": 50.0}
    for link, parent in (("upper", "universe"), ("lower", "upper")):
        where = (0.0, 0.0, 0.0) if parent == "universe" else (0.5, 0.0, 0.0)
        builder.add(link, parent, "revolute", axis=(0, 0, 1), position=where, mass=1.0, com=(0.25, 0, 0), **reach)
        middle = placement(np.eye(3), (0.25, 0, 0))
        builder.collision_shape(Shape("capsule", (0.05, 0.3), link, middle))
    return builder.build()


class Accepted(TrisweepError):
    """What was given makes sense; nothing is built."""


def test_what_a_planner_is_asked_for(arm, monkeypatch):
    def nothing_is_built(*_):
        raise Accepted("all of it makes sense to the planner")

    monkeypatch.setattr(planner, "motion_problem", nothing_is_built)

    def attempt(rng):
        parts = {name: pick(rng, None, 1.0) for name in ("velocity", "acceleration", "jerk", "torque")}
        limits = pick(rng, None, ts.JointLimits(**parts), ts.JointLimits(**parts), share=0.1)
        given = pick(rng, arm, share=0.1), np.zeros(2), np.ones(2), pick(rng, None, ts.Scene(), share=0.1)
        ts.plan(*given, limits, pick(rng, 0.01, share=0.2), pick(rng, 10, share=0.2))
        raise AssertionError("it was built")

    fuzz(1200, 22, attempt)


def test_via_points_loads_and_what_is_kept(arm, monkeypatch):
    def nothing_is_built(*_):
        raise Accepted("all of it makes sense to the planner")

    monkeypatch.setattr(planner, "motion_problem", nothing_is_built)
    upright = ((1, 0, 0), (0, 1, 0))

    def attempt(rng):
        goal = ts.ToolGoal(
            pick(rng, "lower", share=0.1),
            pick(rng, None, (0.0, 0.5, 0.0), share=0.2),
            tolerance=pick(rng, 1.0, share=0.2),
            angle=pick(rng, 3.0, share=0.2),
            pointing=pick(rng, None, upright, (pick(rng), (0, 1, 0)), share=0.2),
            along=pick(rng, None, None, (0, 1, 0), share=0.2),
        )
        load = ts.Payload(
            pick(rng, "lower", share=0.1),
            pick(rng, 0.5, share=0.2),
            pick(rng, (0, 0, 0.1), share=0.2),
            pick(rng, None, np.eye(3), share=0.2),
        )
        words = {
            "via": pick(rng, (), [np.ones(2)], [pick(rng, np.ones(2))], share=0.1),
            "keep": pick(rng, (), goal, [goal], share=0.1),
            "payload": pick(rng, None, load, share=0.1),
            "threads": pick(rng, None, 1, share=0.1),
            "path": pick(rng, None, None, [np.zeros(2), np.ones(2)], share=0.1),
        }
        plan = ts.plan(arm, np.zeros(2), np.ones(2), None, None, 0.01, 10, 1, **words)
        assert plan.status != "found" and plan.reason  # something of it cannot be

    fuzz(800, 24, attempt)


def test_plans(arm):
    start, goal = np.array([-1.0, 0.5]), np.array([1.0, -0.5])
    post = ts.Scene().sphere("post", 0.1, (0.8, 0.0, 0.0))
    tool = ts.ToolGoal("lower", (0.0, 0.5, 0.0))
    assert ts.plan(arm, start, goal, post, steps=10).status == "found"

    def attempt(rng):
        first, last = pick(rng, start, share=0.3), pick(rng, goal, tool, share=0.3)
        if rng.random() < 0.3:
            last = ts.ToolGoal(
                pick(rng, "lower", share=0.2), pick(rng, (0.0, 0.5, 0.0)), pick(rng, None, np.eye(3), share=0.3)
            )
        scene = pick(rng, None, post, share=0.2)
        path = pick(rng, None, [start, goal], share=0.3)
        plan = ts.plan(arm, first, last, scene, None, 0.01, 10, pick(rng, 1, share=0.3), path, pick(rng, 0, share=0.2))
        if plan.status == "found":
            np.testing.assert_allclose(plan.motion.q[0], np.asarray(first, dtype=float), atol=1e-6)
            assert (abs(plan.motion.q) <= 2.5 + 1e-6).all() and (abs(plan.motion.v) <= 2.0 + 1e-6).all()
            if not isinstance(last, ts.ToolGoal):
                np.testing.assert_allclose(plan.motion.q[-1], np.asarray(last, dtype=float), atol=1e-6)

    fuzz(150, 23, attempt)
    assert ts.plan(arm, start, goal, post, steps=10).status == "found"
