"""The usual way to a timed motion of an arm: a geometric path, a spline through it, the fastest timing by TOPP-RA.

The path is that of RRT-Connect, shortened, as the planner's own seeds are; VAMP, whose paths the board's problems are
known for, is a source archive that fetches parts from elsewhere and cannot be built everywhere. A spline through the
corners alone is quick but may leave the free way; one through many points of the path is safe but slow at corners. The
quickest of several that is free counts.
"""

import warnings

import numpy as np
from trisweep.dynamics import Cloud, Scene
from trisweep.dynamics.shapes.paths import find_path
from trisweep.problems.planning.limits import FilledJointLimits

DENSITIES = (0, 5, 15, 40)  # points added along the path for the spline
INSTANTS = 400


def duration(cloud: Cloud, limits: FilledJointLimits, start, goal, scene: Scene, seed: int = 0) -> float:
    """Seconds of the quickest motion found, infinite where there is none."""
    path, _ = find_path(cloud, scene, start, goal, 0.002, 50000, seed)
    return (
        min((_timed(cloud, limits, scene, path, count) for count in DENSITIES), default=np.inf) if len(path) else np.inf
    )


def _timed(cloud: Cloud, limits: FilledJointLimits, scene: Scene, path: np.ndarray, count: int) -> float:
    import toppra
    import toppra.algorithm
    import toppra.constraint

    lengths = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
    at = np.union1d(lengths, np.linspace(0.0, lengths[-1], count + 2)) if count else lengths
    at = at[np.concatenate([[True], np.diff(at) > 1e-6])]
    points = np.column_stack([np.interp(at, lengths, column) for column in path.T])
    way = toppra.SplineInterpolator(at, points)
    model, both = cloud.model, lambda limit: np.column_stack([-limit, limit])

    def torque(q, v, a):
        return model.compiled.inverse_dynamics(q, v, a)

    kept = [
        toppra.constraint.JointVelocityConstraint(both(limits.velocity)),
        toppra.constraint.JointAccelerationConstraint(both(limits.acceleration)),
        toppra.constraint.JointTorqueConstraint(torque, both(limits.torque), np.zeros(model.nv)),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = toppra.algorithm.TOPPRA(kept, way, solver_wrapper="seidel").compute_trajectory(0.0, 0.0)
    if found is None:
        return np.inf
    q = found(np.linspace(0.0, found.duration, INSTANTS))
    outside = np.maximum(model.q_lower - q, q - model.q_upper).max()
    return float(found.duration) if cloud.nearest(q, scene).distance.min() >= 0 and outside <= 1e-6 else np.inf
