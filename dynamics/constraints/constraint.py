"""Constraints on the accelerations of links, and what the algorithms make of them.

A constraint says K a = k for the acceleration a (6, angular first) of a frame fixed to a link, seen in that frame;
its force on the robot is K' lambda in the same frame, so that M a + h = tau + J' lambda. Baumgarte's stabilisation
with a period T adds -2/T K v - 1/T^2 K e to k, where e is the frame's displacement from its target. Against another
link, a, v and e are relative to that link; what the algorithms make of such a loop is in `loops`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ...cached import cached_property
from ...errors import ModelError, said
from ...floats import checked_floats
from ..algebra.arrays import Array, Given, column, fingerprint, matrix, numbers, per_row
from ..algebra.spatial import Transform, from_rpy, placement
from ..given import all_of

HERE = placement(np.eye(3), np.zeros(3))

# Featherstone's advice (2008, Sec. 8.3): slower than the integrator's steps, faster than the motion.
PERIOD = 0.1

# Default compliance R of a soft constraint, (m/s^2)/N: Sathya 2024a Fig. 3 finds rounding to do harm from weights
# 1/R of 1e8 on, and with light links it does so earlier.
SOFTNESS = 1e-6


# A rotation (3, 3) and a position (3,), as a user gives them.
Pose: TypeAlias = tuple[ArrayLike, ArrayLike]


class Further(NamedTuple):
    """A further link of a constraint: rows K (m, 6) on a frame placed on it."""

    link: str
    K: Array
    frame: Transform = HERE

    @staticmethod
    def of(given: Sequence[Any], size: int, what: str) -> Further:
        """From (link, K) or (link, K, (R, p)), checked."""
        if isinstance(given, str) or len(given) not in (2, 3):
            raise ModelError(f"{what}: more holds {given!r}, expected (link, K) or (link, K, (R, p))")
        link, K = given[0], matrix(given[1], f"{what}: K of '{given[0]}'")
        if K.shape != (size, 6):
            raise ModelError(f"{what}: K of '{link}' has shape {tuple(K.shape)}, expected ({size}, 6)")
        frame = given[2] if len(given) == 3 else HERE
        return Further(link, K, frame if isinstance(frame, Transform) else checked_pose(link, frame))


@dataclass(frozen=True, eq=False, init=False)
class Constraint:
    """Rows K a = k, 1 to 6 of them, on a frame of a link, against the ground or another link.

    K (m, 6) and k (m,) are numbers or SX. With `classical` the linear part of a is the classical acceleration of the
    frame's origin, else Featherstone's spatial one. `frame` places the frame on the link; `target` is the pose it is
    to keep (None: only its velocity is damped); `period` is Baumgarte's in s, None switches it off. `softness` is the
    diagonal of R, a scalar or a value a row, of the methods that only press towards the constraint ("pv-soft", "ltl-
    soft"). `other` is a second link: a is then the acceleration relative to it, still seen in the frame on `link`, and
    `target` is placed on it. `more` lists further links whose own accelerations the rows add, each (link, K (m, 6)) or
    (link, K, (R, p)) with the frame's pose on that link: sum K_j a_j = k (Sathya 2025 eq. 36).
    """

    link: str
    K: Array
    k: Array
    classical: bool
    frame: Transform
    target: Transform | None
    period: float | None
    softness: np.ndarray
    other: str | None
    more: tuple[Further, ...]

    def __init__(
        self,
        link: str,
        K: Given,
        k: Given = 0.0,
        classical: bool = False,
        frame: Transform = HERE,
        target: Transform | None = None,
        period: float | None = PERIOD,
        softness: ArrayLike = SOFTNESS,
        other: str | None = None,
        more: Sequence[Sequence[Any]] = (),
    ):
        what = f"constraint on {said(link)}"
        for name in (link, *([] if other is None else [other])):
            if not isinstance(name, str):
                raise ModelError(f"{what}: a link is {said(name)}, expected its name")
        rows = matrix(K, f"{what}: K")
        if rows.shape[1] != 6 or not 1 <= rows.shape[0] <= 6:
            raise ModelError(f"{what}: K has shape {tuple(rows.shape)}, expected 1 to 6 rows of 6")
        if period is not None and not (isinstance(period, (int, float)) and period > 0):
            raise ModelError(f"{what}: period is {said(period)} s, expected more than 0, or None")
        R = numbers(per_row(softness, rows.shape[0], f"{what}: softness"), f"{what}: softness")
        if not (R > 0).all():
            raise ModelError(f"{what}: softness is {said(softness)}, expected more than 0")
        further = tuple(Further.of(each, rows.shape[0], what) for each in more)
        demand = per_row(k, rows.shape[0], f"{what}: k")
        values = (link, rows, demand, classical, frame, target, period, R, other, further)
        for part, value in zip(fields(self), values):
            object.__setattr__(self, part.name, value)

    @cached_property
    def key(self) -> tuple[object, ...]:
        """Equal for constraints that say the same."""
        poses = [self.frame] if self.target is None else [self.frame, self.target]
        arrays = [self.K, self.k, self.softness, *(part for pose in poses for part in (pose.R, pose.p))]
        arrays += [part for more in self.more for part in (more.K, more.frame.R, more.frame.p)]
        links = (self.link, self.other, *(more.link for more in self.more))
        return (links, self.classical, self.period, self.target is None, *map(fingerprint, arrays))

    @property
    def size(self) -> int:
        """The number of rows."""
        return self.K.shape[0]


def weld(
    link: str,
    position: ArrayLike = (0.0, 0.0, 0.0),
    rpy: ArrayLike = (0.0, 0.0, 0.0),
    target: Pose | None = None,
    acceleration: Given = 0.0,
    period: float | None = PERIOD,
    softness: ArrayLike = SOFTNESS,
    other: str | None = None,
) -> Constraint:
    """All six motions of a frame at `position`, `rpy` on the link. target: its pose (R (3, 3), p (3,)) in the world, or
    on the `other` link, to which it is welded then.
    """
    frame = placement(from_rpy(_three(link, "rpy", rpy)), _three(link, "position", position))
    aim = None if target is None else checked_pose(link, target)
    return Constraint(link, np.eye(6), acceleration, False, frame, aim, period, softness, other)


def point(
    link: str,
    position: ArrayLike = (0.0, 0.0, 0.0),
    target: ArrayLike | None = None,
    acceleration: Given = 0.0,
    period: float | None = PERIOD,
    softness: ArrayLike = SOFTNESS,
    other: str | None = None,
) -> Constraint:
    """The three translations of a point on the link, along the link's axes. target: its position (3,) in the world, or
    on the `other` link, to which it is pinned then.
    """
    frame = placement(np.eye(3), _three(link, "position", position))
    aim = None if target is None else checked_pose(link, (np.eye(3), target))
    return Constraint(link, np.eye(6)[3:], acceleration, True, frame, aim, period, softness, other)


def checked_pose(link: str, given: Pose) -> Transform:
    """The user's pair of a rotation and a position, checked."""
    what = f"constraint on {said(link)}: target"
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        raise ModelError(f"{what} is {said(given)}, expected a rotation (3, 3) and a position (3,)")
    R, p = (checked_floats(what, part, error=ModelError) for part in given)
    shaped = R.shape == (3, 3) and p.shape == (3,) and np.isfinite(p).all()
    if not shaped or not np.allclose(R @ R.T, np.eye(3), atol=1e-6):
        raise ModelError(f"{what} is not a rotation (3, 3) and a position (3,), expected such a pair")
    return placement(R, p)


def _three(link: str, what: str, given: ArrayLike) -> np.ndarray:
    what = f"constraint on {said(link)}: {what}"
    return numbers(column(given, 3, what), what).ravel()


def listed(constraints: Sequence[Constraint]) -> tuple[Constraint, ...]:
    """The user's constraints, checked to be such."""
    if isinstance(constraints, Constraint):
        raise ModelError(f"constraints is the one on '{constraints.link}' itself, expected a list of constraints")
    return all_of(Constraint, "constraints", constraints, "a list of constraints", "weld, point or Constraint")


def columns_of(constraints: Sequence[Constraint], forces: Sequence[Given]) -> list[Array]:
    """The user's forces, one for each constraint, as columns."""
    if len(forces) != len(constraints):
        raise ModelError(f"forces has {len(forces)} entries, expected one for each of {len(constraints)} constraints")
    pairs = zip(constraints, forces)
    return [column(force, row.size, f"force of the constraint on '{row.link}'") for row, force in pairs]
