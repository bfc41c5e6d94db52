"""Goals of links and distances from a scene, of junk: a sentence and a statement as it was, or rows that make sense."""

import casadi as ca
import numpy as np
import pytest
import trisweep as ts
from support.junk import fuzz, picker
from trisweep.dynamics import Cloud
from trisweep.dynamics.algebra.spatial import placement
from trisweep.dynamics.kinematic_tree import Shape
from trisweep.errors import TrisweepError

pytestmark = pytest.mark.usefixtures("quiet")
pick = picker()


@pytest.fixture(scope="module")
def arm():
    builder = ts.ModelBuilder("arm")
    for k in range(3):
        parent, where = (f"l{k - 1}", (0.5, 0.0, 0.0)) if k else ("universe", (0.0, 0.0, 0.0))
        builder.add(
            f"l{k}",
            parent,
            "revolute",
            axis=np.eye(3)[k],
            position=where,
            mass=1.0,
            com=(0.25, 0, 0),
            inertia=0.01 * np.eye(3),
        )
        builder.collision_shape(Shape("capsule", (0.05, 0.3), f"l{k}", placement(np.eye(3), (0.25, 0, 0))))
    return builder.build()


def stated(arm):
    ocp = ts.Problem(steps=4, step=0.1)
    q, u = ocp.state("q", on=arm), ocp.control("u", 3, lower=-2, upper=2)
    p = ocp.parameter("p", 3)
    ocp.next(q=arm.integrate(q, 0.1 * u))
    ocp.minimize(ts.sumsqr(u))
    return ocp, q, p


def said_in(ocp):
    return [len(part) for part in (ocp.terms, ocp.parameters, ocp.states, ocp.controls, ocp.nodes)]


def unchanged_by(ocp, say):
    """What is refused leaves nothing of it in the statement."""
    before = said_in(ocp)
    try:
        return say()
    except TrisweepError:
        assert said_in(ocp) == before
        raise


def test_goals(arm):
    def attempt(rng):
        ocp, q, p = stated(arm)
        given = {
            "position": pick(rng, None, (0.5, 0.5, 0.5), p, np.zeros((3, 1)), share=0.3),
            "rotation": pick(rng, None, None, np.eye(3), share=0.3),
            "pointing": pick(rng, None, None, ((0, 0, 1), (1, 0, 0)), (pick(rng), (0, 0, 1)), share=0.2),
            "along": pick(rng, None, (0, 0, 1), share=0.2),
            "tolerance": pick(rng, 0.0, 0.01, share=0.15),
            "angle": pick(rng, 0.0, 0.1, share=0.15),
            "at": pick(rng, "end", "all", 2, [1, 2], share=0.15),
        }
        given = {name: value for name, value in given.items() if rng.random() < 0.7}
        unchanged_by(ocp, lambda: ocp.reach(pick(rng, "l2", "l0", share=0.15), **given))
        str(ocp)
        if rng.random() < 0.03 and not any("foreign" in str(value) for value in given.values()):
            solution = ocp.build().solve(p=[0.4, 0.4, 0.4])
            assert not solution.solved or solution.check().worst <= 1e-5

    fuzz(800, 70, attempt)


def test_upright(arm):
    def attempt(rng):
        ocp, q, p = stated(arm)
        axis, up = (pick(rng, (0, 0, 1), p) for _ in range(2))
        link, angle = pick(rng, "l2", share=0.2), pick(rng, 0.3, 3.0, np.float64(1), share=0.3)
        unchanged_by(ocp, lambda: ocp.keep_upright(link, angle, axis, up, pick(rng, "all", "steps", share=0.3)))

    fuzz(400, 71, attempt)


def test_distances(arm):
    scene = ts.Scene().box("table", (1, 1, 0.1), (0, 0, -0.5)).sphere("ball", 0.1, (1, 0, 0.3))
    cloud = Cloud(arm)

    def attempt(rng):
        ocp, q, p = stated(arm)
        given = (
            pick(rng, scene, ts.Scene(), share=0.15),
            pick(rng, arm, *[cloud] * 9, share=0.15),
            pick(rng, q, share=0.3),
        )
        more = {"margin": pick(rng, 0.02, share=0.3), "name": pick(rng, "clearance", "p", "q", share=0.3)}
        avoidance = unchanged_by(ocp, lambda: ocp.avoid(*given, **more))
        along = pick(rng, np.zeros((5, 3)), np.zeros(3), np.zeros((5, 2)), np.full((5, 3), np.nan), share=0.4)
        other = pick(rng, None, ts.Scene().sphere("else", 0.1, (0, 0, 1)), share=0.2)
        for numbers in avoidance.values(along, other, pick(rng, 0.0, np.zeros(5), np.zeros(4), share=0.3)).values():
            assert np.isfinite(numbers).all()

    fuzz(400, 72, attempt)


def test_a_goal_whose_rotation_is_refused_leaves_no_place(arm):
    ocp, _, _ = stated(arm)
    before = said_in(ocp)
    with pytest.raises(ts.ProblemError, match="no rotation matrix"):
        ocp.reach("l2", position=(1, 1, 0), rotation=2 * np.eye(3))
    assert said_in(ocp) == before


def test_a_symbol_of_another_problem_is_refused(arm):
    ocp, _, _ = stated(arm)
    with pytest.raises(ts.ProblemError):
        ocp.avoid(ts.Scene(), arm, ca.SX.sym("q", 3))
    with pytest.raises(ts.ProblemError):
        ocp.reach("l2", position=ca.SX.sym("p", 3))
