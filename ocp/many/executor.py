"""Many solves beyond one process: on anything with the interface of `concurrent.futures.Executor`.

Problems go out in chunks of about `CHUNK_SECONDS`, by the time that solves took so far; the first ones are small, and
so are the last ones, so that workers end together. How many workers there are is learnt from who answers: twice as many
chunks are out, so that nobody waits. A chunk that fails or whose worker is lost goes out again; what failed `TRIES`
times is left, so that one problem that crashes its worker does not take the others with it.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, overload

from numpy.typing import ArrayLike

from ...errors import ProblemError
from ...native.progress_bar import Progress
from ..answer.solution import Solution
from ..solve.settings import Settings
from .answers import Answers, joined, not_begun
from .folder import Folder, batch_name
from .rows import Rows, rows_of
from .solutions import Solutions
from .threads import checked
from .worker import Chunk, Returned, keep, packed, work

if TYPE_CHECKING:
    from ..solve.solver import Solver

CHUNK_SECONDS, LEAST_SECONDS = 0.2, 0.02
FIRST_CHUNK = 2  # problems, while nothing is known of their time
FIRST_OUT = 4  # chunks, while nothing is known of the workers
TRIES = 4  # of a chunk

Executors = Executor | Callable[[], Executor]


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

    executor: an Executor such as `ProcessPoolExecutor()`, Dask's `client.get_executor()`, `MPIPoolExecutor()`; or a
    function that makes one, which is called again where workers that died took the whole executor with them (as those
    of a ProcessPoolExecutor do), and whose executors are shut down in the end. None: threads of this process.
    threads: of each worker, 1 if not said; without an executor all processors.
    resume: a folder in which answers are kept as they come. The same call with the same folder goes on where an earlier
    one ended, however it ended, and solves nothing twice.
    as_completed: give (numbers of the problems, their Solutions) as they come, in any order.

    solutions = ts.solve_many(solver, executor=ProcessPoolExecutor(), resume="sweep", goal=goals)
    """
    settings = checked(solver, settings, threads)
    if executor is not None and not callable(getattr(executor, "submit", executor)):
        raise ProblemError(
            f"solve_many: executor is a {type(executor).__name__}, expected something with submit(...), such as a "
            "ProcessPoolExecutor, or a function that makes one"
        )
    rows = rows_of(solver.inputs, parameters, guess, warm_start, start)
    solver.limits.of_many(rows.shared, rows.stage_parameters)  # what is wrong with one of them is said here
    folder = None if resume is None else Folder(resume, solver, rows, settings)
    run = _Run(solver, rows, settings, threads, executor, folder)
    return run.completed(progress) if as_completed else run.all(progress)


