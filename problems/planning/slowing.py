"""Motions that pass a limit of velocity, acceleration, jerk or torque between their stages, made to keep it by going
slower.
"""

from __future__ import annotations

import numpy as np

from .asked import SLACK, Asked
from .check import DENSITY, MotionCheck, check
from .payload import torques
from .trajectory import ArmMotion

SLOWEST = 1.5  # a motion is slowed by no more than this


def slowed(motion: ArmMotion, asked: Asked) -> tuple[ArmMotion, MotionCheck]:
    """A motion, slower if that is all it lacks, and its check."""
    checked = check(motion, asked)
    lacks_time = checked.clearance >= 0 and checked.position <= SLACK and checked.where_wanted
    factor = slowing(motion, checked, asked) if lacks_time and not checked.within_limits else 1.0
    if not 1.0 < factor <= SLOWEST:
        return motion, checked
    slower = motion.slower(factor)
    return slower, check(slower, asked)


def slowing(motion: ArmMotion, checked: MotionCheck, asked: Asked) -> float:
    """How much slower a motion must be to keep its limits. Slower by s, what a torque has beyond gravity's falls by
    s^2.
    """
    model, limits, load = asked.cloud.model, asked.limits, asked.load
    _, q, v, a = motion.sample(DENSITY)
    held = torques(model, load, q, 0 * v, 0 * a)
    moving = torques(model, load, q, v, a) - held
    room = np.where(moving > 0, limits.torque - held, limits.torque + held)
    if (room <= 0).any():
        return np.inf
    shares = (checked.velocity, checked.acceleration**0.5, checked.jerk ** (1 / 3), (abs(moving) / room).max() ** 0.5)
    return float(1.001 * max(1.0, *shares))
