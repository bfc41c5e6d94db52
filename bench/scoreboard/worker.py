"""A process that solves what it is told to, and says what came of it; it may be killed or crash at any time."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from multiprocessing.connection import Connection
from typing import NamedTuple

import trisweep as ts
from suite import case
from suite.case import Case, Stated

from .judge import Judge
from .outcome import Outcome, Task

ROUNDS, QUICK = 3, 0.2  # a solve of fewer seconds than QUICK is timed as the best of so many


class Ready(NamedTuple):
    """A problem, built for one solver."""

    case: Case
    stated: Stated
    solver: ts.Solver
    judge: Judge


@lru_cache(maxsize=1)
def ready(problem: str, solver: str, seconds: float) -> Ready:
    one = case(problem)
    stated = one.build()
    built = stated.problem.build(backend=solver)
    return Ready(one, stated, built, Judge(built, seconds))


def run(connection: Connection, seconds: float, iterations: int) -> None:
    """Answer tasks until there are no more: (outcome, whether it is the last word on the task)."""
    settings = ts.Settings(seconds=seconds, iterations=iterations)
    while (task := connection.recv()) is not None:
        try:
            made = ready(task.problem, task.solver, seconds)
            outcome, solution = solve(made, task, settings)
        except Exception as error:  # whatever it is, the other tasks are to go on
            outcome, solution = Outcome(*task, "refused", remark=str(error)), None
        judged = solution is not None and outcome.status == "solved"
        connection.send((outcome, not judged))
        if judged:
            verdict = made.judge(solution)
            connection.send((replace(outcome, false=verdict.false, moved=verdict.moved), True))


def solve(made: Ready, task: Task, settings: ts.Settings) -> tuple[Outcome, ts.Solution]:
    """An instance, more often if it is quick."""
    guess, parameters = made.case.starts(task.instance, made.stated)
    solution = made.solver.solve(guess, settings=settings, **parameters)
    seconds = solution.statistics.seconds
    if seconds < QUICK:
        again = [made.solver.solve(guess, settings=settings, **parameters) for _ in range(ROUNDS - 1)]
        seconds = min(seconds, *(other.statistics.seconds for other in again))
    # A rival is held to its own word: what our back end doubts goes to the judge like everybody's answers.
    status = "solved" if task.solver != "native" and solution.doubt else solution.status
    published = made.case.published(task.instance)
    apart = None if published is None else abs(solution.objective - published) / max(1.0, abs(published))
    outcome = Outcome(
        *(*task, status),
        iterations=solution.statistics.iterations,
        seconds=seconds,
        objective=solution.objective,
        published=published,
        apart=apart,
        agrees=made.case.agrees(solution.objective, task.instance),
        remark=solution.doubt,
    )
    return outcome, solution
