"""What all pictures share: colours, a figure that opens a window only where asked, the look of axes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ProblemError
from ..whole_file import path_of, whole_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#5b4b9a", "#444444")


def new_figure(show: bool, size: tuple[float, float]) -> Figure:
    """A figure of a size in inches; only one to be shown is known to pyplot."""
    if show:
        import matplotlib.pyplot

        return matplotlib.pyplot.figure(figsize=size, layout="constrained")
    from matplotlib.figure import Figure

    return Figure(figsize=size, layout="constrained")


def check_ending(path: str | Path) -> Path:
    """The path of a picture, by an ending that there is."""
    from matplotlib.backend_bases import FigureCanvasBase

    path, known = path_of(path, "plot", ProblemError), FigureCanvasBase.get_supported_filetypes()
    if path.suffix[1:].lower() not in known:
        raise ProblemError(f"plot: '{path}' ends with '{path.suffix}', expected one of .{', .'.join(known)}")
    return path


def finish(figure: Figure, path: str | Path | None, show: bool) -> Figure:
    """Write it where a path is given, open a window where asked."""
    if path is not None:
        path = check_ending(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as unfinished:
            figure.savefig(unfinished, dpi=130)
    if show:
        import matplotlib.pyplot

        matplotlib.pyplot.show()
    return figure


def style(axes: Axes, title: str, label: str) -> None:
    """Title, label of the abscissa, a quiet grid."""
    axes.set_title(title, loc="left", fontsize=9)
    axes.set_xlabel(label, fontsize=8)
    axes.tick_params(labelsize=8)
    axes.grid(color="0.9", lw=0.7)
    axes.set_axisbelow(True)
    axes.margins(x=0.015)
    axes.spines[["top", "right"]].set_visible(False)
