"""A progress display for what may take long: silent for the first seconds, and wherever there is no terminal."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Display

PATIENCE = 2.0  # seconds


class Progress:
    """Counts the parts of what is done, on screen from `PATIENCE` seconds on."""

    def __init__(self, what: str, parts: int) -> None:
        self.what = what
        self.parts = parts
        self.finished = 0
        self._start = time.monotonic()
        self._display: Display | None = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._display is not None:
            self._display.stop()

    def advance(self, parts: int = 1) -> None:
        self.finished += parts
        if self._display is None and sys.stderr.isatty() and time.monotonic() - self._start > PATIENCE:
            self._open()
        if self._display is not None:
            self._display.update(self._task, completed=self.finished)

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import Progress as Display

        self._display = Display(console=Console(stderr=True), transient=True)
        self._task = self._display.add_task(self.what, total=self.parts)
        self._display.start()
