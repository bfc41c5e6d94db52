"""Gives chunks to an executor and takes what comes back.

A chunk that fails, or whose worker is lost, goes out again; what failed `TRIES` times is left, so that one problem that
crashes its worker does not take the others with it. Some executors are broken as a whole when a worker dies: where they
came from a function that makes them, it makes another one.
"""

from __future__ import annotations

import multiprocessing.pool
import warnings
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future
from queue import SimpleQueue
from typing import Any, Protocol

from ...errors import ProblemError
from .worker import Chunk, Returned, work

TRIES = 4  # of a chunk


class Pool(Protocol):
    """What Ray's `ray.util.multiprocessing.Pool` has; the pool of Python's own would do, did it tell of its losses."""

    def apply_async(self, func: Any, args: Any, kwds: Any, callback: Any, error_callback: Any, /) -> Any: ...


Executors = Executor | Pool | Callable[[], Executor | Pool]


class Broken(ProblemError):
    """The executor takes nothing more, and nobody can make another one."""


class Dispatcher:
    """Gives chunks to an executor and takes what comes back."""

    def __init__(self, given: Executors | None):
        made: Any = Here if given is None else given
        self._make: Callable[[], Any] | None = made if isinstance(made, type) or not takes_work(made) else None
        self._executor = _with_submit(made if self._make is None else self._make())
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
        """Give a chunk out."""
        try:
            future = self._executor.submit(work, chunk)
        except RuntimeError as error:  # broken, or "cannot schedule new futures after shutdown"
            future = Future()
            future.set_exception(BrokenExecutor(str(error)))
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
            return numbers, RuntimeError("the chunk was cancelled")
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
            self._executor = _with_submit(self._make())
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


def takes_work(given: Any) -> bool:
    """Whether something is an executor or a pool."""
    return hasattr(given, "submit") or hasattr(given, "apply_async")


def _with_submit(given: Any) -> Any:
    """An executor, or a pool as one."""
    if not takes_work(given):
        raise ProblemError(f"solve_many: executor gives a {type(given).__name__}, expected one with submit(...)")
    if isinstance(given, multiprocessing.pool.Pool):
        raise ProblemError(
            "solve_many: executor is a multiprocessing.Pool, which never tells that a worker has died, expected a "
            "concurrent.futures.ProcessPoolExecutor"
        )
    return given if hasattr(given, "submit") else OfPool(given)


def _is_good(future: Future[Returned]) -> bool:
    return future.done() and not future.cancelled() and future.exception() is None


class OfPool(Executor):
    """A pool with the interface of `multiprocessing.Pool`, such as Ray's."""

    def __init__(self, pool: Any):
        self._pool = pool

    def submit(self, work: Callable[..., Any], /, *given: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            self._pool.apply_async(work, given, named, future.set_result, future.set_exception)
        except ValueError as error:  # "Pool not running"
            raise RuntimeError(str(error)) from error
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._pool.terminate()


class Here(Executor):
    """Workers that are this process: a chunk is solved where it is given."""

    def submit(self, work: Callable[..., Any], /, *given: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(work(*given, **named))
        except Exception as error:
            future.set_exception(error)
        return future
