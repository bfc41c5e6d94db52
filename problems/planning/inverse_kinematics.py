"""Configurations that bring a link where it is wanted: a problem of one stage for the interior point, from many starts.

The cost is the way from a configuration that is preferred, such as the start of a motion; the rows are those of
`Problem.reach`. Position and rotation are parameters: one build serves all goals of a kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from casadi import sumsqr
from numpy.typing import ArrayLike

from ...dynamics import Model
from ...errors import ProblemError, said
from ...ocp import Problem, Settings
from ...ocp.solve.solver import Solver
from .arguments import length, numbers

APART = 1e-3  # rad: nearer configurations are the same solution


@dataclass(frozen=True)
class ToolGoal:
    """A link at a position (3,), m, in the world; with a rotation (3, 3) also turned so. tolerance: m; angle: rad."""

    link: str
    position: ArrayLike
    rotation: ArrayLike | None = None
    tolerance: float = 0.0
    angle: float = 0.0


def configurations(model: Model, goal: ToolGoal, near: np.ndarray, tries: int, seed: int) -> Iterator[np.ndarray]:
    """Different configurations (nq,) within the joints' limits that meet the goal, found from `near` and from random
    starts, as they are found.
    """
    if not isinstance(goal.link, str) or goal.link not in model.frames:
        raise ProblemError(f"ToolGoal: there is no link '{goal.link}', expected one of {', '.join(model.frames)}")
    link = goal.link
    given: dict[str, Any] = {"position": _numbers("position", goal.position, 3), "near": near}
    if goal.rotation is not None:
        rotation = _numbers("rotation", goal.rotation, 9).reshape(3, 3)
        if abs(rotation.T @ rotation - np.eye(3)).max() > 1e-6 or np.linalg.det(rotation) < 0:
            raise ProblemError(f"ToolGoal: rotation of '{link}' is no rotation matrix, expected one (3, 3)")
        given["rotation"] = rotation.T.ravel()  # SX is read column after column
    room = length("ToolGoal: tolerance", goal.tolerance), length("ToolGoal: angle", goal.angle)
    solver = _solver(model, link, goal.rotation is not None, *room)
    rng = np.random.default_rng(seed)
    found: list[np.ndarray] = []
    for number in range(tries):
        start = near if number == 0 else model.random_configuration(rng)
        answer = solver.solve(guess={"q": start}, settings=Settings(tolerance=1e-8, iterations=60), **given)
        q = answer.q[-1]
        if answer.status == "solved" and all(abs(q - other).max() > APART for other in found):
            found.append(q)
            yield q


@lru_cache(maxsize=64)
def _solver(model: Model, link: str, turned: bool, tolerance: float, angle: float) -> Solver:
    ocp = Problem(steps=1, step=1.0, name="inverse kinematics")
    q = ocp.state("q", model.nq, lower=model.q_lower, upper=model.q_upper, on=model)
    ocp.next(q=q)
    near = ocp.parameter("near", model.nq)
    ocp.minimize(1e-3 * sumsqr(q - near), at="end")
    rotation = ocp.parameter("rotation", 9) if turned else None
    ocp.reach(link, ocp.parameter("position", 3), rotation, tolerance=tolerance, angle=angle)
    return ocp.build()


def _numbers(what: str, value: ArrayLike, size: int) -> np.ndarray:
    array = numbers(f"ToolGoal: {what}", value, f"{size} finite numbers").ravel()
    if array.size != size:
        raise ProblemError(f"ToolGoal: {what} is {said(value)}, expected {size} finite numbers")
    return array
