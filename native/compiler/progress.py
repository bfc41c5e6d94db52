"""A progress display for long builds: silent for the first seconds, and wherever there is no terminal."""

import sys
import time

PATIENCE = 2.0  # seconds


class BuildProgress:
    """Counts the parts of one build, on screen from `PATIENCE` seconds on."""

    def __init__(self, name: str, parts: int) -> None:
        self.name = name
        self.parts = parts
        self.finished = 0
        self._start = time.monotonic()
        self._display = None

    def __enter__(self) -> "BuildProgress":
        return self

    def __exit__(self, *_) -> None:
        if self._display is not None:
            self._display.stop()

    def advance(self) -> None:
        self.finished += 1
        if self._display is None and sys.stderr.isatty() and time.monotonic() - self._start > PATIENCE:
            self._open()
        if self._display is not None:
            self._display.update(self._task, completed=self.finished)

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import Progress

        self._display = Progress(console=Console(stderr=True), transient=True)
        self._task = self._display.add_task(f"compiling {self.name}", total=self.parts)
        self._display.start()
