"""What planning hands back: the motion, the check it passed, and what was tried."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...dynamics import Model, Scene
from ...errors import ProblemError
from .check import MotionCheck
from .trajectory import ArmMotion

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ...ocp import Solution


LARGEST = 10.0  # m: what is larger is not drawn


@dataclass(frozen=True, eq=False)
class Attempt:
    """One try: where it began, how it ended, and how long it took, s."""

    seed: str
    outcome: str
    seconds: float
    iterations: int = 0


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """A motion from start to goal, if one was found: a plan without one is false.

    status: "found", "not found", or what is wrong with an end: "start in collision", "outside limits", "off what is
    kept" or "too heavy to hold", the same of "goal" and "via point 1", and these "out of reach"; reason: a sentence.
    motion: what a robot follows; solution: the solver's answer that it came from; check: an independent look at it.
    seconds: from the question to the checked answer, without what was built on the way.
    """

    status: str
    reason: str
    model: Model
    scene: Scene
    motion: ArmMotion | None = None
    solution: Solution | None = None
    check: MotionCheck | None = None
    attempts: tuple[Attempt, ...] = field(default=())
    seconds: float = 0.0

    @property
    def found(self) -> bool:
        return self.status == "found"

    def __bool__(self) -> bool:
        return self.found

    @property
    def legs(self) -> int:
        """Of the motion: one more than via points; 0 where there is none."""
        return 0 if self.motion is None else self.motion.legs

    @property
    def duration(self) -> float:
        """s; infinite where there is no motion."""
        return np.inf if self.motion is None else self.motion.duration

    def __repr__(self) -> str:
        lines = [f"Plan: {self.status}" + (f" ({self.reason})" if self.reason else "")]
        if self.motion is not None:
            lines.append(f"  a motion of {self.duration:.3f} s; {self.check}")
        lines += [f"  {each.seed}: {each.outcome} ({each.seconds * 1e3:.0f} ms)" for each in self.attempts]
        lines.append(f"  {self.seconds * 1e3:.0f} ms in all")
        return "\n".join(lines)

    def animate(self, path: str | Path) -> Path:
        """A page that plays the motion among the obstacles; the largest, such as a floor, are left out."""
        from ...dynamics.simulation.animation import animate

        motion = self._moving("animate")
        times, q, _, _ = motion.sample(4)
        around = tuple(shape for shape in self.scene.obstacles.values() if max(shape.size) < LARGEST)
        shown = replace(self.model, shapes=(*(self.model.shapes or self.model.collision_shapes), *around))
        return animate(shown, times, q, path, f"{self.model.name}: {motion.duration:.2f} s")

    def plot(self, path: str | Path | None = None, show: bool = False) -> Figure:
        """The motion's states, controls and constraints over time."""
        self._moving("plot")
        assert self.solution is not None
        return self.solution.plot(path, show=show)

    def _moving(self, verb: str) -> ArmMotion:
        if self.motion is None:
            raise ProblemError(f"{verb}: this plan has no motion ({self.status}), expected one that was found")
        return self.motion
