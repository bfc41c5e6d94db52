"""How planning went on many problems: how many plans were there after how long, and how long the motions are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .figures import COLOURS, finish, new_figure, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..problems.planning.board import Entry


def plot(entries: list[Entry], path: str | Path | None = None, show: bool = False) -> Figure:
    """Draw, write where a path is given, open a window only where asked; returns the figure."""
    figure = new_figure(show, (10.0, 3.6))
    left, right = figure.subplots(1, 2)
    compared = any(np.isfinite(entry.rival) for entry in entries)
    for colour, name in zip(COLOURS, dict.fromkeys(entry.set for entry in entries)):
        of_set = [entry for entry in entries if entry.set == name]
        solved = [entry for entry in of_set if entry.solved]
        share = 100 * np.arange(1, len(solved) + 1) / len(of_set)
        left.step(sorted(1e3 * entry.seconds for entry in solved), share, where="post", color=colour, label=name)
        lengths = [entry.rival / entry.duration if compared else entry.duration for entry in solved]
        right.step(sorted(lengths), share, where="post", color=colour)
    left.set_xscale("log")
    style(left, "plans that were found and passed, %", "ms by the wall")
    style(right, "motions, %", "the rival's duration / ours" if compared else "duration, s")
    if compared:
        right.axvline(1.0, color="0.5", lw=0.8)
        right.set_xlim(0.5, 3.0)
    left.legend(fontsize=7, frameon=False)
    return finish(figure, path, show)
