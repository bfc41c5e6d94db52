"""A motion of an arm as polynomials of time, one a step: the acceleration, or where the jerk is limited the jerk, is
constant on a step, so that what happens between the stages is known exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class ArmMotion:
    """Stages (count, n) of q, v, a, and of the steps between them the lengths (count - 1,), s, and the jerk
    (count - 1, n). Legs of as many steps each end at the via points, the last one at the goal.

    Where the jerk is zero, `a` holds the accelerations of the steps, and that of the last one again at the end.
    """

    lengths: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    jerk: np.ndarray
    legs: int = 1

    @property
    def duration(self) -> float:
        """s."""
        return float(self.lengths.sum())

    @property
    def steps(self) -> int:
        return len(self.jerk)

    @property
    def times(self) -> np.ndarray:
        """Of the stages, s."""
        return np.concatenate([[0.0], np.cumsum(self.lengths)])

    @property
    def ends(self) -> np.ndarray:
        """The numbers of the stages at which legs end (legs,)."""
        return self.steps // self.legs * np.arange(1, self.legs + 1)

    @property
    def via_times(self) -> np.ndarray:
        """When the via points are passed (legs - 1,), s."""
        return self.times[self.ends[:-1]]

    def leg(self, number: int) -> ArmMotion:
        """One of the legs, from 0."""
        first, last = number * self.steps // self.legs, (number + 1) * self.steps // self.legs
        stages, steps = slice(first, last + 1), slice(first, last)
        return ArmMotion(self.lengths[steps], self.q[stages], self.v[stages], self.a[stages], self.jerk[steps])

    def sample(self, density: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Times and q, v, a at `density` instants of every step, and at the end."""
        t = self.lengths[:, None, None] * np.arange(density)[None, :, None] / density
        q, v, a, j = (x[: self.steps, None, :] for x in (self.q, self.v, self.a, self.jerk))
        parts = (
            q + v * t + a * t**2 / 2 + j * t**3 / 6,
            v + a * t + j * t**2 / 2,
            a + j * t,
        )
        last = (self.q[-1], self.v[-1], self.a[-1])
        q, v, a = (np.vstack([x.reshape(-1, x.shape[2]), end]) for x, end in zip(parts, last))
        times = self.times
        return np.append((times[:-1, None] + t[:, :, 0]).ravel(), times[-1]), q, v, a

    def slower(self, factor: float) -> ArmMotion:
        """The same way in a duration that is longer by a factor."""
        rates = self.v / factor, self.a / factor**2, self.jerk / factor**3
        return ArmMotion(self.lengths * factor, self.q, *rates, legs=self.legs)


def joined(legs: Sequence[ArmMotion]) -> ArmMotion:
    """One motion of legs of as many steps each, every one beginning where the one before ended."""
    q, v, a = (np.vstack([*(getattr(leg, part)[:-1] for leg in legs), getattr(legs[-1], part)[-1:]]) for part in "qva")
    lengths, jerk = np.concatenate([leg.lengths for leg in legs]), np.vstack([leg.jerk for leg in legs])
    return ArmMotion(lengths, q, v, a, jerk, len(legs))


def along(path: np.ndarray, steps: int, velocity: np.ndarray, acceleration: np.ndarray) -> ArmMotion:
    """A first guess of a motion along a path (points, n): from rest to rest, as fast as velocities and accelerations
    allow by a rule of thumb.
    """
    pieces = np.linalg.norm(np.diff(path, axis=0) / velocity, ord=np.inf, axis=1)
    ways = np.concatenate([[0.0], np.cumsum(pieces)])
    whole = max(ways[-1], 1e-3)
    tau = np.linspace(0.0, 1.0, steps + 1)
    eased = tau**2 * (3 - 2 * tau)
    q = np.column_stack([np.interp(eased * whole, ways, column) for column in path.T])
    duration = max(1.2 * whole, 2.5 * np.sqrt(np.abs(np.ptp(path, axis=0) / acceleration).max()), 0.05)
    return through(q, duration)


def through(q: np.ndarray, duration: float) -> ArmMotion:
    """A motion through configurations (stages, n) at equal times, at rest at both ends, by differences."""
    steps = len(q) - 1
    h = duration / steps
    v = np.gradient(q, h, axis=0)
    v[[0, -1]] = 0.0
    a = np.vstack([np.diff(v, axis=0) / h, np.zeros((1, q.shape[1]))])
    return ArmMotion(np.full(steps, h), q, v, a, np.zeros((steps, q.shape[1])))
