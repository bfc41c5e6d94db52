"""The board of arm planning: sets of problems, each plan judged by coal, and a table of how it went."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from ...dynamics import Cloud, Model, Scene
from ...errors import ProblemError
from ...native.progress_bar import Progress
from ...whole_file import whole_file
from .answer import Plan
from .limits import FilledJointLimits, JointLimits
from .motion_bench import SETS, Question, questions, sphere_robot
from .planner import planner
from .trajectory import ArmMotion

# What the makers state, rad/s^2; other robots have the default of `JointLimits`.
ACCELERATION = {"panda": (15.0, 7.5, 10.0, 12.5, 15.0, 20.0, 20.0)}
DENSITY = 10


@dataclass(frozen=True)
class Entry:
    """How one problem went. seconds: by the wall and of the processor; judged: m, the clearance that coal found; rival:
    s, the duration of the motion that another way gives.
    """

    set: str
    number: int
    status: str
    reason: str
    seconds: float
    processor_seconds: float
    duration: float
    iterations: int
    attempts: int
    clearance: float
    judged: float
    torque: float
    rival: float

    @property
    def solved(self) -> bool:
        """Found, within limits, and free in coal's eyes, if it looked."""
        return self.status == "found" and not self.judged < 0


# Another way to a motion: the seconds it takes from a start to a goal in a scene, infinite where there is none.
Rival = Callable[[Cloud, FilledJointLimits, np.ndarray, np.ndarray, Scene], float]


def board(
    robot: str,
    sets: Iterable[str],
    count: int,
    margin: float = 0.01,
    steps: int = 40,
    say: Callable[[str], None] = print,
    jobs: int = 1,
    rival: Rival | None = None,
    judged: bool = True,
) -> list[Entry]:
    """Plan the first `count` problems of the sets, saying how each set went.

    jobs: processes that share the sets; times by the wall are worth something with one. judged: by coal.
    """
    if jobs < 1:
        raise ProblemError(f"bench arms: jobs is {jobs}, expected at least 1")
    names = list(sets)
    entries: list[Entry] = []
    with Progress(f"{robot}: problems", count * len(names)) as progress:
        for name, of_set in zip(names, _planned(robot, names, count, margin, steps, jobs, rival, judged, progress)):
            entries += of_set
            say(row(name, of_set))
    say(row("all", entries))
    return entries


def _planned(
    robot: str,
    names: list[str],
    count: int,
    margin: float,
    steps: int,
    jobs: int,
    rival: Rival | None,
    judged: bool,
    progress: Progress,
) -> Iterator[list[Entry]]:
    """The entries of one set after the other."""
    work = partial(_entries, robot, count, margin, steps, rival, judged)
    if jobs == 1:
        for name in names:
            progress.begin(f"{robot}: {name}")
            yield list(work(name, progress.advance))
        return
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        for of_set in pool.map(partial(_listed, work), names):
            progress.advance(len(of_set))
            yield of_set


def _listed(work: Callable[[str], Iterator[Entry]], name: str) -> list[Entry]:
    return list(work(name))


def _entries(
    robot: str,
    count: int,
    margin: float,
    steps: int,
    rival: Rival | None,
    judged: bool,
    name: str,
    done: Callable[[], None] = lambda: None,
) -> Iterator[Entry]:
    """How the first problems of a set went."""
    model = sphere_robot(robot)
    asked = planner(model, JointLimits(acceleration=ACCELERATION.get(robot)), margin, steps)
    cloud, limits = asked.cloud, asked.limits
    for question in questions(model, robot, name, count):
        since = process_time()
        plan = asked.plan(question.start, question.goal, question.scene)
        taken = process_time() - since
        other = np.nan if rival is None else rival(cloud, limits, question.start, question.goal, question.scene)
        yield _entry(question, plan, taken, cloud if judged else None, other)
        done()


def row(name: str, entries: list[Entry]) -> str:
    """A line of the table."""
    solved = [entry for entry in entries if entry.solved]
    hit = sum(entry.status == "found" and entry.judged < 0 for entry in entries)
    wall, own, duration = (
        np.percentile([getattr(entry, part) for entry in solved] or [np.nan], [50, 95])
        for part in ("seconds", "processor_seconds", "duration")
    )
    return (
        f"{name:<18} {len(solved):4d} of {len(entries):<4d} hit {hit:<3d} "
        f"wall ms {wall[0] * 1e3:6.0f} {wall[1] * 1e3:6.0f}   "
        f"processor ms {own[0] * 1e3:5.0f} {own[1] * 1e3:6.0f}   motion s {duration[0]:.2f} {duration[1]:.2f}"
        f"{_beside_rival(solved)}"
    )


