"""The motion of a robot as a web page."""

import re

import numpy as np
import pytest
from trisweep.drawing.robot_page import _parts
from trisweep.drawing.triangles import AROUND, joined, surface_of
from trisweep.dynamics import Shape, random_tree
from trisweep.dynamics.algebra.spatial import placement
from trisweep.dynamics.simulation.animation import world_poses
from trisweep.ocp import Problem, ProblemError
from trisweep.problems.robot import robot

AT_ORIGIN = placement(np.eye(3), np.zeros(3))


def volume(surface):
    """By the divergence theorem: right only if the surface is closed and all its triangles face outwards."""
    a, b, c = (surface.vertices[surface.triangles[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c))) / 6


@pytest.mark.parametrize(
    ("kind", "size", "expected", "error"),
    [
        ("box", (0.1, 0.2, 0.3), 0.006, 1e-12),
        ("sphere", (0.5,), 4 / 3 * np.pi * 0.125, 0.04),
        ("cylinder", (0.2, 0.7), 0.5 * AROUND * np.sin(2 * np.pi / AROUND) * 0.04 * 0.7, 1e-12),
    ],
)
def test_surfaces_are_closed_and_face_outwards(kind, size, expected, error):
    surface = surface_of(Shape(kind, size, "link", AT_ORIGIN))
    assert volume(surface) == pytest.approx(expected, rel=error)
    np.testing.assert_allclose(surface.vertices.min(axis=0), -surface.vertices.max(axis=0), atol=1e-12)
    assert len(surface.colours) == len(surface.triangles)


def test_a_capsule_has_its_caps_beyond_its_length():
    capsule = surface_of(Shape("capsule", (0.1, 0.6), "link", AT_ORIGIN))
    np.testing.assert_allclose(np.ptp(capsule.vertices, axis=0), [0.2, 0.2, 0.8], atol=1e-9)


def test_shapes_follow_their_links():
    arm, q = robot("iiwa14"), np.array([0.3, -0.5, 0.2, 1.0, -0.4, 0.6, 0.1])
    poses = world_poses(arm, q)
    drawn = joined(_parts(arm, poses), poses).vertices.reshape(len(arm.shapes), -1, 3)
    for shape, vertices in zip(arm.shapes, drawn):
        R, p = arm.link_pose(q, shape.link)
        centre = R @ np.asarray(shape.placement.p).ravel() + p
        np.testing.assert_allclose(vertices.mean(axis=0), centre, atol=1e-9)


def moved(model):
    """A motion of the model's coordinates along straight lines."""
    rng = np.random.default_rng(0)
    ocp = Problem(steps=8, step=0.1)
    q, v = ocp.state("q", model.nq), ocp.control("v", model.nq)
    ocp.derivative(q=v)
    ocp.minimize(v.T @ v)
    ocp.constrain("start", q, equals=model.neutral(), at="start")
    ocp.constrain("goal", q, equals=model.neutral() + rng.uniform(-0.3, 0.3, model.nq), at="end")
    return ocp.build().solve()


@pytest.mark.parametrize("model", [robot("iiwa14"), random_tree(6, seed=3)], ids=["shapes", "sticks"])
def test_the_page_stands_alone_and_has_a_frame_a_stage(model, tmp_path):
    solution = moved(model)
    assert solution.solved
    page = solution.animate(tmp_path / "deep" / "motion.html", model).read_text()
    assert not re.search(r"<(script|link)[^>]*(src|href)=", page)
    assert "Plotly.newPlot" in page and "Plotly.addFrames" in page
    frames = page[page.index("Plotly.addFrames") :]
    assert {f'"name":"{k}"' for k in range(9)} <= set(re.findall(r'"name":"\d+"', frames))


def test_what_is_no_configuration_is_refused(tmp_path):
    arm = robot("iiwa14")
    solution = moved(random_tree(3, seed=1, kinds=("revolute",)))
    with pytest.raises(ProblemError, match="'q' has 3 entries, expected the 7 coordinates of 'iiwa14'"):
        solution.animate(tmp_path / "motion.html", arm)
    with pytest.raises(ProblemError, match="'joints' is not there"):
        solution.animate(tmp_path / "motion.html", arm, q="joints")
    with pytest.raises(ProblemError, match=r"no robot is known by this solution, expected animate\(path, model"):
        solution.animate(tmp_path / "motion.html")
    assert not list(tmp_path.iterdir())
