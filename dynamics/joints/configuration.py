"""The configuration manifold: q (nq, 1) with tangent vectors v (nv, 1), joint by joint, conventions of `joints`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ..algebra.arrays import Array, rows

if TYPE_CHECKING:
    from ..model import Model

# How far a random configuration goes, in rad or m, along a coordinate without limits.
REACH = np.pi


def neutral(model: Model) -> np.ndarray:
    """The configuration in which no joint moves its link."""
    return np.concatenate([joint.neutral() for joint in model.joints])


def integrate(model: Model, q: Array, v: Array) -> Array:
    """q moved along v for a unit of time, the velocity staying constant in the moving frames."""
    parts = zip(model.joints, model.q_slices, model.v_slices)
    return rows([joint.integrate(q[i, :], v[j, :]) for joint, i, j in parts])


def rate(model: Model, q: ca.SX, v: ca.SX) -> ca.SX:
    """q' = E(q) v (nq, 1), on symbols."""
    d = ca.SX.sym("d", model.nv)
    return ca.substitute(ca.jtimes(integrate(model, q, d), d, v), d, ca.SX.zeros(model.nv))


def difference(model: Model, q0: Array, q1: Array) -> Array:
    """The v with integrate(q0, v) = q1."""
    return rows([joint.difference(q0[i, :], q1[i, :]) for joint, i in zip(model.joints, model.q_slices)])


def normalise(model: Model, q: Array) -> Array:
    """q with its quaternions and (cos, sin) pairs brought to norm 1."""
    return rows([joint.normalise(q[i, :]) for joint, i in zip(model.joints, model.q_slices)])


def random_configuration(model: Model, rng: np.random.Generator) -> np.ndarray:
    """Uniform between the limits; without them within REACH, 1 m of the origin, or anywhere on the sphere."""
    parts = []
    for joint, part in zip(model.joints, model.q_slices):
        lower = np.maximum(model.q_lower[part], -REACH).reshape(-1, 1)
        upper = np.minimum(model.q_upper[part], REACH).reshape(-1, 1)
        parts.append(joint.random(rng, np.minimum(lower, upper), np.maximum(lower, upper)))
    return np.concatenate(parts)
