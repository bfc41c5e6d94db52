"""What a controller did, cycle by cycle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class History:
    """Of every cycle: the seconds of `prepare` and `feedback` by the wall, iterations, the KKT error of the plan that
    it started from, whether the deadline was missed, and the status. limited: who says of every control in how many
    cycles it was at a limit.
    """

    def __init__(self, limited: Callable[[], dict[str, int]] = dict) -> None:
        self._limited = limited
        self._cycles: list[tuple[float, float, int, float, bool, str]] = []

    def add(self, prepare: float, feedback: float, iterations: int, error: float, late: bool, status: str) -> None:
        self._cycles.append((prepare, feedback, iterations, error, late, status))

    def _column(self, i: int, kind: type) -> np.ndarray:
        return np.array([cycle[i] for cycle in self._cycles], dtype=kind)

    def since(self, cycle: int) -> History:
        """Of the cycles from this one on."""
        later = History()
        later._cycles = self._cycles[cycle:]
        return later

    def __len__(self) -> int:
        return len(self._cycles)

    @property
    def prepare(self) -> np.ndarray:
        """Seconds before the measurement (cycles,)."""
        return self._column(0, float)

    @property
    def feedback(self) -> np.ndarray:
        """Seconds from the measurement to the command (cycles,)."""
        return self._column(1, float)

    @property
    def iterations(self) -> np.ndarray:
        return self._column(2, int)

    @property
    def error(self) -> np.ndarray:
        """The scaled KKT error of the plan that a cycle started from (cycles,)."""
        return self._column(3, float)

    @property
    def late(self) -> np.ndarray:
        return self._column(4, bool)

    @property
    def statuses(self) -> tuple[str, ...]:
        return tuple(cycle[5] for cycle in self._cycles)

    @property
    def limited(self) -> dict[str, int]:
        """Of every control by name: in how many cycles it was commanded at a limit, within 1e-3 of its range; of
        several entries, the one that was most often.
        """
        return self._limited()

    def __str__(self) -> str:
        if not len(self):
            return "no cycle yet"
        ended = ", ".join(f"{count} {word}" for word, count in Counter(self.statuses).most_common())
        lines = [
            f"{len(self)} cycles: {ended}; {self.late.sum()} late; {self.iterations.mean():.2f} iterations a cycle"
        ]
        for name, seconds in (("prepare", self.prepare), ("feedback", self.feedback)):
            middle, most, worst = (1e6 * np.percentile(seconds, share) for share in (50, 99.9, 100))
            lines.append(f"{name:8} {middle:9.1f} us at the median, {most:9.1f} at 99.9 %, {worst:9.1f} at most")
        at_limits = [f"'{name}' in {count} cycles" for name, count in self.limited.items() if count]
        return "\n".join([*lines, *([f"at limits: {', '.join(at_limits)}"] if at_limits else [])])

    def plot(self, path: str | Path | None = None, show: bool = False) -> Figure:
        """Histograms of the times, the iterations and the errors by status; written where a path is given."""
        from ...drawing.batch_plot import plot

        numbers = {
            "prepare, us": 1e6 * self.prepare,
            "feedback, us": 1e6 * self.feedback,
            "iterations": self.iterations.astype(float),
            "log10 of the error": np.log10(np.maximum(self.error, 1e-16)),
        }
        return plot(numbers, list(self.statuses), path, show)