@dataclass(eq=False)
class _Run:
    """One batch on its way."""

    solver: Solver
    rows: Rows
    settings: Settings
    threads: int | None
    executor: Executors | None
    folder: Folder | None
    workers: set[tuple[str, int]] = field(default_factory=set)
    seconds: float = 0.0  # that solves took, of so many problems
    solved: int = 0

    def all(self, progress: bool) -> Solutions:
        begin = perf_counter()
        found: dict[int, Answers] = {}
        try:
            for numbers, answers in self._answers(progress):
                found[numbers.start] = answers
        except KeyboardInterrupt:
            pass
        except _Broken as error:
            warnings.warn(f"trisweep: {error}", RuntimeWarning, stacklevel=4)
        parts, at = [], 0
        for first, answers in sorted(found.items()):
            parts += [not_begun(self.solver.layout, self.rows.shared[at:first])] if first > at else []
            parts.append(answers)
            at = first + len(answers)
        if at < self.rows.count:
            parts.append(not_begun(self.solver.layout, self.rows.shared[at:]))
        return self._solutions(joined(parts), perf_counter() - begin)

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
        hand = _Hand(self.executor)
        name = batch_name(self.solver)
        keep(name, self.solver)
        ships: bytes | None = None
        try:
            while (left and not hand.broken) or hand.out:
                while left and not hand.broken and hand.out < (2 * len(self.workers) or FIRST_OUT):
                    numbers = self._cut(left, hand.out)
                    hand.submit(numbers, self._chunk(numbers, name, None))
                numbers, outcome = hand.next()
                if isinstance(outcome, BaseException):
                    left = hand.give_again(numbers, outcome, left)
                elif outcome.answers is None:
                    ships = packed(self.solver) if ships is None else ships
                    hand.submit(numbers, self._chunk(numbers, name, ships))
                else:
                    self.workers.add(outcome.worker)
                    self.seconds += outcome.seconds
                    self.solved += len(numbers)
                    yield numbers, outcome.answers
        finally:
            hand.close()
        if hand.broken:
            raise _Broken(hand.broken)

    def _cut(self, left: list[range], out: int) -> range:
        """The next chunk, taken from what is left."""
        count = FIRST_CHUNK
        if self.solved:
            rate = self.solved / max(self.seconds, 1e-9)
            count = min(int(CHUNK_SECONDS * rate), -(-sum(map(len, left)) // (out + 2)))
            count = max(count, int(LEAST_SECONDS * rate))
        numbers = left[0][: max(count, 1)]
        left[0] = left[0][len(numbers) :]
        if not left[0]:
            del left[0]
        return numbers

    def _chunk(self, numbers: range, name: str, ships: bytes | None) -> Chunk:
        threads = self.threads or (1 if self.executor is not None else os.cpu_count() or 1)
        return Chunk(numbers.start, self.rows.part(numbers), self.settings, threads, name, ships)


class _Broken(ProblemError):
    pass


class _Hand:
    """Gives chunks to an executor and takes what comes back."""

    def __init__(self, given: Executors | None):
        made = _Here if given is None else given
        self._make: Callable[[], Any] | None = made if isinstance(made, type) or not hasattr(made, "submit") else None
        self._executor: Any = made if self._make is None else self._make()
        if not hasattr(self._executor, "submit"):
            raise ProblemError(
                f"solve_many: executor gives a {type(self._executor).__name__}, expected one with submit(...)"
            )
        self._back: SimpleQueue[tuple[range, Future[Returned]]] = SimpleQueue()
        self._waited: dict[int, tuple[range, Future[Returned]]] = {}
        self._tries: dict[int, int] = {}
        self.broken = ""  # a sentence, where nothing more can be given
        self.answered = False  # whether a worker ever has

    @property
    def out(self) -> int:
        """How many chunks are on their way."""
        return len(self._waited)

    def submit(self, numbers: range, chunk: Chunk) -> None:
        try:
            future = self._executor.submit(work, chunk)
        except (BrokenExecutor, RuntimeError) as error:  # "cannot schedule new futures after shutdown" is the latter
            future = Future()
            future.set_exception(error)
        self._waited[numbers.start] = numbers, future
        future.add_done_callback(lambda done: self._back.put((numbers, done)))

    def next(self) -> tuple[range, Returned | BaseException]:
        """The next that comes back, and what it brings."""
        while True:
            numbers, future = self._back.get()
            waited = self._waited.get(numbers.start)
            if waited is not None and waited[1] is future:
                break
        del self._waited[numbers.start]
        if future.cancelled():
            return numbers, BrokenExecutor("the chunk was cancelled")
        error = future.exception()
        self.answered |= error is None
        return numbers, future.result() if error is None else error

    def give_again(self, numbers: range, error: BaseException, left: list[range]) -> list[range]:
        """What is left to do after a chunk failed."""
        tries = self._tries[numbers.start] = self._tries.get(numbers.start, 0) + 1
        if isinstance(error, BrokenExecutor) and self._make is None:
            self.broken = (
                f"solve_many: the executor is broken ({error}) and takes nothing more; what is left is not begun. Give "
                "a function that makes executors, executor=lambda: ProcessPoolExecutor(), and what is lost goes out "
                "again; resume= keeps what is solved"
            )
            return [numbers, *left]
        lost = [numbers]
        if tries >= TRIES:
            sentence = (
                f"solve_many: problems {numbers.start} to {numbers.stop - 1} failed {TRIES} times, the last time with "
                f"{type(error).__name__}: {error}"
            )
            if not self.answered:
                raise ProblemError(sentence) from error
            warnings.warn(f"trisweep: {sentence}; they are not begun", RuntimeWarning, stacklevel=6)
            lost = []
        if isinstance(error, BrokenExecutor) and self._make is not None:
            lost += [waiting for waiting, future in self._waited.values() if not _is_good(future)]
            for waiting in lost:
                self._waited.pop(waiting.start, None)
            self._shut()
            self._executor = self._make()
        return [*lost, *left]

    def close(self) -> None:
        """Take back what is on its way."""
        for _, future in self._waited.values():
            future.cancel()
        if self._make is not None:
            self._shut()

    def _shut(self) -> None:
        shutdown = getattr(self._executor, "shutdown", None)
        if shutdown is not None:
            shutdown(wait=False)


def _is_good(future: Future[Returned]) -> bool:
    return future.done() and not future.cancelled() and future.exception() is None


class _Here(Executor):
    """Workers that are this process: a chunk is solved where it is given."""

    def submit(self, work: Callable[..., Any], /, *given: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(work(*given, **named))
        except Exception as error:
            future.set_exception(error)
        return future


def _without(left: list[range], done: range) -> list[range]:
    """Ranges without the numbers of another."""
    parts = []
    for each in left:
        parts += [range(each.start, min(each.stop, done.start)), range(max(each.start, done.stop), each.stop)]
    return [part for part in parts if part]
