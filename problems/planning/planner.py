"""Planning of an arm's motion in one call: a goal, a scene, and what stands between them.

    plan = ts.plan(arm, start, goal, scene)

Seeds are motions along paths: straight where that way is free, else by geometric searches. Each is made time-optimal by
the interior point between half-spaces that touch the obstacles, checked at ten times the density, and solved again
about what was found: with obstacles touched elsewhere if it passed, with the pairs that it hit if it did not. Limits
that are exceeded between the stages are met by going slower. If the first seed fails, the others are tried side by
side, some at a time, and the best of these is taken: the answer does not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice
from os import cpu_count
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...dynamics import Cloud, Model, Scene
from ...errors import ProblemError, said
from .answer import Attempt, Plan
from .arguments import instance, length, numbers, whole
from .asked import Asked
from .check import check
from .goals import FilledToolGoal, ToolGoal, filled, kept
from .inverse_kinematics import brought
from .limits import FilledJointLimits, JointLimits
from .payload import NOTHING, Payload, carried
from .refinement import Found, Refinement
from .seeds import Seed, seeds_of
from .statement import Form, MotionProblem, motion_problem
from .trajectory import joined, through

TOGETHER = 2  # seeds that are tried side by side, once the first one, which nearly always does, has failed


def plan(
    robot: Model,
    start: ArrayLike,
    goal: ArrayLike | ToolGoal,
    scene: Scene | None = None,
    limits: JointLimits | None = None,
    margin: float = 0.01,
    steps: int = 40,
    seeds: int = 6,
    path: ArrayLike | Plan | None = None,
    seed: int = 0,
    via: Sequence[ArrayLike | ToolGoal] = (),
    keep: ToolGoal | Sequence[ToolGoal] = (),
    payload: Payload | None = None,
    threads: int | None = None,
) -> Plan:
    """A motion of the robot from rest at `start` (nq,) to rest at `goal`, in little time, away from the scene.

    goal: a configuration (nq,), or a ToolGoal, whose configuration is chosen with the motion. via: goals to be passed
    on the way, without a stop, each at the end of a leg of its own duration; steps: of a leg. keep: ToolGoals with
    tolerances that hold all along, such as a tool upright or on a line. payload: what a link carries. margin: m, that
    the stages stay away from everything. seeds: searches for a path, where none is straight and free; path: one to try
    first, (points, nq), such as that of another planner, or a plan that was found before. threads: all processors if
    not said; the answer is the same for any number.

    The first call for a robot, limits, kinds of goals and a body that carries builds machine code; another scene,
    start, place or payload does not.
    """
    made = planner(robot, JointLimits() if limits is None else limits, margin, steps)
    return made.plan(start, goal, Scene() if scene is None else scene, seeds, path, seed, via, keep, payload, threads)


def planner(robot: Model, limits: JointLimits, margin: float, steps: int) -> Planner:
    """The planner of a robot, the same for the same limits."""
    instance("plan: robot", robot, Model), instance("plan: limits", limits, JointLimits)
    margin, steps = length("plan: margin", margin), whole("plan: steps", steps, 2, 100_000)
    if robot.nq != robot.nv:
        expected = "expected joints of one coordinate; robot.unwound() makes such of joints without end"
        raise ProblemError(f"plan: '{robot.name}' has {robot.nq} coordinates for {robot.nv} velocities, {expected}")
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
    cloud = Cloud(robot)
    cloud.clearance(Scene())  # makes what all plans need
    return Planner(cloud, limits.limits, margin, steps)


@dataclass(frozen=True, eq=False)
class Planner:
    """Plans for one robot with one set of limits; what was built is kept by its form."""

    cloud: Cloud
    limits: FilledJointLimits
    margin: float
    steps: int
    built: dict[Form, MotionProblem] = field(default_factory=dict)

    def plan(
        self,
        start: ArrayLike,
        goal: ArrayLike | ToolGoal,
        scene: Scene,
        seeds: int = 6,
        path: ArrayLike | Plan | None = None,
        seed: int = 0,
        via: Sequence[ArrayLike | ToolGoal] = (),
        keep: ToolGoal | Sequence[ToolGoal] = (),
        payload: Payload | None = None,
        threads: int | None = None,
    ) -> Plan:
        """See `plan`."""
        begin = perf_counter()
        seeds, seed = whole("plan: seeds", seeds, 0, 100_000), whole("plan: seed", seed, 0, 2**31)
        threads = whole("plan: threads", cpu_count() or 1 if threads is None else threads, 1, 1024)
        asked = self._asked(start, goal, scene, via, keep, payload)
        given = None if path is None else self._paths(path, asked)

        def answer(status: str, reason: str, attempts: Sequence[Attempt] = (), best: Found | None = None) -> Plan:
            plan = Plan(
                status, reason, self.cloud.model, scene, attempts=tuple(attempts), seconds=perf_counter() - begin
            )
            return plan if best is None else replace(plan, motion=best.motion, solution=best.solution, check=best.check)

        if trouble := asked.trouble("start", asked.start):
            return answer(*trouble)
        chains, trouble = asked.chains(seed, threads)
        if not chains:
            return answer(*trouble)
        attempts: list[Attempt] = []
        since = perf_counter()
        self.stated(asked)
        begin += perf_counter() - since
        for group in _groups(seeds_of(asked, chains, seeds, self.margin, given)):
            tried = self._tried(asked, group, seed, threads)
            attempts += [attempt for attempt, _ in tried]
            passed = [found for _, found in tried if found is not None and found.check.passed]
            if passed:
                best = min(passed, key=lambda found: found.motion.duration)
                return answer("found", "", attempts, best)
        reason = f"{len(attempts)} seeds were tried; the last: {attempts[-1].outcome}" if attempts else "no seeds"
        return answer("not found", reason, attempts)

    def stated(self, asked: Asked) -> MotionProblem:
        """The problem of a question's form, built when it is first asked for, with all that a check of it needs, so
        that threads find machine code, and make none.
        """
        form = asked.form
        if form not in self.built:
            made = motion_problem(self.cloud, self.limits, self.steps, self.margin, form)
            for number in range(TOGETHER):
                made.solver(number)
            still = through(np.tile(asked.start, (2, 1)), 1.0)
            check(joined([still] * form.legs), asked)
            brought(self.cloud.model, asked.kept, asked.start[None]) if asked.kept else None
            self.built[form] = made
        return self.built[form]

    # --- what is asked

    def _asked(
        self,
        start: ArrayLike,
        goal: ArrayLike | ToolGoal,
        scene: Scene,
        via: Any,
        keep: ToolGoal | Sequence[ToolGoal],
        payload: Payload | None,
    ) -> Asked:
        instance("plan: scene", scene, Scene)
        listed: Any = list(via) if isinstance(via, np.ndarray) and via.ndim == 2 else via
        if not isinstance(listed, (list, tuple)):
            raise ProblemError(f"plan: via is {said(via)}, expected a list of configurations and ToolGoals")
        goals = [self._goal(f"via point {k + 1}", each) for k, each in enumerate(listed)]
        load = carried(self.cloud.model, payload)
        limited = np.isfinite(self.limits.torque).any()
        return Asked(
            self.cloud,
            self.limits,
            scene,
            self._configuration("start", start),
            (*goals, self._goal("goal", goal)),
            kept(self.cloud.model, keep),
            load if limited else NOTHING,
        )

    def _goal(self, what: str, goal: ArrayLike | ToolGoal) -> np.ndarray | FilledToolGoal:
        return filled(self.cloud.model, goal) if isinstance(goal, ToolGoal) else self._configuration(what, goal)

    def _configuration(self, what: str, q: ArrayLike) -> np.ndarray:
        nq = self.cloud.model.nq
        array = numbers(f"plan: {what}", q, f"{nq} finite numbers")
        if array.shape != (nq,):
            raise ProblemError(f"plan: {what} is {said(q)}, expected {nq} finite numbers")
        return array

    def _paths(self, path: ArrayLike | Plan, asked: Asked) -> list[np.ndarray]:
        """The given path, cut into legs where it is that of a plan."""
        nq, count = self.cloud.model.nq, len(asked.goals)
        if isinstance(path, Plan):
            if path.motion is None or path.motion.legs != count or path.motion.q.shape[1] != nq:
                raise ProblemError(f"plan: path is a plan of {path.legs} legs, expected one found for {count} legs")
            return [path.motion.leg(k).q for k in range(count)]
        points = numbers("plan: path", path, f"points ({nq},) in rows")
        if points.ndim != 2 or points.shape[1] != nq:
            raise ProblemError(f"plan: path has shape {points.shape}, expected (points, {nq})")
        if count > 1:
            raise ProblemError("plan: path is given beside via, expected one of the two, or the plan of another motion")
        return [points]

    # --- what is tried

    def _tried(
        self, asked: Asked, seeds: Sequence[Seed], seed: int, threads: int
    ) -> list[tuple[Attempt, Found | None]]:
        """Seeds side by side, each with a solver of its own."""
        stated = self.stated(asked)
        refinement, inner = Refinement(stated, asked), threads if len(seeds) == 1 else 1

        def one(number: int) -> tuple[Attempt, Found | None]:
            since = perf_counter()
            ready = seeds[number].searched(asked, self.margin, seed)
            if not ready.paths:
                return Attempt("a search", ready.name, perf_counter() - since), None
            found = refinement.found(ready.chain, ready.paths, stated.solver(number), inner)
            return Attempt(ready.name, found.outcome, perf_counter() - since, found.iterations), found

        numbers = range(len(seeds))
        if threads == 1 or len(seeds) == 1:
            return [one(number) for number in numbers]
        with ThreadPoolExecutor(min(threads, len(seeds))) as pool:
            return list(pool.map(one, numbers))


def _groups(seeds: Iterator[Seed]) -> Iterator[list[Seed]]:
    """The first one, then several at a time."""
    size = 1
    while group := list(islice(seeds, size)):
        yield group
        size = TOGETHER
