"""Two ways at once, for a hard problem and a second processor: the rules asked for on the caller's thread, others on
one of their own. Once a way has solved the problem the other one is ended; if both have, the first one's answer counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from threading import Event, Thread
from typing import Any

from ...errors import ProblemError
from ..answer.iteration import Iteration
from ..answer.status import Status
from .backend import Outcome, Request, Watcher
from .settings import Settings

PATIENT: dict[str, Any] = {"barrier": "monotone", "curvature": "shifted", "patience": 0}  # the rules that seldom fail
Way = Callable[[Request], Outcome]


class Both:
    """Two ways at work on one request, each on memory of its own. The caller sees the first one's iterations; what it
    says to end ends both. What either raises ends both too, and is passed on when they are at rest.
    """

    def __init__(self, request: Request):
        self.request = request
        self.decided = False  # they are to end; no Event, whose lock another thread may have at a fork
        self.second: Outcome | BaseException | None = None
        self.rested = Event()  # the second way

    def run(self, first_way: Way, second_way: Way) -> Outcome:
        """The outcome that counts."""
        request, first, interrupted = self.request, None, False
        thread = Thread(target=self.run_second, args=(second_way,))
        try:
            start(thread)
            first = first_way(replace(request, watcher=self.until_decided(request.watcher)))
        finally:
            if first is None or first.status in (Status.SOLVED, Status.INTERRUPTED):
                self.decided = True
            if thread.is_alive():  # it is not where a callback has forked, and this is the child
                interrupted = self.wait()
                thread.join()
        if isinstance(self.second, BaseException):
            raise self.second
        for outcome in (first, self.second):
            if outcome is not None and outcome.status is Status.SOLVED:
                return outcome
        return replace(first, status=Status.INTERRUPTED) if interrupted else first

    def run_second(self, way: Way) -> None:
        """The other rules, on a thread of their own."""
        request = self.request
        try:
            self.second = way(replace(request, settings=others(request.settings), watcher=self.until_decided(None)))
            if self.second.status is Status.SOLVED:
                self.decided = True
        except BaseException as error:
            self.second, self.decided = error, True
        self.rested.set()

    def wait(self) -> bool:
        """Wait for the second way, and say whether Ctrl-C came meanwhile. What a handler of signals raises asks for an
        end, and is passed on after it. (`Thread.join` takes a thread for ended where a handler raises.)
        """
        raised: BaseException | None = None
        while True:
            try:
                self.rested.wait()
                break
            except BaseException as error:
                raised, self.decided = error, True
        if raised is not None and not isinstance(raised, KeyboardInterrupt):
            raise raised
        return raised is not None

    def until_decided(self, watcher: Watcher | None) -> Watcher:
        """Looks on for another, and asks for an end where there is an answer."""

        def watch(iteration: Iteration) -> bool:
            return self.decided or (watcher is not None and watcher(iteration))

        return watch


def start(thread: Thread) -> None:
    """Have it run, or say that it cannot."""
    try:
        thread.start()
    except RuntimeError as error:
        raise ProblemError(
            f"solve: a portfolio takes a second thread, and the system has none to give ({error})"
        ) from None


def others(settings: Settings) -> Settings:
    """The patient rules; where those are the first ones, everybody's."""
    patient = replace(settings, **PATIENT)
    return (
        patient if patient != settings else replace(settings, **{name: getattr(Settings(), name) for name in PATIENT})
    )
