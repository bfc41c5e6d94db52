"""Constraints against the ground as the sweeps of tree algorithms take them: where they hold, and what they ask of a
body's acceleration at a state. Loops are in `loops`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ...errors import ModelError
from ..algebra import quaternion
from ..algebra.arrays import Array, rows
from ..algebra.spatial import Transform, cross
from ..free.kinematics import body_poses, body_velocities
from ..free.tree_motion import TreeMotion
from .constraint import Constraint

if TYPE_CHECKING:
    from ..model import Model

# The methods of forward dynamics for constraints between links, and the one that only presses towards them.
LOOP_METHODS, SOFT_LOOPS = ("lcaba", "prox-bbo", "prox-ltl"), "ltl-soft"


@dataclass(frozen=True)
class Site:
    """Where a constraint against the ground holds: rows (m, 6) on a frame placed on a body."""

    body: int
    frame: Transform
    rows: Array

    @property
    def K(self) -> Array:
        """The rows on the body itself, in its frame (m, 6)."""
        return self.frame.force(self.rows.T).T

    @property
    def size(self) -> int:
        return self.rows.shape[0]


@dataclass(frozen=True)
class Demand:
    """A constraint against the ground at a state: K a = k for its body's acceleration as the sweeps have it, without
    gravity.
    """

    site: Site
    K: Array
    k: Array
    softness: np.ndarray

    @property
    def body(self) -> int:
        return self.site.body


def closes_loop(model: Model, constraint: Constraint) -> bool:
    """True if the constraint is not one between a link and the ground."""
    against = None if constraint.other is None else model.frame(constraint.other)
    return bool(constraint.more) or (against is not None and against.body >= 0)


def on_ground(model: Model, constraint: Constraint) -> Constraint:
    """A constraint against a link that is fixed to the world, said against the world."""
    if constraint.other is None:
        return constraint
    fixed = model.frame(constraint.other).placement
    target = None if constraint.target is None else constraint.target.after(fixed)
    return replace(constraint, target=target, other=None)


def sites(model: Model, constraints: Sequence[Constraint]) -> list[Site]:
    """Where constraints against the ground hold, checked."""
    found: list[Site] = []
    for constraint in constraints:
        frame = model.frame(constraint.link)
        if closes_loop(model, constraint):
            links = [constraint.link, constraint.other, *(more.link for more in constraint.more)]
            raise ModelError(
                f"constraint on {' and '.join(repr(link) for link in links if link)} closes a loop, expected "
                f"constraints between a link and the ground, or a method that takes loops: "
                f"{', '.join((*LOOP_METHODS, SOFT_LOOPS))}"
            )
        if frame.body < 0:
            raise ModelError(
                f"constraint on '{constraint.link}': the link is fixed to the world, expected one that moves"
            )
        found.append(Site(frame.body, constraint.frame.after(frame.placement), constraint.K))
    return found


def demands(model: Model, constraints: Sequence[Constraint], v: Array, move: TreeMotion) -> list[Demand]:
    """The constraints at a state, ready for the sweeps."""
    if not constraints:
        return []
    poses, velocities = body_poses(model, move.X), body_velocities(model, move, v)
    gravity = model.gravity.reshape(3, 1)
    found = []
    for constraint, site in zip(constraints, sites(model, constraints)):
        body, frame = site.body, site.frame
        constraint = on_ground(model, constraint)
        velocity = frame.motion(velocities[body])
        linear = -frame.outward(poses[body].outward(gravity) + move.W[body] @ frame.p)
        if not constraint.classical:
            linear = linear + cross(velocity[:3, :], velocity[3:, :])
        k = constraint.k + constraint.K[:, 3:] @ linear + baumgarte(constraint, velocity, frame.after(poses[body]))
        found.append(Demand(site, site.K, k, constraint.softness))
    return found


def baumgarte(constraint: Constraint, velocity: Array, pose: Transform) -> Array:
    """-2/T K v - 1/T^2 K e, for the frame's velocity in itself and its pose where the target's is given."""
    T, K = constraint.period, constraint.K
    if T is None:
        return np.zeros((constraint.size, 1))
    correction = -2 / T * (K @ velocity)
    if constraint.target is None:
        return correction
    away = pose.outward(pose.p - constraint.target.p)
    turn: Array = np.zeros((3, 1))
    if not constraint.classical:
        turn = quaternion.log(quaternion.near_identity(constraint.target.R.T @ pose.R))
    return correction - K @ rows([turn, away]) / T**2
