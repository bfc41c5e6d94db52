"""Planning of an arm's motion in one call: a goal, a scene, and what stands between them.

    plan = ts.plan(arm, start, goal, scene)

Seeds are motions along paths: straight, then one by a geometric search. Each is made time-optimal by the interior
point, checked at ten times the density, and where the check finds a pair that the rows did not have, or something
between two stages, solved again with what was found. Small excesses over a limit between stages are met by going
slower.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...dynamics import Cloud, Model, Scene
from ...errors import ProblemError
from ...ocp import Settings, Solution
from .check import Check, check
from .inverse_kinematics import ToolGoal, configurations
from .limits import FilledLimits, Limits
from .plan import Attempt, Plan
from .statement import MotionProblem, motion_problem
from .trajectory import ArmMotion, along

ROUNDS = 4  # solves of one seed, each with what the check of the last one found
SLOWEST = 1.1  # a motion may be slowed by this much to meet its limits between the stages
SETTINGS = Settings(tolerance=1e-4, iterations=150, initial_barrier=1e-2)


def plan(
    robot: Model,
    start: ArrayLike,
    goal: ArrayLike | ToolGoal,
    scene: Scene | None = None,
    limits: Limits | None = None,
    margin: float = 0.01,
    steps: int = 32,
    seeds: int = 6,
    path: ArrayLike | None = None,
    seed: int = 0,
) -> Plan:
    """A motion of the robot from rest at `start` (nq,) to rest at `goal`, in little time, away from the scene.

    goal: a configuration (nq,), or a ToolGoal. margin: m, that the stages stay away from everything. seeds: paths to
    try; path: (points, nq), one to try first, such as that of another planner or of a previous plan. The first call
    for a robot and limits builds machine code; another scene, start or goal does not.
    """
    return planner(robot, limits or Limits(), margin, steps).plan(start, goal, scene or Scene(), seeds, path, seed)


def planner(robot: Model, limits: Limits, margin: float, steps: int) -> Planner:
    """The planner of a robot, built once for the same limits."""
    if robot.nq != robot.nv:
        raise ProblemError(f"plan: '{robot.name}' has joints without end or a floating base, expected limited joints")
    filled = limits.of(robot)
    return _planner(robot, filled.key, _Unhashed(filled), float(margin), int(steps))


@dataclass(frozen=True)
class _Unhashed:
    """Carries limits past the cache, which knows them by their key."""

    limits: FilledLimits

    def __hash__(self) -> int:
        return 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Unhashed)


@lru_cache(maxsize=32)
def _planner(robot: Model, key: bytes, limits: _Unhashed, margin: float, steps: int) -> Planner:
    return Planner(motion_problem(Cloud(robot), limits.limits, steps, margin))


@dataclass(frozen=True, eq=False)
class Planner:
    """Plans for one robot with one set of limits."""

    stated: MotionProblem

    def plan(
        self,
        start: ArrayLike,
        goal: ArrayLike | ToolGoal,
        scene: Scene,
        seeds: int,
        path: ArrayLike | None,
        seed: int,
    ) -> Plan:
        """See `plan`."""
        begin = perf_counter()
        model = self.stated.cloud.model
        first = self._configuration("start", start)
        if trouble := self._trouble("start", first, scene):
            return Plan(*trouble, model, scene, seconds=perf_counter() - begin)
        goals, trouble = self._goals(first, goal, scene, seed)
        attempts: list[Attempt] = []
        for last in goals:
            for name, way in self._ways(first, last, scene, seeds, path, seed):
                since = perf_counter()
                motion, solution, checked, outcome = self._motion(first, last, way, scene)
                iterations = solution.statistics.iterations
                attempts.append(Attempt(name, outcome, perf_counter() - since, iterations))
                if checked is not None and checked.passed:
                    taken = perf_counter() - begin
                    return Plan("found", "", model, scene, motion, solution, checked, tuple(attempts), taken)
        if not attempts:
            return Plan(*trouble, model, scene, seconds=perf_counter() - begin)
        reason = f"{len(attempts)} seeds were tried; the last: {attempts[-1].outcome}"
        return Plan("not found", reason, model, scene, attempts=tuple(attempts), seconds=perf_counter() - begin)

    def _configuration(self, what: str, q: ArrayLike) -> np.ndarray:
        model = self.stated.cloud.model
        try:
            array = np.asarray(q, dtype=float)
        except (TypeError, ValueError):
            array = np.zeros(0)
        if array.shape != (model.nq,) or not np.isfinite(array).all():
            raise ProblemError(f"plan: {what} is {q!r}, expected {model.nq} finite numbers")
        return array

    def _trouble(self, what: str, q: np.ndarray, scene: Scene) -> tuple[str, str] | None:
        """Why a configuration can be no end of a motion."""
        model = self.stated.cloud.model
        beyond = np.maximum(model.q_lower - q, q - model.q_upper)
        if beyond.max() > 0:
            joint = model.joint_names[int(beyond.argmax())]
            return f"{what} outside limits", f"joint '{joint}' is {beyond.max():.3g} beyond its limit"
        nearest = self.stated.cloud.nearest(q, scene)
        if nearest.distance[0] < 0:
            return f"{what} in collision", f"{nearest.pairs[0]} are {-nearest.distance[0] * 1e3:.1f} mm into each other"
        return None

    def _goals(
        self, start: np.ndarray, goal: ArrayLike | ToolGoal, scene: Scene, seed: int
    ) -> tuple[Iterator[np.ndarray] | list[np.ndarray], tuple[str, str]]:
        """The configurations that may be the end, and what to say if there is none."""
        if not isinstance(goal, ToolGoal):
            last = self._configuration("goal", goal)
            trouble = self._trouble("goal", last, scene)
            return ([], trouble) if trouble else ([last], ("", ""))
        reached = list(configurations(self.stated.cloud.model, goal, start, 12, seed))
        if not reached:
            return [], ("goal out of reach", f"no configuration within the joints' limits brings '{goal.link}' there")
        free = [q for q in reached if self._trouble("goal", q, scene) is None]
        if not free:
            trouble = self._trouble("goal", reached[0], scene)
            assert trouble is not None
            return [], ("goal in collision", f"in all of {len(reached)} configurations; in the first {trouble[1]}")
        return sorted(free, key=lambda q: float(abs(q - start).max()))[:3], ("", "")

    def _ways(
        self, start: np.ndarray, goal: np.ndarray, scene: Scene, seeds: int, path: ArrayLike | None, seed: int
    ) -> Iterator[tuple[str, np.ndarray]]:
        """Paths (points, nq) to begin with, and what they are called."""
        if path is not None:
            yield "the given path", np.vstack([start, np.atleast_2d(np.asarray(path, dtype=float))[1:-1], goal])
        yield "straight", np.array([start, goal])
        rng = np.random.default_rng(seed)
        for number in range(seeds - 1):
            yield (
                f"through random point {number + 1}",
                np.array([start, self.stated.cloud.model.random_configuration(rng), goal]),
            )

    def _motion(
        self, start: np.ndarray, goal: np.ndarray, way: np.ndarray, scene: Scene
    ) -> tuple[ArmMotion, Solution, Check | None, str]:
        """The best motion near a path, checked; the check is None where there is none."""
        stated, limits = self.stated, self.stated.limits
        motion = along(way, stated.steps, limits.velocity, limits.acceleration)
        extra = np.zeros(stated.steps + 1)
        outcome = ""
        for number in range(ROUNDS):
            solution = self._solve(motion, start, goal, scene, extra)
            found = _motion_of(solution)
            if solution.status != "solved" and (number == 0 or solution.status == "infeasible"):
                outcome = f"solver: {solution.status}"
                if number:
                    return found, solution, None, outcome
            checked = check(found, stated.cloud, scene, limits)
            if checked.clearance >= 0 and not checked.within_limits:
                found, checked = self._slowed(found, checked, scene)
            if checked.passed:
                return found, solution, checked, "found"
            outcome = outcome or str(checked)
            depths = np.minimum(checked.distances, 0.0)[:-1].reshape(stated.steps, -1).min(axis=1)
            between = -np.minimum(np.concatenate([depths, [0.0]]), np.concatenate([[0.0], depths]))
            extra = extra + np.where(between > 0, between + stated.avoidance.margin / 2, 0.0)
            extra[[0, -1]] = 0.0
            motion = found
        return found, solution, None, outcome

    def _solve(
        self, motion: ArmMotion, start: np.ndarray, goal: np.ndarray, scene: Scene, extra: np.ndarray
    ) -> Solution:
        avoidance = self.stated.avoidance
        near: dict[str, Any] = {**avoidance.values(motion.q, scene, extra)}
        guess: dict[str, Any] = {"q": motion.q, "v": motion.v, "a": motion.a, "duration": motion.duration}
        if self.stated.smooth:
            guess["jerk"] = motion.jerk
        return self.stated.solver.solve(guess=guess, settings=SETTINGS, start=start, goal=goal, **near)

    def _slowed(self, motion: ArmMotion, checked: Check, scene: Scene) -> tuple[ArmMotion, Check]:
        """A motion within its limits, by going slower, where a little is enough."""
        for factor in np.linspace(1.0, SLOWEST, 11)[1:]:
            slower = motion.slower(float(factor))
            again = check(slower, self.stated.cloud, scene, self.stated.limits)
            if again.within_limits:
                return slower, again
        return motion, checked


def _motion_of(solution: Solution) -> ArmMotion:
    q, v, a = solution["q"], solution["v"], solution["a"]
    if len(a) == len(q):
        return ArmMotion(float(solution.duration), q, v, a, solution["jerk"])
    return ArmMotion(float(solution.duration), q, v, np.vstack([a, a[-1:]]), np.zeros_like(a))
