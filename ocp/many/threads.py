"""Many solves on the threads of this machine: what `Solver.solve_many` does with the native back end."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from ...errors import ProblemError
from ...native.progress_bar import Progress
from ..answer.solution import Solution
from ..answer.status import Status
from ..solve.backend import Request
from ..solve.kkt import SLACK
from ..solve.native_backend import NativeBackend
from ..solve.settings import Settings
from .rows import Rows, rows_of
from .solutions import Solutions

if TYPE_CHECKING:
    from ..solve.solver import Solver


def solve_many(
    solver: Solver,
    guess: Mapping[str, Any] | Sequence[Solution] | Solution | None,
    warm_start: Sequence[Solution] | Solution | None,
    settings: Settings | None,
    threads: int | None,
    progress: bool,
    parameters: Mapping[str, ArrayLike | Mapping[str, ArrayLike]],
) -> Solutions:
    """Every problem on the next thread that is free; see `Solver.solve_many`."""
    backend, settings = solver.backend, Settings() if settings is None else settings
    if not isinstance(backend, NativeBackend):
        raise ProblemError("solve_many: this solver's back end solves one by one, expected build(backend='native')")
    if not isinstance(settings, Settings):
        raise ProblemError(f"solve_many: settings is {settings!r}, expected Settings(...)")
    if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int) or threads < 1):
        raise ProblemError(f"solve_many: threads is {threads!r}, expected a whole number from 1 on, or None for all")
    limits = solver.limits.constant
    rows = rows_of(solver.inputs, parameters, guess, warm_start)
    begin = perf_counter()
    with Progress(f"solving {rows.count} problems", rows.count) as bar:
        watcher = (lambda finished: bar.advance(finished - bar.finished)) if progress else None
        results = backend.run_many(rows, limits, settings, threads or os.cpu_count() or 1, watcher)
    seconds = perf_counter() - begin
    return Solutions(
        layout=solver.layout,
        statuses=_judged(results, settings.tolerance),
        z=results.z(),
        stage_parameters=results.stage_parameters(),
        iterations=results.iterations(),
        seconds=results.seconds(),
        objectives=results.objectives(),
        residuals=results.residuals(),
        wall_seconds=seconds,
        solution=lambda i: _solution(solver, rows, settings, results[i], i),
    )


def _judged(results: Any, tolerance: float) -> tuple[Status, ...]:
    """The statuses; "solved" only where the judge agrees."""
    words = {status: Status.named(status.name.replace("_", " ")) for status in set(results.statuses())}
    doubted = ~(results.relative_residuals() <= SLACK * tolerance)
    return tuple(
        Status.STALLED if doubt and words[status] is Status.SOLVED else words[status]
        for status, doubt in zip(results.statuses(), doubted)
    )


def _solution(solver: Solver, rows: Rows, settings: Settings, result: Any, i: int) -> Solution:
    """The i-th answer as `solve` would have given it."""
    if not len(result.z):
        raise ProblemError(f"problem {i} was not begun: the batch was interrupted")
    backend = solver.backend
    assert isinstance(backend, NativeBackend)
    start = rows.row(i)
    request = Request(start, rows.y is not None, solver.limits.constant, settings, None)
    return solver.solution(request, backend.outcome(result, start))
