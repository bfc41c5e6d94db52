"""A small arm over a table, and what its plans must hold, by coal and by this file's own arithmetic."""

import numpy as np
import pytest
import trisweep as ts

START = np.array([-0.8, 0.9, 0.0, 0.8, 0.0, 0.5])
GOAL = np.array([0.8, 0.9, 0.0, 0.8, 0.0, 0.5])


def table():
    return ts.Scene().box("table", (0.6, 1.2, 0.05), (0.6, 0, 0.02)).cylinder("post", 0.04, 0.8, (0.45, 0, 0.4))


def clearance_by_coal(arm, q, scene):
    """The smallest distance, m, of the arm's capsules to the scene, over configurations."""
    coal = pytest.importorskip("coal")
    kinds = {"sphere": coal.Sphere, "box": coal.Box, "cylinder": coal.Cylinder, "capsule": coal.Capsule}
    around = [
        (kinds[shape.kind](*shape.size), coal.Transform3s(shape.placement.R, np.ravel(shape.placement.p)))
        for shape in scene.obstacles.values()
    ]
    smallest = np.inf
    for row in q:
        for shape in arm.collision_shapes:
            R, p = arm.link_pose(row, shape.link)
            pose = coal.Transform3s(R @ shape.placement.R, p + R @ np.ravel(shape.placement.p))
            for other, where in around:
                found = coal.distance(
                    kinds[shape.kind](*shape.size), pose, other, where, coal.DistanceRequest(), coal.DistanceResult()
                )
                smallest = min(smallest, found)
    return smallest


def holds(arm, plan, limits):
    """The motion keeps all limits and is what its accelerations make of it."""
    times, q, v, a = plan.motion.sample(10)
    tau = np.array([arm.inverse_dynamics(*state) for state in zip(q, v, a)])
    assert (q >= arm.q_lower - 1e-6).all() and (q <= arm.q_upper + 1e-6).all()
    for values, limit in ((v, limits.velocity), (a, limits.acceleration), (tau, limits.torque)):
        assert (abs(values) <= limit * (1 + 1e-5)).all()
    ways = np.cumsum((v[1:] + v[:-1]) / 2 * np.diff(times)[:, None], axis=0)
    np.testing.assert_allclose(q[0] + ways, q[1:], atol=2e-3)
