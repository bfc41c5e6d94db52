"""Planning of an arm's motion in one call: a goal, a scene, and what stands between them.

    plan = ts.plan(arm, start, goal, scene)

Seeds are motions along paths: straight where that way is free, else by geometric searches. Each is made time-optimal by
the interior point between half-spaces that touch the obstacles (Schulman et al. 2014 linearise distances; these rows
hold the motion on the free side), checked at ten times the density, and solved again about what was found: with
obstacles touched elsewhere if it passed, with the pairs that it hit if it did not. Limits that are exceeded between the
stages are met by going slower.
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
from ...dynamics.shapes.paths import find_path
from ...errors import ProblemError, said
from ...ocp import Settings, Solution
from .answer import Attempt, Plan
from .arguments import instance, length, numbers, whole
from .check import DENSITY, SLACK, MotionCheck, check
from .inverse_kinematics import ToolGoal, configurations
from .limits import FilledJointLimits, JointLimits
from .statement import MotionProblem, motion_problem
from .trajectory import ArmMotion, along

ROUNDS = 4  # solves of one seed, each with what the check of the last one found
SEARCH = 50000  # iterations of a search for a path
SHARE = 0.9  # of the ends' own clearance is asked for there,
OPENING = 0.003  # and so much more at each stage away from them, m
ENOUGH = 0.98  # a round that does not shorten the motion to this is the last one
MORE_ROOM = 1.5  # times what a joint passes its limit by between two stages, they stay inside it the next time
SLOWEST = 1.5  # a motion may be slowed by this much to meet its limits between the stages
SETTINGS = Settings(tolerance=1e-4, iterations=150, initial_barrier=1e-2)


def plan(
    robot: Model,
    start: ArrayLike,
    goal: ArrayLike | ToolGoal,
    scene: Scene | None = None,
    limits: JointLimits | None = None,
    margin: float = 0.01,
    steps: int = 40,
    seeds: int = 6,
    path: ArrayLike | None = None,
    seed: int = 0,
) -> Plan:
    """A motion of the robot from rest at `start` (nq,) to rest at `goal`, in little time, away from the scene.

    goal: a configuration (nq,), or a ToolGoal. margin: m, that the stages stay away from everything. seeds: paths to
    try; path: (points, nq), one to try first, such as that of another planner or of a previous plan. The first call
    for a robot and limits builds machine code; another scene, start or goal does not.
    """
    made = planner(robot, JointLimits() if limits is None else limits, margin, steps)
    return made.plan(start, goal, Scene() if scene is None else scene, seeds, path, seed)


def planner(robot: Model, limits: JointLimits, margin: float, steps: int) -> Planner:
    """The planner of a robot, built once for the same limits."""
    instance("plan: robot", robot, Model), instance("plan: limits", limits, JointLimits)
    margin, steps = length("plan: margin", margin), whole("plan: steps", steps, 2, 100_000)
    if robot.nq != robot.nv:
        raise ProblemError(f"plan: '{robot.name}' has joints without end or a floating base, expected limited joints")
    filled = limits.of(robot)
    return _planner(robot, filled.key, _Unhashed(filled), margin, steps)


@dataclass(frozen=True)
class _Unhashed:
    """Carries limits past the cache, which knows them by their key."""

    limits: FilledJointLimits

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
        instance("plan: scene", scene, Scene)
        seeds, seed = whole("plan: seeds", seeds, 0, 100_000), whole("plan: seed", seed, 0, 2**31)
        points = None if path is None else self._path(path)
        first = self._configuration("start", start)
        if trouble := self._trouble("start", first, scene):
            return Plan(*trouble, model, scene, seconds=perf_counter() - begin)
        goals, trouble = self._goals(first, goal, scene, seed)
        attempts: list[Attempt] = []
        for last in goals:
            for name, way in self._ways(first, last, scene, seeds, points, seed):
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
        nq = self.stated.cloud.model.nq
        array = numbers(f"plan: {what}", q, f"{nq} finite numbers")
        if array.shape != (nq,):
            raise ProblemError(f"plan: {what} is {said(q)}, expected {nq} finite numbers")
        return array

    def _path(self, path: ArrayLike) -> np.ndarray:
        nq = self.stated.cloud.model.nq
        points = numbers("plan: path", path, f"points ({nq},) in rows")
        if points.ndim != 2 or points.shape[1] != nq:
            raise ProblemError(f"plan: path has shape {points.shape}, expected (points, {nq})")
        return points

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
        self, start: np.ndarray, goal: np.ndarray, scene: Scene, seeds: int, path: np.ndarray | None, seed: int
    ) -> Iterator[tuple[str, np.ndarray]]:
        """Paths (points, nq) to begin with, and what they are called."""
        if path is not None:
            yield "the given path", np.vstack([start, path[1:-1], goal])
        cloud, margin = self.stated.cloud, float(self._margins(start, goal, scene).min())
        for number in range(seeds):
            found, taken = find_path(cloud, scene, start, goal, margin * (1 + number % 2), SEARCH, seed + number)
            if len(found):
                yield (f"a path after {taken} tries" if taken else "straight"), found
            elif number == 0:
                yield "straight, for no path was found", np.array([start, goal])
            if not taken:
                break  # the straight way is free, and other seeds would find it again

    def _margins(self, start: np.ndarray, goal: np.ndarray, scene: Scene) -> np.ndarray:
        """The margin of each stage, m: less near ends that are closer to something than the margin."""
        ends = SHARE * self.stated.cloud.nearest(np.array([start, goal]), scene).distance
        k = np.arange(self.stated.steps + 1)
        opening = np.minimum(ends[0] + OPENING * k, ends[1] + OPENING * k[::-1])
        return np.minimum(self.stated.avoidance.margin, opening)

    def _motion(
        self, start: np.ndarray, goal: np.ndarray, way: np.ndarray, scene: Scene
    ) -> tuple[ArmMotion, Solution, MotionCheck | None, str]:
        """The best motion near a path, checked; the check is None where there is none.

        Every round the rows are half-spaces about the last motion that was free, so that none is lost; a motion that
        passed is a better one to be near.
        """
        stated, limits = self.stated, self.stated.limits
        reference = along(way, stated.steps, limits.velocity, limits.acceleration)
        margins, room = self._margins(start, goal, scene), np.zeros_like(reference.q)
        wanted: np.ndarray | None = None
        guess, best, outcome = reference, None, ""
        warm: Solution | None = None
        for _ in range(ROUNDS):
            near = stated.avoidance.planes(reference.q, scene, margins, wanted)
            solution = self._solve(guess, warm, start, goal, {**near, "room": room})
            found = motion_of(solution)
            checked = check(found, stated.cloud, scene, limits)
            if checked.clearance >= 0 and checked.position <= SLACK and not checked.within_limits:
                found, checked = self._slowed(found, checked, scene)
            if checked.passed:
                better = best is None or found.duration < ENOUGH * best[0].duration
                if best is None or found.duration < best[0].duration:
                    best = found, solution, checked, "found"
                if not better or solution.status != "solved":
                    break
                reference = guess = found
                warm = solution
                continue
            outcome = str(checked) if solution.status == "solved" else f"solver: {solution.status}; {checked}"
            if best is not None:
                break
            depths = beside(-np.minimum(checked.distances, 0.0), stated.steps)
            margins = margins + np.where(depths > 0, depths + stated.avoidance.margin / 2, 0.0)
            room += MORE_ROOM * beside(checked.beyond, stated.steps)
            room[[0, -1]] = 0.0
            wanted = (stated.cloud.distances(found.q, scene) < 0) | (False if wanted is None else wanted)
            guess = found if solution.status == "solved" else reference
        return best or (found, solution, None, outcome)

    def _solve(
        self,
        motion: ArmMotion,
        warm: Solution | None,
        start: np.ndarray,
        goal: np.ndarray,
        near: dict[str, np.ndarray],
    ) -> Solution:
        guess: dict[str, Any] = {"q": motion.q, "v": motion.v, "a": motion.a, "duration": motion.duration}
        if self.stated.smooth:
            guess["jerk"] = motion.jerk
        numbers: dict[str, Any] = {"start_pose": start, "goal": goal, **near}
        return self.stated.solver.solve(guess=guess, warm_start=warm, settings=SETTINGS, **numbers)

    def _slowed(self, motion: ArmMotion, checked: MotionCheck, scene: Scene) -> tuple[ArmMotion, MotionCheck]:
        """A motion within its limits, by going slower, where a little is enough. Slower by s, what a torque has beyond
        gravity's falls by s^2.
        """
        model, limits = self.stated.cloud.model, self.stated.limits
        _, q, v, a = motion.sample(DENSITY)
        held = model.compiled.inverse_dynamics(q, 0 * v, 0 * a)
        moving = model.compiled.inverse_dynamics(q, v, a) - held
        room = np.where(moving > 0, limits.torque - held, limits.torque + held)
        if (room <= 0).any():
            return motion, checked
        shares = (
            checked.velocity,
            checked.acceleration**0.5,
            checked.jerk ** (1 / 3),
            (abs(moving) / room).max() ** 0.5,
        )
        factor = 1.001 * max(1.0, *shares)
        if factor > SLOWEST:
            return motion, checked
        slower = motion.slower(factor)
        return slower, check(slower, self.stated.cloud, scene, limits)


def beside(instants: np.ndarray, steps: int) -> np.ndarray:
    """The largest of the values at `DENSITY` instants of every step, on the stages at both ends of it."""
    largest = instants[:-1].reshape(steps, DENSITY, *instants.shape[1:]).max(axis=1)
    nothing = np.zeros_like(largest[:1])
    return np.maximum(np.concatenate([largest, nothing]), np.concatenate([nothing, largest]))


def motion_of(solution: Solution) -> ArmMotion:
    """The motion that a solution of `motion_problem`, or one like it, says."""
    q, v, a = solution["q"], solution["v"], solution["a"]
    if len(a) == len(q):
        return ArmMotion(float(solution.duration), q, v, a, solution["jerk"])
    return ArmMotion(float(solution.duration), q, v, np.vstack([a, a[-1:]]), np.zeros_like(a))
