"""Numbers of many solves as histograms, one a kind of number, stacked by how the solves ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .figures import COLOURS, finish, new_figure, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BARS = 40


def plot(
    numbers: Mapping[str, np.ndarray], statuses: Sequence[str], path: str | Path | None = None, show: bool = False
) -> Figure:
    """Draw, write where a path is given, open a window only where asked; returns the figure."""
    figure = new_figure(show, (5.0 * len(numbers), 3.4))
    kinds, ended = [word for word, _ in Counter(statuses).most_common()], np.array(statuses)
    for axes, (label, values) in zip(figure.subplots(1, len(numbers), squeeze=False)[0], numbers.items()):
        parts = [values[ended == kind] for kind in kinds]
        axes.hist(
            parts, bins=BARS, stacked=True, color=[COLOURS[i % len(COLOURS)] for i in range(len(kinds))], label=kinds
        )
        style(axes, f"{len(values)} problems, median {np.median(values):.3g}", label)
        axes.legend(fontsize=7, frameon=False)
    return finish(figure, path, show)
