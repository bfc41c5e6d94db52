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
from .backend import Outcome, Request, Watcher
from .settings import Settings

PATIENT: dict[str, Any] = {"barrier": "monotone", "curvature": "shifted", "patience": 0}  # the rules that seldom fail


def run_both(ways: Sequence[Callable[[Request], Outcome]], request: Request) -> Outcome:
    """What comes of a request, each way on memory of its own. The caller sees the first one's iterations; what it says
    to end ends both, and what it raises is passed on.
    """
    decided, found = Event(), list[Outcome]()

    def run_beside() -> None:
        found.append(ways[1](replace(request, settings=others(request.settings), watcher=until(decided, None))))
        if found[0].status == "solved":
            decided.set()

    thread = Thread(target=run_beside)
    try:
        thread.start()
    except RuntimeError as error:
        raise ProblemError(
            f"solve: a portfolio takes a second thread, and the system has none to give ({error})"
        ) from None
    first = None
    try:
        first = ways[0](replace(request, watcher=until(decided, request.watcher)))
    finally:
        if first is None or first.status in ("solved", "interrupted"):
            decided.set()
        thread.join()
    return first if first.status == "solved" or not found or found[0].status != "solved" else found[0]


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
