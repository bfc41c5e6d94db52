"""The check of a motion, apart from the solver that found it: at ten times the density of its stages, all pairs of
shapes, all limits, torques by inverse dynamics, all that is kept; and the goals.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...dynamics.shapes.clearance import Pair
from .asked import SLACK, Asked
from .payload import torques
from .trajectory import ArmMotion

DENSITY = 10
MISS = 1e-4  # m or rad: a goal is met


@dataclass(frozen=True, eq=False)
class MotionCheck:
    """What a motion does at worst. clearance: m, between `pair` at `time`; missed: m or rad, of `goal`; the others:
    shares of the limits, and of the tolerances of what is kept.
    """

    clearance: float
    pair: Pair | None
    time: float
    position: float  # rad or m beyond the joints' limits, 0 inside
    velocity: float
    acceleration: float
    jerk: float
    torque: float
    kept: float
    missed: float
    goal: str
    distances: np.ndarray  # m, at every instant
    beyond: np.ndarray  # rad or m, beyond the limit of every joint at every instant, 0 inside
    off: np.ndarray  # the share of what is kept, at every instant

    @property
    def passed(self) -> bool:
        return self.clearance >= 0 and self.within_limits and self.where_wanted

    @property
    def within_limits(self) -> bool:
        shares = (self.velocity, self.acceleration, self.jerk, self.torque)
        return self.position <= SLACK and max(shares) <= 1 + SLACK

    @property
    def where_wanted(self) -> bool:
        """Whether goals are met, and what is kept is kept: matters of the way, not of how fast it is gone."""
        return self.missed <= MISS and self.kept <= 1 + SLACK

    def __str__(self) -> str:
        if self.passed:
            clear = "nothing to hit" if self.pair is None else f"{self.clearance * 1e3:.1f} mm clear of everything"
            return f"passed: {clear}, torque {self.torque:.0%} of its limit"
        if self.clearance < 0:
            return f"{self.pair} are {-self.clearance * 1e3:.1f} mm into each other at {self.time:.2f} s"
        if self.missed > MISS:
            return f"the {self.goal} is missed by {self.missed:.2g} m or rad"
        if self.kept > 1 + SLACK:
            return f"what is kept is {self.kept:.1%} of its tolerance off"
        worst = {name: getattr(self, name) for name in ("velocity", "acceleration", "jerk", "torque")}
        if self.position > SLACK:
            return f"a joint is {self.position:.2g} rad beyond its limit"
        name = max(worst, key=lambda each: worst[each])
        return f"the {name} is {worst[name]:.1%} of its limit"


def check(motion: ArmMotion, asked: Asked) -> MotionCheck:
    """Everything that is asked of a motion."""
    cloud, limits = asked.cloud, asked.limits
    model = cloud.model
    times, q, v, a = motion.sample(DENSITY)
    nearest = cloud.nearest(q, asked.scene)
    worst = int(nearest.distance.argmin())
    tau = torques(model, asked.load, q, v, a)
    beyond = np.maximum(model.q_lower - q, q - model.q_upper).clip(min=0.0)
    off = np.max([np.zeros(len(q)), *(each.used(model, q) for each in asked.kept)], axis=0)
    missed, goal = asked.missed(motion.q[motion.ends])

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
        kept=float(off.max()),
        missed=max(missed, float(abs(motion.q[0] - asked.start).max())),
        goal=goal,
        distances=nearest.distance,
        beyond=beyond,
        off=off,
    )
