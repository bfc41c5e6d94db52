"""A solution as a picture: states, controls and limits, what presses on a limit and when, how the solver got there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..dynamics.picture import COLOURS, finish, new_figure, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .layout import Column
    from .solution import Solution

ROOM = 0.35  # a limit is drawn if its entry comes as near as this share of the picture's range
ROWS = 14  # rows of the activity panel at most
RESIDUALS = {"violation": 2, "dual infeasibility": 3, "complementarity": 4, "barrier mu": 5}  # columns of the records


def plot(solution: Solution, path: str | Path | None = None, show: bool = False) -> Figure:
    """Draw, write where a path is given, open a window only where asked; returns the figure."""
    layout = solution.layout
    states = [column for column in layout.states if not (layout.free_duration and column.name == "duration")]
    variables = [*states, *layout.controls]
    rows = (len(variables) + 1) // 2
    figure = new_figure(show, (11.0, 2.4 * rows + 3.2))
    grid = figure.add_gridspec(rows + 1, 2, height_ratios=[1.0] * rows + [1.2])
    first = None
    for i, column in enumerate(variables):
        wide = i == len(variables) - 1 and i % 2 == 0
        axes = figure.add_subplot(grid[i // 2, :] if wide else grid[i // 2, i % 2], sharex=first)
        first = first or axes
        _draw_variable(axes, solution, column, is_control=column in layout.controls)
    _draw_activity(figure.add_subplot(grid[rows, 0], sharex=first), solution)
    _draw_convergence(figure.add_subplot(grid[rows, 1]), solution)
    s = solution.statistics
    what = f"{solution.status}, objective {solution.objective:.6g}, {s.iterations} iterations, {1e3 * s.seconds:.1f} ms"
    figure.suptitle(what, x=0.01, ha="left", fontsize=12, fontweight="bold")
    return finish(figure, path, show)


def _draw_variable(axes: Axes, solution: Solution, column: Column, is_control: bool) -> None:
    """One line an entry; controls, constant on a step, as stairs. Limits dashed, in the colour of their entry."""
    values, times = solution[column.name], solution.times
    if is_control:
        values = np.vstack([values, values[-1:]])
    low, high = float(values.min()), float(values.max())
    room = ROOM * max(high - low, 1e-3 * max(abs(low), abs(high)), 1e-9)
    nearest, farthest = values.min(axis=0) - room, values.max(axis=0) + room
    for i in range(column.size):
        colour = COLOURS[i % len(COLOURS)]
        label = f"{i}" if column.size > 1 else None
        axes.plot(
            times, values[:, i], color=colour, lw=1.6, label=label, drawstyle="steps-post" if is_control else None
        )
    limits = {(bound, i) for side in (column.lower, column.upper) for i, bound in enumerate(side) if np.isfinite(bound)}
    seen = [(bound, i) for bound, i in limits if nearest[i] <= bound <= farthest[i]]
    for bound, i in seen:
        axes.axhline(bound, color=COLOURS[i % len(COLOURS)], lw=0.9, ls=(0, (5, 3)), alpha=0.7)
    style(axes, f"{'control' if is_control else 'state'} {column.name}", _time_label(solution))
    if len(seen) < len(limits):
        axes.set_title(f"{len(limits) - len(seen)} limits are farther away", loc="right", fontsize=7, color="0.5")
    if 1 < column.size <= len(COLOURS):
        axes.legend(ncols=1, fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=1.2)


def _draw_activity(axes: Axes, solution: Solution) -> None:
    """A row for each limit that is pressed on, a cell a stage: red on the upper side, blue on the lower."""
    names, forces = _pressed(solution)
    style(axes, "limits at work: upper red, lower blue, by multiplier", _time_label(solution))
    axes.grid(False)
    if not names:
        axes.text(0.5, 0.5, "no limit is at work", transform=axes.transAxes, ha="center", va="center", color="0.5")
        axes.set_yticks([])
        return
    times = solution.times
    half = 0.5 * (times[1] - times[0])
    edges = np.append(times - half, times[-1] + half)
    axes.pcolormesh(edges, np.arange(len(names) + 1), forces, cmap="RdBu_r", vmin=-1, vmax=1, rasterized=True)
    axes.set_yticks(np.arange(len(names)) + 0.5, names, fontsize=7 if len(names) > 8 else 8)
    axes.hlines(np.arange(1, len(names)), edges[0], edges[-1], color="0.85", lw=0.6)
    axes.set_ylim(len(names), 0)


def _pressed(solution: Solution) -> tuple[list[str], np.ndarray]:
    """Names, and multipliers (rows, stages) as roots of their share of the row's largest."""
    layout = solution.layout
    stages, found = np.arange(layout.steps + 1), []
    loose = dict.fromkeys(piece.name for piece in layout.pieces if piece.kind == "inequality")
    for name, c in [*solution.limits.items(), *((name, solution.constraints[name]) for name in loose)]:
        # At a solution either the multiplier or the distance is all but zero.
        distance = np.where(c.multipliers > 0, c.upper - c.values, c.values - c.lower)
        pressed = np.where((np.abs(c.multipliers) > distance) & (c.lower < c.upper), c.multipliers, 0.0)
        for row in range(pressed.shape[1]):
            strongest = float(np.abs(pressed[:, row]).max())
            if strongest > 0:
                line = np.full(len(stages), np.nan)
                share = pressed[:, row] / strongest
                line[c.stages] = np.sign(share) * np.sqrt(np.abs(share))
                found.append((strongest, f"{name} {row}" if pressed.shape[1] > 1 else name, line))
    kept = {id(line) for _, _, line in sorted(found, key=lambda each: -each[0])[:ROWS]}
    shown = [(name, line) for _, name, line in found if id(line) in kept]
    return [name for name, _ in shown], np.array([line for _, line in shown])


def _draw_convergence(axes: Axes, solution: Solution) -> None:
    for (name, column), colour in zip(RESIDUALS.items(), COLOURS):
        numbers = np.array([record[column] for record in solution.records], dtype=float)
        barrier = column == RESIDUALS["barrier mu"]
        line = {"lw": 1.0, "ls": ":"} if barrier else {"lw": 1.6, "marker": ".", "ms": 5}
        axes.plot(np.where(numbers > 0, numbers, np.nan), color="0.4" if barrier else colour, label=name, **line)
    axes.axhline(solution.tolerance, color="0.4", lw=0.9, ls=(0, (5, 3)))
    axes.set_yscale("log")
    axes.xaxis.get_major_locator().set_params(integer=True)
    style(axes, "convergence (dashed: tolerance)", "iteration")
    axes.legend(fontsize=7, framealpha=1, edgecolor="none", loc="best")


def _time_label(solution: Solution) -> str:
    stated = solution.layout.step is not None or solution.layout.free_duration
    return "time [s]" if stated else "stage"