def _beside_rival(solved: list[Entry]) -> str:
    """Of how many the rival's motion, if it has one, takes longer, and by what factor at the median."""
    compared = [entry for entry in solved if not np.isnan(entry.rival)]
    both = [entry.rival / entry.duration for entry in compared if np.isfinite(entry.rival)]
    if not compared:
        return ""
    longer, none = sum(ratio > 1 for ratio in both), len(compared) - len(both)
    return f"   rival longer {longer} of {len(both)}, by {np.median(both or [np.nan]):.2f}, none {none}"


def write_csv(path: Path, entries: list[Entry]) -> None:
    """One line a problem."""
    with whole_file(path) as unfinished, unfinished.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(asdict(entries[0])) if entries else [])
        writer.writeheader()
        writer.writerows(asdict(entry) for entry in entries)


def to_draw(entries: list[Entry]) -> tuple[dict[str, tuple[int, np.ndarray, np.ndarray]], str, bool]:
    """What `drawing.planning_plot` draws: of each set the seconds and the durations, beside the rival's where it has
    some.
    """
    compared = any(np.isfinite(entry.rival) for entry in entries)
    sets = {}
    for name in dict.fromkeys(entry.set for entry in entries):
        of_set = [entry for entry in entries if entry.set == name]
        solved = [entry for entry in of_set if entry.solved]
        lengths = [entry.rival / entry.duration if compared else entry.duration for entry in solved]
        sets[name] = len(of_set), np.array([entry.seconds for entry in solved]), np.array(lengths)
    return sets, "the rival's duration / ours" if compared else "duration, s", compared


def judge(model: Model, motion: ArmMotion, scene: Scene, cloud: Cloud, density: int = DENSITY) -> float:
    """The smallest distance, m, that coal finds along a motion between the robot's spheres and the scene, and between
    the spheres of links that can touch.
    """
    import coal

    kinds: dict[str, Any] = {"sphere": coal.Sphere, "box": coal.Box, "cylinder": coal.Cylinder, "capsule": coal.Capsule}
    around = [
        (kinds[each.kind](*each.size), coal.Transform3s(np.asarray(each.placement.R), np.ravel(each.placement.p)))
        for each in scene.obstacles.values()
    ]
    balls = [coal.Sphere(float(radius)) for radius in cloud.radii]
    request, smallest = coal.DistanceRequest(), np.inf
    bounds = np.array([np.linalg.norm(_half(each.kind, each.size)) for each in scene.obstacles.values()])
    places = np.array([np.ravel(each.placement.p) for each in scene.obstacles.values()]).reshape(-1, 3)
    pairs = cloud.sphere_pairs
    for centres in cloud.centres(motion.sample(density)[1]):
        far = np.linalg.norm(centres[:, None] - places, axis=2) - bounds - cloud.radii[:, None]
        for i, k in zip(*np.nonzero((far < min(smallest, 0.2)) & (cloud.bodies >= 0)[:, None])):
            pose = coal.Transform3s(np.eye(3), centres[i])
            smallest = min(smallest, coal.distance(balls[i], pose, *around[k], request, coal.DistanceResult()))
        if len(pairs):
            apart = np.linalg.norm(centres[pairs[:, 0]] - centres[pairs[:, 1]], axis=1)
            smallest = min(smallest, float((apart - cloud.radii[pairs].sum(axis=1)).min()))
    return float(smallest)


def _half(kind: str, size: tuple[float, ...]) -> np.ndarray:
    """Half the sides of a box about a shape."""
    if kind == "box":
        return np.array(size) / 2
    return np.array([size[0], size[0], size[0] if kind == "sphere" else size[0] + size[1] / 2])


def _entry(question: Question, plan: Plan, seconds: float, cloud: Cloud | None, rival: float) -> Entry:
    """cloud: of the robot, where coal is to judge."""
    judged = np.nan
    if plan.motion is not None and cloud is not None:
        judged = judge(plan.model, plan.motion, plan.scene, cloud)
    return Entry(
        set=question.set,
        number=question.number,
        status=plan.status,
        reason=plan.reason,
        seconds=plan.seconds,
        processor_seconds=seconds,
        duration=plan.duration,
        iterations=sum(each.iterations for each in plan.attempts),
        attempts=len(plan.attempts),
        clearance=np.nan if plan.check is None else plan.check.clearance,
        judged=judged,
        torque=np.nan if plan.check is None else plan.check.torque,
        rival=rival,
    )


__all__ = ["SETS", "Entry", "board", "judge", "row", "to_draw", "write_csv"]
