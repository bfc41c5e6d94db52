"""Constraints on the accelerations of links, and what the algorithms make of them.

A constraint says K a = k for the acceleration a (6, angular first) of a frame fixed to a link, seen in that frame;
its force on the robot is K' lambda in the same frame, so that M a + h = tau + J' lambda. Baumgarte's stabilisation
with a period T adds -2/T K v - 1/T^2 K e to k, where e is the frame's displacement from its target.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from . import quaternion
from .builder import rotation
from .errors import ModelError
from .kinematics import body_poses, body_velocities
from .motion import Motion
from .scalar import Array, column, fingerprint, matrix, numbers_only, per_row, rows
from .spatial import Transform, cross, placement

if TYPE_CHECKING:
    from .model import Model

HERE = placement(np.eye(3), np.zeros(3))

# Featherstone's advice (2008, Sec. 8.3): slower than the integrator's steps, faster than the motion.
PERIOD = 0.1

# Default compliance R of a soft constraint, (m/s^2)/N: 000 Fig. 3 finds rounding to do harm from weights 1/R of 1e8 on,
# and with light links it does so earlier.
SOFTNESS = 1e-6


@dataclass(frozen=True, eq=False)
class Constraint:
    """Rows K a = k, 1 to 6 of them, on a frame of a link, against the ground.

    K (m, 6) and k (m,) are numbers or SX. With `classical` the linear part of a is the classical acceleration of the
    frame's origin, else Featherstone's spatial one. `frame` places the frame on the link; `target` is the pose it is
    to keep (None: only its velocity is damped); `period` is Baumgarte's in s, None switches it off. `softness` is the
    diagonal of R, a scalar or a value a row, of the methods that only press towards the constraint ("pv-soft", "ltl-
    soft"). `other` is the second link of a loop, on which `target` is placed then.
    """

    link: str
    K: Array
    k: Array | float = 0.0
    classical: bool = False
    frame: Transform = field(default=HERE)
    target: Transform | None = None
    period: float | None = PERIOD
    softness: float | np.ndarray = SOFTNESS
    other: str | None = None

    def __post_init__(self):
        what = f"constraint on '{self.link}'"
        K = matrix(self.K, f"{what}: K")
        if K.shape[1] != 6 or not 1 <= K.shape[0] <= 6:
            raise ModelError(f"{what}: K has shape {tuple(K.shape)}, expected 1 to 6 rows of 6")
        if self.period is not None and not self.period > 0:
            raise ModelError(f"{what}: period is {self.period} s, expected more than 0, or None")
        R = per_row(self.softness, K.shape[0], f"{what}: softness")
        numbers_only(f"{what}: softness", R)
        if not (R > 0).all():
            raise ModelError(f"{what}: softness is {self.softness}, expected more than 0")
        object.__setattr__(self, "K", K)
        object.__setattr__(self, "k", per_row(self.k, K.shape[0], f"{what}: k"))
        object.__setattr__(self, "softness", R)

    @property
    def key(self) -> tuple:
        """Equal for constraints that say the same."""
        places = [self.frame] if self.target is None else [self.frame, self.target]
        arrays = [self.K, self.k, self.softness, *(part for place in places for part in (place.R, place.p))]
        return (self.link, self.other, self.classical, self.period, *map(fingerprint, arrays))

    @property
    def size(self) -> int:
        """The number of rows."""
        return self.K.shape[0]


def weld(
    link: str,
    position=(0.0, 0.0, 0.0),
    rpy=(0.0, 0.0, 0.0),
    target=None,
    acceleration=0.0,
    period: float | None = PERIOD,
    softness=SOFTNESS,
) -> Constraint:
    """All six motions of a frame at `position`, `rpy` on the link. target: its pose (R (3, 3), p (3,)) in the world."""
    frame = placement(rotation(rpy), np.asarray(position, dtype=float))
    return Constraint(link, np.eye(6), acceleration, False, frame, _target(link, target), period, softness)


def point(
    link: str,
    position=(0.0, 0.0, 0.0),
    target=None,
    acceleration=0.0,
    period: float | None = PERIOD,
    softness=SOFTNESS,
) -> Constraint:
    """The three translations of a point on the link, along the link's axes. target: its place (3,) in the world."""
    frame = placement(np.eye(3), np.asarray(position, dtype=float))
    pose = None if target is None else _target(link, (np.eye(3), target))
    return Constraint(link, np.eye(6)[3:], acceleration, True, frame, pose, period, softness)


def _target(link: str, target) -> Transform | None:
    if target is None:
        return None
    R, p = (np.asarray(part, dtype=float) for part in target)
    if R.shape != (3, 3) or p.shape != (3,) or not np.allclose(R @ R.T, np.eye(3), atol=1e-6):
        raise ModelError(
            f"constraint on '{link}': target is not a rotation (3, 3) and a position (3,), expected such a pair"
        )
    return placement(R, p)


def listed(constraints: Sequence[Constraint]) -> tuple[Constraint, ...]:
    """The user's constraints, checked to be such."""
    if isinstance(constraints, Constraint):
        raise ModelError(f"constraints is the one on '{constraints.link}' itself, expected a list of constraints")
    for constraint in constraints:
        if not isinstance(constraint, Constraint):
            raise ModelError(f"constraints holds a {type(constraint).__name__}, expected weld, point or Constraint")
    return tuple(constraints)


@dataclass(frozen=True)
class Site:
    """Where a constraint holds: rows (m, 6) on a frame placed on a body."""

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
    """A constraint at a state: K a = k for its body's acceleration as the sweeps have it, without gravity."""

    site: Site
    K: Array
    k: Array
    softness: np.ndarray

    @property
    def body(self) -> int:
        return self.site.body


def sites(model: Model, constraints: Sequence[Constraint]) -> list[Site]:
    """Where the constraints hold, checked."""
    found: list[Site] = []
    for constraint in constraints:
        frame = model.frame(constraint.link)
        if constraint.other is not None:
            raise ModelError(
                f"constraint on '{constraint.link}' and '{constraint.other}' closes a loop, "
                "expected constraints between a link and the ground"
            )
        if frame.body < 0:
            raise ModelError(
                f"constraint on '{constraint.link}': the link is fixed to the world, expected one that moves"
            )
        found.append(Site(frame.body, constraint.frame.after(frame.placement), constraint.K))
    return found


def demands(model: Model, constraints: Sequence[Constraint], v: Array, move: Motion) -> list[Demand]:
    """The constraints at a state, ready for the sweeps."""
    if not constraints:
        return []
    poses, velocities = body_poses(model, move.X), body_velocities(model, move, v)
    gravity = model.gravity.reshape(3, 1)
    found = []
    for constraint, site in zip(constraints, sites(model, constraints)):
        body, frame = site.body, site.frame
        velocity = frame.motion(velocities[body])
        linear = -frame.outward(poses[body].outward(gravity) + move.W[body] @ frame.p)
        if not constraint.classical:
            linear = linear + cross(velocity[:3, :], velocity[3:, :])
        k = constraint.k + constraint.K[:, 3:] @ linear + _baumgarte(constraint, velocity, frame.after(poses[body]))
        found.append(Demand(site, site.K, k, constraint.softness))
    return found


def _baumgarte(constraint: Constraint, velocity: Array, pose: Transform) -> Array:
    """-2/T K v - 1/T^2 K e."""
    T, K = constraint.period, constraint.K
    if T is None:
        return np.zeros((constraint.size, 1))
    correction = -2 / T * (K @ velocity)
    if constraint.target is None:
        return correction
    away = pose.outward(pose.p - constraint.target.p)
    turn = np.zeros((3, 1))
    if not constraint.classical:
        turn = quaternion.log(quaternion.near_identity(constraint.target.R.T @ pose.R))
    return correction - K @ rows([turn, away]) / T**2


def pushed_bodies(
    model: Model, bodies: list[Array | None] | None, constraints: Sequence[Constraint], forces: Sequence
) -> list[Array | None] | None:
    """Forces on the bodies, with those of the constraints added."""
    if len(forces) != len(constraints):
        raise ModelError(f"forces has {len(forces)} entries, expected one for each of {len(constraints)} constraints")
    if not constraints:
        return bodies
    total = [None] * model.size if bodies is None else list(bodies)
    for constraint, site, force in zip(constraints, sites(model, constraints), forces):
        push = site.K.T @ column(force, site.size, f"force of the constraint on '{constraint.link}'")
        total[site.body] = push if total[site.body] is None else total[site.body] + push
    return total
