"""Many solves beyond one process: on anything with the interface of `concurrent.futures.Executor`.

Problems go out in chunks of about `CHUNK_SECONDS`, longer ones to hundreds of workers, by the time that solves took so
far; the first ones are small, and so are the last ones, so that workers end together. How many workers there are is
learnt from who answers: twice as many chunks are out, so that nobody waits. What fails is the `dispatcher`'s.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, overload

from numpy.typing import ArrayLike

from ...errors import ProblemError
from ...native.progress_bar import Progress
from ..answer.solution import Solution
from ..solve.settings import Settings
from .answers import Answers, Gathered
from .dispatcher import Broken, Dispatcher, Executors, takes_work
from .folder import Folder, batch_name
from .letterbox import Letterbox, take
from .rows import ProblemRows, rows_of
from .solutions import Solutions
from .threads import checked
from .threads import solve_many as solve_on_threads
from .worker import Chunk, Returned, keep, packed

if TYPE_CHECKING:
    from ..solve.solver import Solver

CHUNK_SECONDS, LEAST_SECONDS = 0.4, 0.05
MANY_WORKERS = 80  # from there on chunks grow: 200 a second are what a scheduler bears
FIRST_CHUNK = 2  # problems, while nothing is known of their time
FIRST_OUT = 4  # chunks, while nothing is known of the workers
NOWHERE = Letterbox("", 0)


@overload
def solve_many(
    solver: Solver,
    guess: Mapping[str, Any] | Sequence[Solution] | Solution | None = None,
    warm_start: Sequence[Solution] | Solution | None = None,
    start: Mapping[str, ArrayLike] | None = None,
    settings: Settings | None = None,
    threads: int | None = None,
    progress: bool = True,
    executor: Executors | None = None,
    resume: str | Path | None = None,
    as_completed: Literal[False] = False,
    **parameters: ArrayLike | Mapping[str, ArrayLike],
) -> Solutions: ...
@overload
def solve_many(
    solver: Solver,
    guess: Mapping[str, Any] | Sequence[Solution] | Solution | None = None,
    warm_start: Sequence[Solution] | Solution | None = None,
    start: Mapping[str, ArrayLike] | None = None,
    settings: Settings | None = None,
    threads: int | None = None,
    progress: bool = True,
    executor: Executors | None = None,
    resume: str | Path | None = None,
    *,
    as_completed: Literal[True],
    **parameters: ArrayLike | Mapping[str, ArrayLike],
) -> Iterator[tuple[range, Solutions]]: ...
def solve_many(
    solver: Solver,
    guess: Mapping[str, Any] | Sequence[Solution] | Solution | None = None,
    warm_start: Sequence[Solution] | Solution | None = None,
    start: Mapping[str, ArrayLike] | None = None,
    settings: Settings | None = None,
    threads: int | None = None,
    progress: bool = True,
    executor: Executors | None = None,
    resume: str | Path | None = None,
    as_completed: bool = False,
    **parameters: ArrayLike | Mapping[str, ArrayLike],
) -> Solutions | Iterator[tuple[range, Solutions]]:
    """`Solver.solve_many` on the workers of an executor: the same arguments, the same answers.

    executor: an Executor such as `ProcessPoolExecutor()`, Dask's `client.get_executor()`, `MPIPoolExecutor()`; Ray's
    `ray.util.multiprocessing.Pool()`; or a function that makes one, which is called again where workers that died took
    the whole executor with them (as those of a ProcessPoolExecutor do), and whose executors are shut down in the end.
    None: threads of this process.
    threads: of each worker, 1 if not said; without an executor all processors.
    resume: a folder in which answers are kept as they come. The same call with the same folder goes on where an earlier
    one ended, however it ended, and solves nothing twice.
    as_completed: give (numbers of the problems, their Solutions) as they come, in any order.

    solutions = ts.solve_many(solver, executor=ProcessPoolExecutor(), resume="sweep", goal=goals)
    """
    settings = checked(solver, settings, threads)
    if executor is not None and not (callable(executor) or takes_work(executor)):
        raise ProblemError(
            f"solve_many: executor is a {type(executor).__name__}, expected something with submit(...), such as a "
            "ProcessPoolExecutor, or a function that makes one"
        )
    if executor is None and resume is None and not as_completed:
        return solve_on_threads(solver, guess, warm_start, settings, start, threads, progress, parameters)
    rows = rows_of(solver.inputs, parameters, guess, warm_start, start)
    solver.limits.of_many(rows.shared, rows.stage_parameters)  # what is wrong with one of them is said here
    folder = None if resume is None else Folder(resume, solver, rows, settings)
    run = _Run(solver, rows, settings, threads, executor, folder)
    return run.completed(progress) if as_completed else run.all(progress)


@dataclass(eq=False)
class _Run:
    """One batch on its way."""

    solver: Solver
    rows: ProblemRows
    settings: Settings
    threads: int | None
    executor: Executors | None
    folder: Folder | None
    workers: set[tuple[str, int]] = field(default_factory=set)
    seconds: float = 0.0  # that solves took, of so many problems
    solved: int = 0
    box: Letterbox = NOWHERE

    def all(self, progress: bool) -> Solutions:
        begin = perf_counter()
        gathered = Gathered(self.solver.layout, self.rows.shared)
        try:
            for numbers, answers in self._answers(progress):
                gathered.put(numbers, answers)
        except KeyboardInterrupt:
            pass
        except Broken as error:
            warnings.warn(f"trisweep: {error}", RuntimeWarning, stacklevel=4)
        return self._solutions(gathered.all(), perf_counter() - begin)

    def completed(self, progress: bool) -> Iterator[tuple[range, Solutions]]:
        begin = perf_counter()
        for numbers, answers in self._answers(progress):
            yield numbers, self._solutions(answers, perf_counter() - begin)

    def _solutions(self, answers: Answers, seconds: float) -> Solutions:
        return Solutions(self.solver.layout, answers, self.settings.tolerance, seconds, self.solver)

    def _answers(self, progress: bool) -> Iterator[tuple[range, Answers]]:
        """The answers of chunks as they come."""
        left = [range(self.rows.count)]
        with Progress(f"solving {self.rows.count} problems", self.rows.count) as bar:
            for numbers, answers in self.folder.read() if self.folder is not None else ():
                left = _without(left, numbers)
                yield numbers, answers
            bar.finished = self.rows.count - sum(map(len, left))
            for numbers, answers in self._solve(left):
                if self.folder is not None:
                    self.folder.write(numbers, self._solutions(answers, 0.0))
                if progress:
                    bar.advance(len(numbers))
                yield numbers, answers

    def _solve(self, left: list[range]) -> Iterator[tuple[range, Answers]]:
        if not left:
            return
        hand = Dispatcher(self.executor)
        if self.executor is not None:
            self.box = Letterbox.new()
        name = batch_name(self.solver)
        keep(name, self.solver)
        ships: bytes | None = None
        try:
            while (left and not hand.broken) or hand.out:
                while left and not hand.broken and hand.out < self._most_out():
                    numbers = self._cut(left, hand.out)
                    hand.submit(numbers, self._chunk(numbers, name, None))
                numbers, outcome = hand.next()
                if not isinstance(outcome, BaseException) and outcome.file:
                    outcome = self._taken(numbers, outcome)
                if isinstance(outcome, BaseException):
                    left = hand.give_again(numbers, outcome, left)
                    continue
                self.workers.add(outcome.worker)
                if outcome.answers is None:
                    ships = packed(self.solver) if ships is None else ships
                    hand.submit(numbers, self._chunk(numbers, name, ships))
                else:
                    self.seconds += outcome.seconds
                    self.solved += len(numbers)
                    yield numbers, outcome.answers
        finally:
            hand.close()
            self.box.remove()
        if hand.broken:
            raise Broken(hand.broken)

    def _taken(self, numbers: range, outcome: Returned) -> Returned | BaseException:
        """With the answers out of their file; where that is not there, as if the chunk was lost."""
        try:
            answers = take(outcome.file, self.solver.layout, self.rows.part(numbers).shared)
        except (OSError, ValueError) as error:
            return error
        return replace(outcome, answers=answers)

    def _most_out(self) -> int:
        """How many chunks may be on their way: here one, of which nothing is lost."""
        return 1 if self.executor is None else 2 * len(self.workers) or FIRST_OUT

    def _cut(self, left: list[range], out: int) -> range:
        """The next chunk, taken from what is left."""
        count = FIRST_CHUNK
        if self.solved:
            rate = self.solved / max(self.seconds, 1e-9)
            seconds = CHUNK_SECONDS * max(1.0, len(self.workers) / MANY_WORKERS)
            count = min(int(seconds * rate), -(-sum(map(len, left)) // (out + 2)))
            count = max(count, int(LEAST_SECONDS * rate))
        numbers = left[0][: max(count, 1)]
        left[0] = left[0][len(numbers) :]
        if not left[0]:
            del left[0]
        return numbers

    def _chunk(self, numbers: range, name: str, ships: bytes | None) -> Chunk:
        threads = self.threads or (1 if self.executor is not None else os.cpu_count() or 1)
        return Chunk(numbers.start, self.rows.part(numbers), self.settings, threads, self.box, name, ships)


def _without(left: list[range], done: range) -> list[range]:
    """Ranges without the numbers of another."""
    parts = []
    for each in left:
        parts += [range(each.start, min(each.stop, done.start)), range(max(each.start, done.stop), each.stop)]
    return [part for part in parts if part]
