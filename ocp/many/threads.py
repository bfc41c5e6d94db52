"""Many solves on the threads of this machine: what `Solver.solve_many` does with the native back end."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from ...errors import ProblemError, said
from ...native.progress_bar import Progress
from ..answer.solution import Solution
from ..solve.native_backend import NativeBackend
from ..solve.settings import MOST_THREADS, Settings
from .answers import Answers, answers_of, room_for
from .rows import ProblemRows, rows_of
from .solutions import Solutions

if TYPE_CHECKING:
    from ..solve.solver import Solver


def solve_many(
    solver: Solver,
    guess: Mapping[str, Any] | Sequence[Solution] | Solution | None,
    warm_start: Sequence[Solution] | Solution | None,
    settings: Settings | None,
    start: Mapping[str, ArrayLike] | None,
    threads: int | None,
    progress: bool,
    parameters: Mapping[str, ArrayLike | Mapping[str, ArrayLike]],
) -> Solutions:
    """Every problem on the next thread that is free; see `Solver.solve_many`."""
    settings, begin = checked(solver, settings, threads), perf_counter()
    rows = rows_of(solver.inputs, parameters, guess, warm_start, start)
    with Progress(f"solving {rows.count} problems", rows.count) as bar:
        watcher = (lambda finished: bar.advance(finished - bar.finished)) if progress else None
        answers = solve_rows(solver, rows, settings, threads or os.cpu_count() or 1, watcher)
    return Solutions(solver.layout, answers, settings.tolerance, perf_counter() - begin, solver)


def checked(solver: Solver, settings: Settings | None, threads: int | None) -> Settings:
    """The settings, where all this can serve many solves."""
    from ..solve.solver import Solver

    settings = Settings() if settings is None else settings
    if not isinstance(solver, Solver):
        raise ProblemError(f"solve_many: solver is a {type(solver).__name__}, expected what build() gives")
    if not isinstance(solver.backend, NativeBackend):
        raise ProblemError("solve_many: this solver's back end solves one by one, expected build(backend='native')")
    if not isinstance(settings, Settings):
        raise ProblemError(f"solve_many: settings is {settings!r}, expected Settings(...)")
    if settings.portfolio:
        raise ProblemError("solve_many: Settings.portfolio is for one problem; of many, each has a thread already")
    if threads is not None and (type(threads) is not int or not 1 <= threads <= MOST_THREADS):
        expected = f"a whole number from 1 to {MOST_THREADS}, or None for all"
        raise ProblemError(f"solve_many: threads is {said(threads)}, expected {expected}")
    return settings


def solve_rows(
    solver: Solver, rows: ProblemRows, settings: Settings, threads: int, progress: Callable[[int], object] | None
) -> Answers:
    """The answers of some problems, on threads of this process."""
    backend = solver.backend
    assert isinstance(backend, NativeBackend)
    limits = solver.limits.of_many(rows.shared, rows.stage_parameters)
    into = room_for(solver.layout, rows.count)
    records = backend.run_many(rows, limits, settings, threads, progress, into)
    return answers_of(into, records, rows.shared)
