"""Local coordinates of the configuration manifold: increments d (nv, 1) about a configuration, joint by joint.

`nudged` is the robot at q moved on by d, `increment` is d as a function of where the robot goes; each undoes the other
to second order, which is all that second derivatives at d = 0 see. A nudge acts after its joint, in the child's frame:
there, at d = 0, the derivative of a turned vector costs nothing, for it is made of the vector's own entries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..algebra.arrays import Array, rows
from ..algebra.spatial import Transform, Twice
from ..free.tree_motion import transforms

if TYPE_CHECKING:
    from ..model import Model


def nudged(model: Model, q: Array, d: Array) -> list[Transform]:
    """The transforms X_i of `motion` for the robot at q, moved on by d."""
    X = []
    for joint, part, at in zip(model.joints, model.v_slices, transforms(model, q)):
        turn, slide = joint.nudge(d[part, :])
        X.append(Transform(at.fixed, at.p + at.inward(slide), Twice(at.rotation, turn)))
    return X


def increment(model: Model, q0: Array, q: Array) -> Array:
    """d (nv, 1) with q0 nudged by d = q."""
    return rows([joint.increment(q0[part, :], q[part, :]) for joint, part in zip(model.joints, model.q_slices)])
