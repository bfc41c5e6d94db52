"""Configurations that bring a link where it is wanted: a problem of one stage for the interior point, from many starts.

The cost is the way from a configuration that is preferred, such as the start of a motion; the rows are those of
`Problem.reach`. Places, rotations and tolerances are parameters: one build serves all goals of a kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
from casadi import sumsqr

from ...dynamics import Model
from ...ocp import Problem, Settings, Solutions
from ...ocp.solve.solver import Solver
from .goals import FilledToolGoal, GoalKind

APART = 1e-3  # rad: nearer configurations are the same solution
TRIES = 12, 100  # starts, and where these will not do
SETTINGS = Settings(tolerance=1e-8, iterations=60)


def configurations(
    model: Model, goals: Sequence[FilledToolGoal], near: np.ndarray, seed: int, threads: int | None = None
) -> Iterator[list[np.ndarray]]:
    """Different configurations (nq,) within the joints' limits that meet all goals: some that are near to `near`, found
    from there and from random starts; then, for whom none of these will do, those near to many random ones.
    """
    rng = np.random.default_rng(seed)
    starts = np.array([near, *(model.random_configuration(rng) for _ in range(TRIES[0] - 1))])
    yield _apart(_solved(model, goals, starts, np.tile(near, (len(starts), 1)), threads))
    starts = np.array([model.random_configuration(rng) for _ in range(TRIES[1])])
    yield _apart(_solved(model, goals, starts, starts, threads))


def _apart(answers: Solutions) -> list[np.ndarray]:
    """The different ones of what was solved."""
    found: list[np.ndarray] = []
    for q, solved in zip(answers.q[:, -1], answers.solved):
        if solved and all(abs(q - other).max() > APART for other in found):
            found.append(q)
    return found


def brought(model: Model, goals: Sequence[FilledToolGoal], q: np.ndarray, threads: int | None = None) -> np.ndarray:
    """Configurations (count, nq), each moved to the nearest that meets all goals; left where none was found."""
    answers = _solved(model, goals, q, q, threads)
    return np.where(answers.solved[:, None], answers.q[:, -1], q)


def _solved(
    model: Model, goals: Sequence[FilledToolGoal], starts: np.ndarray, near: np.ndarray, threads: int | None
) -> Solutions:
    values = {name: value for k, goal in enumerate(goals) for name, value in goal.values(f"goal_{k}").items()}
    solver = _solver(model, tuple(goal.kind for goal in goals))
    return solver.solve_many(
        {"q": starts[:, None]}, settings=SETTINGS, threads=threads, progress=False, near=near, **values
    )


@lru_cache(maxsize=64)
def _solver(model: Model, kinds: tuple[GoalKind, ...]) -> Solver:
    ocp = Problem(steps=1, step=1.0, name="inverse kinematics")
    q = ocp.state("q", model.nq, lower=model.q_lower, upper=model.q_upper, on=model)
    ocp.next(q=q)
    near = ocp.parameter("near", model.nq)
    ocp.minimize(1e-3 * sumsqr(q - near), at="end")
    for k, kind in enumerate(kinds):
        kind.state(ocp, f"goal_{k}", "end")
    return ocp.build()
