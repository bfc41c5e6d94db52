"""Robots for the dynamics tests, their twins in Pinocchio, and dense solutions made from Pinocchio's matrices alone."""

from functools import cache

import numpy as np
import pinocchio as pin
from trisweep.dynamics.files.builder import ModelBuilder
from trisweep.dynamics.files.random_tree import grow, random_tree
from trisweep.problems.robot import robot, robot_file
from trisweep.problems.twins.pinocchio_model import PinocchioBuilder, angular_first, mass_matrix

ROBOTS = ("iiwa14", "ur5", "panda", "go1", "talos", "allegro")
TREES = tuple(f"tree{seed}" for seed in range(20))
LINKS = 7


@cache
def ours(name):
    return random_tree(LINKS, int(name[4:])) if name.startswith("tree") else robot(name)


@cache
def twin(name):
    """The Pinocchio model, made from the same file or the same random draws, not from our model."""
    if name.startswith("tree"):
        builder = PinocchioBuilder()
        grow(builder, LINKS, int(name[4:]))
        return builder.model
    path = str(robot_file(name))
    floats = ours(name).has_floating_base
    return pin.buildModelFromUrdf(path, pin.JointModelFreeFlyer()) if floats else pin.buildModelFromUrdf(path)


def states(model, count, seed=0):
    """Rows of random q, v, tau."""
    rng = np.random.default_rng(seed)
    q = np.array([model.random_configuration(rng) for _ in range(count)])
    return q, rng.standard_normal((count, model.nv)), 3 * rng.standard_normal((count, model.nv))


def relative(x, reference):
    return np.abs(np.asarray(x) - reference).max() / max(np.abs(reference).max(), 1e-300)


def demanded(model, data, q, v, constraints):
    """J (m, nv) and J a wanted (m,) of constraints without a target, from Pinocchio's frames."""
    pin.forwardKinematics(model, data, q, v, np.zeros(model.nv))
    pin.updateFramePlacements(model, data)
    jacobians, wanted = [], []
    for constraint in constraints:
        frame = model.getFrameId(constraint.link)
        to_site = pin.SE3(constraint.frame.R, constraint.frame.p.ravel()).inverse()
        local = pin.computeFrameJacobian(model, data, q, frame, pin.LOCAL)
        J = angular_first(to_site.action @ local)
        velocity = J @ v
        drift = angular_first(to_site.action @ pin.getFrameAcceleration(model, data, frame, pin.LOCAL).vector)
        if constraint.classical:
            drift[3:] += np.cross(velocity[:3], velocity[3:])
        k = constraint.k.ravel()
        if constraint.period is not None:
            k = k - 2 / constraint.period * (constraint.K @ velocity)
        jacobians.append(constraint.K @ J)
        wanted.append(k - constraint.K @ drift)
    return np.vstack(jacobians), np.concatenate(wanted)


def dense_constrained(model, data, q, v, tau, constraints, soft=False):
    """Accelerations and stacked forces from the dense KKT system M a + h = tau + J' f, J a (+ R f) = k."""
    M, h = mass_matrix(model, data, q), pin.rnea(model, data, q, v, np.zeros(model.nv))
    J, k = demanded(model, data, q, v, constraints)
    R = np.diag(np.concatenate([c.softness.ravel() for c in constraints])) if soft else np.zeros((len(k), len(k)))
    solution = np.linalg.solve(np.block([[M, -J.T], [J, R]]), np.concatenate([tau - h, k]))
    return solution[: model.nv], solution[model.nv :]


def double_pendulum(l=1.0, m1=1.0, m2=2.0):
    """Point masses m1, m2 at the ends of two massless rods of length l, hanging; angles from the vertical, second
    relative.
    """
    builder = ModelBuilder("double pendulum")
    builder.add("upper", joint="revolute", axis=(0, 1, 0), mass=m1, com=(0, 0, -l))
    builder.add("lower", "upper", "revolute", axis=(0, 1, 0), position=(0, 0, -l), mass=m2, com=(0, 0, -l))
    return builder.build()
