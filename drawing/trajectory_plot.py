"""A trajectory as a picture: coordinates, velocities, energy, and how far constraints drifted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .figures import COLOURS, finish, new_figure, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..dynamics.simulation.trajectory import Trajectory

POINTS = 2000  # of a line, at most
LEGEND = 10  # lines with a legend, at most


def plot(trajectory: Trajectory, path: str | Path | None = None, show: bool = False) -> Figure:
    """Draw, write where a path is given, open a window only where asked; returns the figure."""
    figure = new_figure(show, (11.0, 6.4))
    axes = figure.subplots(2, 2, sharex=True)
    _lines(axes[0, 0], trajectory, trajectory.q, "coordinates q")
    _lines(axes[0, 1], trajectory, trajectory.v, "velocities v, rad/s or m/s")
    _draw_energy(axes[1, 0], trajectory)
    _draw_drift(axes[1, 1], trajectory)
    figure.suptitle(str(trajectory).split("\n")[0], x=0.01, ha="left", fontsize=12, fontweight="bold")
    return finish(figure, path, show)


def _lines(axes: Axes, trajectory: Trajectory, values: np.ndarray, title: str) -> None:
    shown = _shown(len(values))
    for i, line in enumerate(values.T):
        axes.plot(trajectory.times[shown], line[shown], color=COLOURS[i % len(COLOURS)], lw=1.3, label=f"{i}")
    style(axes, title, "time [s]")
    if 1 < values.shape[1] <= LEGEND:
        axes.legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=1.2)


def _draw_energy(axes: Axes, trajectory: Trajectory) -> None:
    """What the energy gained beyond the work of the joint forces."""
    shown = _shown(len(trajectory.times))
    gained = trajectory.energy - trajectory.energy[0]
    axes.plot(trajectory.times[shown], gained[shown], color=COLOURS[0], lw=1.3, label="energy gained")
    if trajectory.tau.any():
        axes.plot(trajectory.times[shown], trajectory.work[shown], color=COLOURS[1], lw=1.0, ls="--", label="work done")
        axes.legend(fontsize=7, frameon=False)
    style(axes, f"energy gained, J (at the start {trajectory.energy[0]:.6g} J)", "time [s]")


def _draw_drift(axes: Axes, trajectory: Trajectory) -> None:
    """A solid line for each constraint's position, a dotted one for its rotation."""
    shown = _shown(len(trajectory.times))
    for k, row in enumerate(trajectory.constraints):
        name = row.link if row.other is None else f"{row.link} - {row.other}"
        colour = COLOURS[k % len(COLOURS)]
        for values, line, label in zip(trajectory.drift, ("-", ":"), (name, None)):
            if np.nanmax(values[:, k], initial=0.0) > 0:
                positive = np.where(values[shown, k] > 0, values[shown, k], np.nan)
                axes.plot(trajectory.times[shown], positive, color=colour, lw=1.2, ls=line, label=label)
    style(axes, "drift of the constraints, m (dotted: rad)", "time [s]")
    if axes.lines:
        axes.set_yscale("log")
        if len(trajectory.constraints) <= LEGEND:
            axes.legend(fontsize=7, frameon=False)
    else:
        axes.text(0.5, 0.5, "nothing to drift", transform=axes.transAxes, ha="center", va="center", color="0.5")


def _shown(count: int) -> np.ndarray:
    """Indices of the points to draw."""
    return np.unique(np.linspace(0, count - 1, min(count, POINTS)).astype(int))
