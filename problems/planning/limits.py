"""How fast and how hard a robot may move."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike

from ...dynamics import Model
from ...errors import ProblemError

ACCELERATION = 10.0  # rad/s^2 or m/s^2, where nobody says more: files have none


@dataclass(frozen=True)
class JointLimits:
    """Largest magnitudes, one number for all joints or one for each; None is what the robot's file says, and of an
    acceleration 10, of a jerk none at all.
    """

    velocity: ArrayLike | None = None  # rad/s
    acceleration: ArrayLike | None = None  # rad/s^2
    jerk: ArrayLike | None = None  # rad/s^3
    torque: ArrayLike | None = None  # N m

    def of(self, model: Model) -> FilledJointLimits:
        """All of them as arrays (nv,) for a robot; without a limit infinite."""
        known = {
            "velocity": model.v_limit,
            "acceleration": np.full(model.nv, ACCELERATION),
            "jerk": np.full(model.nv, np.inf),
            "torque": model.effort_limit,
        }
        filled = {}
        for part in fields(self):
            value = getattr(self, part.name)
            try:
                array = np.broadcast_to(np.asarray(known[part.name] if value is None else value, float), (model.nv,))
            except (TypeError, ValueError, OverflowError, NotImplementedError, RuntimeError):
                raise ProblemError(
                    f"JointLimits: {part.name} is {value!r}, expected a number or ({model.nv},) of them"
                ) from None
            if not (array > 0).all():
                joint = model.velocity_names[int(np.argmin(array > 0))]
                whose = f"is {value!r}" if value is not None else f"of '{joint}' is {array.min():g} in the robot's file"
                raise ProblemError(f"JointLimits: {part.name} {whose}, expected positive numbers")
            filled[part.name] = array.copy()
        return FilledJointLimits(**filled)


@dataclass(frozen=True, eq=False)
class FilledJointLimits:
    """Limits (nv,) of every joint, infinite where there is none."""

    velocity: np.ndarray
    acceleration: np.ndarray
    jerk: np.ndarray
    torque: np.ndarray

    @property
    def smooth(self) -> bool:
        """Whether there is a limit of jerk."""
        return bool(np.isfinite(self.jerk).any())

    @property
    def key(self) -> bytes:
        """Equal for equal limits."""
        return b"".join(getattr(self, part.name).tobytes() for part in fields(self))
