"""Processes that work through tasks; one that hangs is killed, one that crashes is replaced, and the rest goes on."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from multiprocessing import get_context
from multiprocessing.connection import wait
from time import monotonic

from .outcome import Outcome, Task
from .worker import run

SPAWN = get_context("spawn")
BUILD, GRACE = 120.0, 10.0  # seconds that a build, and whatever is not a solve, may take


class Worker:
    """A process and the tasks it is to do one after another, all of one problem by one solver."""

    def __init__(self, seconds: float, iterations: int):
        self.seconds, self.iterations = seconds, iterations
        self.tasks: deque[Task] = deque()
        self.half: Outcome | None = None
        self.start()

    def start(self) -> None:
        self.connection, theirs = SPAWN.Pipe()
        self.process = SPAWN.Process(target=run, args=(theirs, self.seconds, self.iterations), daemon=True)
        self.process.start()
        theirs.close()

    def give(self, tasks: Iterable[Task]) -> None:
        self.tasks.extend(tasks)
        self._next(BUILD)

    def _next(self, more: float = 0.0) -> None:
        """Send the next task, if any; a process that has just begun has the problem still to build."""
        self.half, self.deadline = None, monotonic() + self.seconds + GRACE + more
        if self.tasks:
            self.connection.send(self.tasks[0])

    def hear(self) -> Outcome | None:
        """What the process says, once it is the last word on a task."""
        try:
            outcome, last = self.connection.recv()
        except (EOFError, OSError):
            return self._lost("crashed")
        self.half, self.deadline = outcome, monotonic() + self.seconds + GRACE + BUILD
        if not last:
            return None
        self.tasks.popleft()
        self._next()
        return outcome

    def overdue(self) -> Outcome | None:
        """The task is given up where its time is over."""
        return self._lost("killed") if self.tasks and monotonic() > self.deadline else None

    def _lost(self, status: str) -> Outcome:
        """The process is replaced. An outcome that was not judged yet stays, without a verdict."""
        self.stop()
        task, half = self.tasks.popleft(), self.half
        self.start()
        self._next(BUILD)
        if half is not None:
            return replace(half, remark=f"the judge {'crashed' if status == 'crashed' else 'did not end'}")
        return Outcome(*task, status)

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()


def outcomes(jobs: Iterable[list[Task]], processes: int, seconds: float, iterations: int) -> Iterator[Outcome]:
    """What comes of every task; a job is tasks of one problem by one solver."""
    waiting = deque(job for job in jobs if job)
    workers = [Worker(seconds, iterations) for _ in range(min(processes, len(waiting)))]
    try:
        while waiting or any(worker.tasks for worker in workers):
            for worker in workers:
                if not worker.tasks and waiting:
                    worker.give(waiting.popleft())
            heard = wait([worker.connection for worker in workers if worker.tasks], timeout=1.0)
            for worker in workers:
                found = worker.hear() if worker.connection in heard else worker.overdue()
                if found is not None:
                    yield found
    finally:
        for worker in workers:
            worker.stop()
