"""What a controller did, cycle by cycle."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIRST_ROOM = 1024


class History:
    """Of every cycle: the seconds of `prepare` and `feedback` by the wall, iterations, the KKT error of the plan that
    it started from, whether the deadline was missed, and the status.
    """

    def __init__(self) -> None:
        self._numbers = np.zeros((FIRST_ROOM, 5))
        self._statuses: list[str] = []

    def add(self, prepare: float, feedback: float, iterations: int, error: float, late: bool, status: str) -> None:
        count = len(self._statuses)
        if count == len(self._numbers):
            self._numbers = np.concatenate([self._numbers, np.zeros((max(count, FIRST_ROOM), 5))])
        self._numbers[count] = prepare, feedback, iterations, error, late
        self._statuses.append(status)

    def since(self, cycle: int) -> History:
        """Of the cycles from this one on."""
        later = History()
        later._numbers, later._statuses = self._numbers[cycle : len(self)].copy(), self._statuses[cycle:]
        return later

    def __len__(self) -> int:
        return len(self._statuses)

    @property
    def prepare(self) -> np.ndarray:
        """Seconds before the measurement (cycles,)."""
        return self._numbers[: len(self), 0]

    @property
    def feedback(self) -> np.ndarray:
        """Seconds from the measurement to the command (cycles,)."""
        return self._numbers[: len(self), 1]

    @property
    def iterations(self) -> np.ndarray:
        return self._numbers[: len(self), 2].astype(int)

    @property
    def error(self) -> np.ndarray:
        """The scaled KKT error of the plan that a cycle started from (cycles,)."""
        return self._numbers[: len(self), 3]

    @property
    def late(self) -> np.ndarray:
        return self._numbers[: len(self), 4].astype(bool)

    @property
    def statuses(self) -> tuple[str, ...]:
        return tuple(self._statuses)

    def __str__(self) -> str:
        if not len(self):
            return "no cycle yet"
        ended = ", ".join(f"{count} {word}" for word, count in Counter(self._statuses).most_common())
        lines = [
            f"{len(self)} cycles: {ended}; {self.late.sum()} late; {self.iterations.mean():.2f} iterations a cycle"
        ]
        for name, seconds in (("prepare", self.prepare), ("feedback", self.feedback)):
            middle, most, worst = (1e6 * np.percentile(seconds, share) for share in (50, 99.9, 100))
            lines.append(f"{name:8} {middle:9.1f} us at the median, {most:9.1f} at 99.9 %, {worst:9.1f} at most")
        return "\n".join(lines)

    def plot(self, path: str | Path | None = None, show: bool = False) -> Figure:
        """Histograms of the times, the iterations and the errors by status; written where a path is given."""
        from ...drawing.batch_plot import plot

        numbers = {
            "prepare, us": 1e6 * self.prepare,
            "feedback, us": 1e6 * self.feedback,
            "iterations": self.iterations.astype(float),
            "log10 of the error": np.log10(np.maximum(self.error, 1e-16)),
        }
        return plot(numbers, self._statuses, path, show)
