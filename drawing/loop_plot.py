"""The picture of a closed loop: states and controls over time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .figures import finish, new_figure, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..ocp.control.closed_loop import ClosedLoop


def plot(loop: ClosedLoop, path: str | Path | None = None, show: bool = False) -> Figure:
    """A row each; controls are steps."""
    names = [*loop.states, *loop.controls]
    figure = new_figure(show, (8.0, 1.0 + 2.0 * len(names)))
    for axes, name in zip(np.atleast_1d(figure.subplots(len(names), 1, sharex=True)), names):
        if name in loop.states:
            axes.plot(loop.times, loop.states[name])
        else:
            controls = loop.controls[name]
            axes.step(loop.times[: len(controls)], controls, where="post")
        style(axes, name, "time, s" if name == names[-1] else "")
    return finish(figure, path, show)
