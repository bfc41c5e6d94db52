"""Two ways at once, for a hard problem and a second processor: the rules asked for on the caller's thread, others on
one of their own. Once a way has solved the problem the other one is ended; if both have, the first one's answer counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import Event, Thread
from typing import Any

from ...errors import ProblemError
from ..answer.iteration import Iteration
from ..answer.status import Status
from .backend import Outcome, Request, Watcher
from .settings import Settings

PATIENT: dict[str, Any] = {"barrier": "monotone", "curvature": "shifted", "patience": 0}  # the rules that seldom fail


def run_both(ways: Sequence[Callable[[Request], Outcome]], request: Request) -> Outcome:
    """What comes of a request, each way on memory of its own. The caller sees the first one's iterations; what it says
    to end ends both. What either raises ends both too, and is passed on when they are at rest.
    """
    decided, rested, found = Event(), Event(), list[Outcome | BaseException]()

    def run_beside() -> None:
        try:
            found.append(ways[1](replace(request, settings=others(request.settings), watcher=until(decided, None))))
        except BaseException as error:
            found.append(error)
        if isinstance(found[0], BaseException) or found[0].status is Status.SOLVED:
            decided.set()
        rested.set()

    thread = Thread(target=run_beside)
    first, interrupted = None, False
    try:
        start(thread)
        first = ways[0](replace(request, watcher=until(decided, request.watcher)))
    finally:
        if first is None or first.status in (Status.SOLVED, Status.INTERRUPTED):
            decided.set()
        if thread.ident is not None:
            interrupted = wait(rested, decided)
            thread.join()
    second = found[0]
    if isinstance(second, BaseException):
        raise second
    if Status.SOLVED in (first.status, second.status):
        return first if first.status is Status.SOLVED else second
    return replace(first, status=Status.INTERRUPTED) if interrupted else first


def start(thread: Thread) -> None:
    """Have it run, or say that it cannot."""
    try:
        thread.start()
    except RuntimeError as error:
        raise ProblemError(
            f"solve: a portfolio takes a second thread, and the system has none to give ({error})"
        ) from None


def wait(rested: Event, decided: Event) -> bool:
    """Wait for the other way, and say whether Ctrl-C came meanwhile. What a handler of signals raises asks for an end,
    and is passed on after it. (`Thread.join` takes a thread for ended where a handler raises.)
    """
    raised: BaseException | None = None
    while True:
        try:
            rested.wait()
            break
        except BaseException as error:
            decided.set()
            raised = error
    if raised is not None and not isinstance(raised, KeyboardInterrupt):
        raise raised
    return raised is not None


def others(settings: Settings) -> Settings:
    """The patient rules; where those are the first ones, everybody's."""
    patient = replace(settings, **PATIENT)
    return (
        patient if patient != settings else replace(settings, **{name: getattr(Settings(), name) for name in PATIENT})
    )


def until(decided: Event, watcher: Watcher | None) -> Watcher:
    """Looks on for another, and asks for an end where there is an answer."""

    def watch(iteration: Iteration) -> bool:
        return decided.is_set() or (watcher is not None and watcher(iteration))

    return watch
