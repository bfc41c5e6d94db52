"""The check of a motion, apart from the solver that found it: at ten times the density of its stages, all pairs of
shapes, all limits, torques by inverse dynamics.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...dynamics import Cloud, Scene
from ...dynamics.shapes.clearance import Pair
from .limits import FilledJointLimits
from .trajectory import ArmMotion

DENSITY = 10
SLACK = 1e-6  # of a limit, for rounding


@dataclass(frozen=True, eq=False)
class MotionCheck:
    """What a motion does at worst. clearance: m, between `pair` at `time`; the others: shares of the limits."""

    clearance: float
    pair: Pair | None
    time: float
    position: float  # rad or m beyond the joints' limits, 0 inside
    velocity: float
    acceleration: float
    jerk: float
    torque: float
    distances: np.ndarray  # m, at every instant
    beyond: np.ndarray  # rad or m, beyond the limit of every joint at every instant, 0 inside

    @property
    def passed(self) -> bool:
        return self.clearance >= 0 and self.within_limits

    @property
    def within_limits(self) -> bool:
        shares = (self.velocity, self.acceleration, self.jerk, self.torque)
        return self.position <= SLACK and max(shares) <= 1 + SLACK

    def __str__(self) -> str:
        if self.passed:
            return f"passed: {self.clearance * 1e3:.1f} mm clear of everything, torque {self.torque:.0%} of its limit"
        if self.clearance < 0:
            return f"{self.pair} are {-self.clearance * 1e3:.1f} mm into each other at {self.time:.2f} s"
        worst = {name: getattr(self, name) for name in ("velocity", "acceleration", "jerk", "torque")}
        if self.position > SLACK:
            return f"a joint is {self.position:.2g} rad beyond its limit"
        name = max(worst, key=lambda each: worst[each])
        return f"the {name} is {worst[name]:.1%} of its limit"


def check(motion: ArmMotion, cloud: Cloud, scene: Scene, limits: FilledJointLimits) -> MotionCheck:
    """Everything that is asked of a motion."""
    model = cloud.model
    times, q, v, a = motion.sample(DENSITY)
    nearest = cloud.nearest(q, scene)
    worst = int(nearest.distance.argmin())
    tau = model.compiled.inverse_dynamics(q, v, a)
    beyond = np.maximum(model.q_lower - q, q - model.q_upper).clip(min=0.0)

    def share(values: np.ndarray, limit: np.ndarray) -> float:
        return float((np.abs(values) / limit).max()) if len(values) else 0.0

    return MotionCheck(
        clearance=float(nearest.distance[worst]),
        pair=nearest.pairs[worst],
        time=float(times[worst]),
        position=float(beyond.max()),
        velocity=share(v, limits.velocity),
        acceleration=share(a, limits.acceleration),
        jerk=share(motion.jerk, limits.jerk),
        torque=share(tau, limits.torque),
        distances=nearest.distance,
        beyond=beyond,
    )
