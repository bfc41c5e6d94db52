"""How planning went on many problems: how many plans were there after how long, and how long the motions are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .figures import COLOURS, finish, new_figure, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot(
    sets: Mapping[str, tuple[int, np.ndarray, np.ndarray]],
    lengths: str,
    compared: bool = False,
    path: str | Path | None = None,
    show: bool = False,
) -> Figure:
    """Draw, write where a path is given, open a window only where asked; returns the figure.

    sets: how many problems there are, and of those that were solved seconds by the wall and lengths of the motions;
    lengths: what these are; compared: they are ratios to another way's.
    """
    figure = new_figure(show, (10.0, 3.6))
    left, right = figure.subplots(1, 2)
    for colour, (name, (count, seconds, durations)) in zip(COLOURS, sets.items()):
        share = 100 * np.arange(1, len(seconds) + 1) / count
        left.step(1e3 * np.sort(seconds), share, where="post", color=colour, label=name)
        right.step(np.sort(durations), share, where="post", color=colour)
    left.set_xscale("log")
    style(left, "plans that were found and passed, %", "ms by the wall")
    style(right, "motions, %", lengths)
    if compared:
        right.axvline(1.0, color="0.5", lw=0.8)
        right.set_xlim(0.5, 3.0)
    left.legend(fontsize=7, frameon=False)
    return finish(figure, path, show)
