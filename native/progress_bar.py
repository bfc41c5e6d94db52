"""A progress display for what may take long: silent for the first seconds, and wherever there is no terminal.

What goes on inside something that is shown is a line of the same display.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from rich.progress import Progress as Display
    from rich.progress import TaskID

PATIENCE = 2.0  # seconds


class Progress:
    """Counts the parts of what is done, on screen from `PATIENCE` seconds on. `begin(what)` says what is done now."""

    _going_on: ClassVar[list[Progress]] = []  # the first one longest
    _display: ClassVar[Display | None] = None

    def __init__(self, what: str, parts: int) -> None:
        self.what = what
        self.parts = parts
        self.finished = 0
        self._start = time.monotonic()
        self._task: TaskID | None = None

    def __enter__(self) -> Progress:
        self._going_on.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._going_on.remove(self)
        display = Progress._display
        if display is not None and self._task is not None:
            display.remove_task(self._task)
        if display is not None and not self._going_on:
            Progress._display = None
            display.stop()

    def begin(self, what: str) -> None:
        """The next part, by its name."""
        self.what = what
        self._show()

    def advance(self, parts: int = 1) -> None:
        self.finished += parts
        self._show()

    def _show(self) -> None:
        if Progress._display is None:
            first = self._going_on[0] if self._going_on else self
            if not _on_a_terminal() or time.monotonic() - first._start <= PATIENCE:
                return
            Progress._display = _opened()
        display = Progress._display
        for each in [*self._going_on]:
            if each._task is None:
                each._task = display.add_task(each.what, total=each.parts)
            display.update(each._task, description=each.what, completed=each.finished)


def _on_a_terminal() -> bool:
    """False too where the standard error is closed, or none, as a service's may be."""
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):
        return False


def _opened() -> Display:
    from rich.console import Console
    from rich.progress import Progress as Display

    display = Display(console=Console(stderr=True), transient=True)
    display.start()
    return display
