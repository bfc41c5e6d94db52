"""From a path to a checked motion: solves between half-spaces that touch the obstacles, each about the last motion that
was found (Schulman et al. 2014 linearise distances; these rows hold the motion on the free side).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...ocp import Settings, Solution
from ...ocp.solve.solver import Solver
from .asked import Asked
from .check import DENSITY, MotionCheck
from .goals import FilledToolGoal
from .inverse_kinematics import brought
from .slowing import slowed
from .statement import MotionProblem
from .trajectory import ArmMotion, along, joined, through

ROUNDS = 4  # solves of one seed, each with what the check of the last one found
SHARE = 0.9  # of the ends' own clearance is asked for there,
OPENING = 0.003  # and so much more at each stage away from them, m
ENOUGH = 0.98  # a round that does not shorten the motion to this is the last one
MORE_ROOM = 1.5  # times what a joint passes its limit by between two stages, they stay inside it the next time
SQUEEZE = 0.05  # of the tolerance of what is kept is left for what happens between the stages,
SQUEEZE_OPENING = 0.01  # and so much more at each stage away from ends that need more of it
SETTINGS = Settings(tolerance=1e-4, iterations=150, initial_barrier=1e-2)


@dataclass(frozen=True, eq=False)
class Found:
    """A motion that passed its check, or the last one that did not, and what became of it."""

    motion: ArmMotion
    solution: Solution
    check: MotionCheck
    outcome: str
    iterations: int


@dataclass(frozen=True, eq=False)
class Refinement:
    """Solves for one question."""

    stated: MotionProblem
    asked: Asked

    def found(self, chain: np.ndarray, way: Sequence[np.ndarray], solver: Solver, threads: int) -> Found:
        """The best motion near paths from one configuration of a chain (legs + 1, nq) to the next; threads: of a solve.

        Every round the rows are half-spaces about the last motion that was free, so that none is lost; a motion that
        passed is a better one to be near.
        """
        reference = self._along(way)
        margins, room = self._margins(chain), np.zeros_like(reference.q)
        squeeze, wanted = self._squeeze(chain), None
        guess, best, outcome, iterations = reference, None, "", 0
        warm: Solution | None = None
        settings = replace(SETTINGS, threads=threads)
        for _ in range(ROUNDS):
            near = self._near(reference, margins, wanted)
            values = self._values({**near, "room": room, "squeeze": squeeze[:, None]})
            solution = solver.solve(guess=self._guess(guess), warm_start=warm, settings=settings, **values)
            iterations += solution.statistics.iterations
            motion, checked = slowed(motion_of(solution), self.asked)
            if checked.passed:
                better = best is None or motion.duration < ENOUGH * best.motion.duration
                if best is None or motion.duration < best.motion.duration:
                    best = Found(motion, solution, checked, "found", iterations)
                if not better or solution.status != "solved":
                    break
                reference = guess = motion
                warm = solution
                continue
            outcome = str(checked) if solution.status == "solved" else f"solver: {solution.status}; {checked}"
            if best is not None:
                break
            depths = beside(-np.minimum(checked.distances, 0.0))
            margins = margins + np.where(depths > 0, depths + self.stated.avoidance.margin / 2, 0.0)
            room = room + MORE_ROOM * beside(checked.beyond)
            room[self._fixed] = 0.0
            squeeze = np.minimum(squeeze + MORE_ROOM * beside((checked.off - 1).clip(min=0.0)), 0.9)
            hit = self.asked.cloud.distances(motion.q, self.asked.scene) < 0
            wanted = hit if wanted is None else hit | wanted
            guess = motion if solution.status == "solved" else reference
        return best or Found(motion, solution, checked, outcome, iterations)

    def _along(self, way: Sequence[np.ndarray]) -> ArmMotion:
        """A first motion along paths, brought to what is kept."""
        limits, steps = self.stated.limits, self.stated.steps
        legs = [along(path, steps, limits.velocity, limits.acceleration) for path in way]
        if self.asked.kept:
            model = self.asked.cloud.model
            moved = [np.vstack([leg.q[:1], brought(model, self.asked.kept, leg.q[1:-1]), leg.q[-1:]]) for leg in legs]
            legs = [through(q, leg.duration) for q, leg in zip(moved, legs)]
        return joined(legs)

    def _near(self, reference: ArmMotion, margins: np.ndarray, wanted: np.ndarray | None) -> dict[str, np.ndarray]:
        return self.stated.avoidance.planes(reference.q, self.asked.scene, margins, wanted)

    def _opening(self, ends: np.ndarray, more: float) -> np.ndarray:
        """What ends of legs have (legs + 1,), and so much more at each stage away from them."""
        k = np.arange(self.stated.steps * len(self.asked.goals) + 1)
        return np.min([end + more * abs(k - i * self.stated.steps) for i, end in enumerate(ends)], axis=0)

    def _margins(self, chain: np.ndarray) -> np.ndarray:
        """The margin of each stage, m: less near ends that are closer to something than the margin."""
        ends = SHARE * self.asked.cloud.nearest(chain, self.asked.scene).distance
        return np.minimum(self.stated.avoidance.margin, self._opening(ends, OPENING))

    def _squeeze(self, chain: np.ndarray) -> np.ndarray:
        """How much of the tolerances of what is kept each stage leaves; less near ends that need more."""
        used = np.max(
            [np.zeros(len(chain)), *(each.used(self.asked.cloud.model, chain) for each in self.asked.kept)], 0
        )
        return np.minimum(SQUEEZE, self._opening((1 - used).clip(min=0.0) / 2, SQUEEZE_OPENING))

    @property
    def _fixed(self) -> list[int]:
        """The stages whose configurations are given."""
        goals = enumerate(self.asked.goals, 1)
        return [0, *(k * self.stated.steps for k, goal in goals if not isinstance(goal, FilledToolGoal))]

    def _guess(self, motion: ArmMotion) -> dict[str, Any]:
        """A motion as a guess, leg by leg where there are several."""
        found: dict[str, Any] = {}
        for k in range(motion.legs):
            leg = motion.leg(k)
            own = found[f"leg {k + 1}"] = {"q": leg.q, "v": leg.v, "a": leg.a, "duration": leg.duration}
            if self.stated.limits.smooth:
                own["jerk"] = leg.jerk
        return found if len(found) > 1 else found["leg 1"]

    def _values(self, of_stages: dict[str, np.ndarray]) -> dict[str, Any]:
        """All parameters; of_stages: those with a row for every stage of all legs."""
        asked, steps = self.asked, self.stated.steps
        values: dict[str, Any] = {"start_pose": asked.start}
        for k, goal in enumerate(asked.goals):
            own = {name: rows[k * steps : (k + 1) * steps + 1] for name, rows in of_stages.items()}
            own |= goal.values("goal") if isinstance(goal, FilledToolGoal) else {"goal": goal}
            for name, value in own.items():
                values.setdefault(name, {})[f"leg {k + 1}"] = value
        for i, each in enumerate(asked.kept):
            values |= each.values(f"kept_{i}")
        if not asked.kept:
            del values["squeeze"]
        if asked.load.body >= 0:
            values["payload"] = asked.load.moments
        return values


def beside(instants: np.ndarray) -> np.ndarray:
    """The largest of the values at `DENSITY` instants of every step, on the stages at both ends of it."""
    largest = instants[:-1].reshape(-1, DENSITY, *instants.shape[1:]).max(axis=1)
    nothing = np.zeros_like(largest[:1])
    return np.maximum(np.concatenate([largest, nothing]), np.concatenate([nothing, largest]))


def motion_of(solution: Solution) -> ArmMotion:
    """The motion that a solution of `motion_problem`, or of `legs`, says."""
    return joined([_leg_of(phase) for phase in solution.phases.values()])


def _leg_of(phase: Any) -> ArmMotion:
    q, v, a = phase["q"], phase["v"], phase["a"]
    lengths = np.full(len(q) - 1, phase.duration / (len(q) - 1))
    if len(a) == len(q):
        return ArmMotion(lengths, q, v, a, phase["jerk"])
    return ArmMotion(lengths, q, v, np.vstack([a, a[-1:]]), np.zeros_like(a))
