"""A motion of an arm as polynomials of time, one a step: the acceleration, or where the jerk is limited the jerk, is
constant on a step, so that what happens between the stages is known exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class ArmMotion:
    """Stages (count, n) of q, v, a at equal times over a duration, s, and the jerk (count - 1, n) of the steps.

    Where the jerk is zero, `a` holds the accelerations of the steps, and that of the last one again at the end.
    """

    duration: float
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    jerk: np.ndarray

    @property
    def steps(self) -> int:
        return len(self.jerk)

    @property
    def times(self) -> np.ndarray:
        return np.linspace(0.0, self.duration, self.steps + 1)

    def sample(self, density: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Times and q, v, a at `density` instants of every step, and at the end."""
        h = self.duration / self.steps
        t = h * np.arange(density)[None, :, None] / density
        q, v, a, j = (x[: self.steps, None, :] for x in (self.q, self.v, self.a, self.jerk))
        parts = (
            q + v * t + a * t**2 / 2 + j * t**3 / 6,
            v + a * t + j * t**2 / 2,
            a + j * t,
        )
        last = (self.q[-1], self.v[-1], self.a[-1])
        q, v, a = (np.vstack([x.reshape(-1, x.shape[2]), end]) for x, end in zip(parts, last))
        return np.linspace(0.0, self.duration, self.steps * density + 1), q, v, a

    def slower(self, factor: float) -> ArmMotion:
        """The same way in a duration that is longer by a factor."""
        return ArmMotion(self.duration * factor, self.q, self.v / factor, self.a / factor**2, self.jerk / factor**3)


def along(path: np.ndarray, steps: int, velocity: np.ndarray, acceleration: np.ndarray) -> ArmMotion:
    """A first guess of a motion along a path (points, n): from rest to rest, as fast as velocities and accelerations
    allow by a rule of thumb.
    """
    pieces = np.linalg.norm(np.diff(path, axis=0) / velocity, ord=np.inf, axis=1)
    lengths = np.concatenate([[0.0], np.cumsum(pieces)])
    whole = max(lengths[-1], 1e-3)
    tau = np.linspace(0.0, 1.0, steps + 1)
    eased = tau**2 * (3 - 2 * tau)
    q = np.column_stack([np.interp(eased * whole, lengths, column) for column in path.T])
    duration = max(1.2 * whole, 2.5 * np.sqrt(np.abs(np.ptp(path, axis=0) / acceleration).max()), 0.05)
    h = duration / steps
    v = np.gradient(q, h, axis=0)
    v[[0, -1]] = 0.0
    a = np.vstack([np.diff(v, axis=0) / h, np.zeros((1, q.shape[1]))])
    return ArmMotion(duration, q, v, a, np.zeros((steps, q.shape[1])))
