"""A solution as a picture: states, controls and limits, what presses on a limit and when, how the solver got there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .figures import COLOURS, finish, new_figure, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..ocp.answer.phase_solution import PhaseSolution
    from ..ocp.answer.solution import Solution

ROOM = 0.35  # a limit is drawn if its entry comes as near as this share of the picture's range
ROWS = 14  # rows of the activity panel at most
RESIDUALS = {"violation": 2, "dual infeasibility": 3, "complementarity": 4, "barrier mu": 5}  # columns of the records


def plot(solution: Solution, path: str | Path | None = None, show: bool = False) -> Figure:
    """Draw, write where a path is given, open a window only where asked; returns the figure."""
    variables = _variables(solution)
    rows = (len(variables) + 1) // 2
    figure = new_figure(show, (11.0, 2.4 * rows + 3.2))
    grid = figure.add_gridspec(rows + 1, 2, height_ratios=[1.0] * rows + [1.2])
    first = None
    for i, (name, is_control) in enumerate(variables.items()):
        wide = i == len(variables) - 1 and i % 2 == 0
        axes = figure.add_subplot(grid[i // 2, :] if wide else grid[i // 2, i % 2], sharex=first)
        first = first or axes
        _draw_variable(axes, solution, name, is_control)
    _draw_activity(figure.add_subplot(grid[rows, 0], sharex=first), solution)
    _draw_convergence(figure.add_subplot(grid[rows, 1]), solution)
    s = solution.statistics
    what = f"{solution.status}, objective {solution.objective:.6g}, {s.iterations} iterations, {1e3 * s.seconds:.1f} ms"
    figure.suptitle(what, x=0.01, ha="left", fontsize=12, fontweight="bold")
    return finish(figure, path, show)


def _variables(solution: Solution) -> dict[str, bool]:
    """The names of states, then of controls, of all phases; whether each is a control."""
    phases = solution.layout.phases
    states = {v.name: False for phase in phases for v in phase.states[phase.free_duration :]}
    return {**states, **{v.name: True for phase in phases for v in phase.controls}}


def _draw_variable(axes: Axes, solution: Solution, name: str, is_control: bool) -> None:
    """One line an entry, phase by phase; controls, constant on a step, as stairs. Limits dashed, in the colour of their
    entry.
    """
    phases = [phase for phase in solution.phases.values() if name in phase.trajectories]
    values = [np.vstack([p[name], p[name][-1:]]) if is_control else p[name] for p in phases]
    low, high = min(float(v.min()) for v in values), max(float(v.max()) for v in values)
    room = ROOM * max(high - low, 1e-3 * max(abs(low), abs(high)), 1e-9)
    far, size = 0, max(v.shape[1] for v in values)
    for phase, lines in zip(phases, values):
        for i in range(lines.shape[1]):
            axes.plot(
                phase.times, lines[:, i], color=COLOURS[i % len(COLOURS)], lw=1.6,
                label=f"{i}" if size > 1 and phase is phases[0] else None,
                drawstyle="steps-post" if is_control else None,
            )  # fmt: skip
        far += _draw_limits(axes, phase, name, lines, room)
    style(axes, f"{'control' if is_control else 'state'} {name}", _time_label(solution))
    _draw_borders(axes, solution)
    if far:
        axes.set_title(f"{far} limits are farther away", loc="right", fontsize=7, color="0.5")
    if 1 < size <= len(COLOURS):
        axes.legend(ncols=1, fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=1.2)


def _draw_limits(axes: Axes, phase: PhaseSolution, name: str, lines: np.ndarray, room: float) -> int:
    """The limits near the lines, over the time of the phase; returns how many are not drawn."""
    manifold = next(v for v in [*phase.phase.states, *phase.phase.controls] if v.name == name).manifold
    limits = phase.limits[name]
    known = [
        (side[:, j], i)
        for side in (limits.lower, limits.upper)
        for i, j in zip(manifold.plain, manifold.plain_coordinates)
        if np.isfinite(side[:, j]).any()
    ]
    nearest, farthest = lines.min(axis=0) - room, lines.max(axis=0) + room
    seen = [(limit, i) for limit, i in known if ((nearest[i] <= limit) & (limit <= farthest[i])).any()]
    for limit, i in seen:
        dashed: dict[str, Any] = {"color": COLOURS[i % len(COLOURS)], "lw": 0.9, "ls": (0, (5, 3)), "alpha": 0.7}
        line = np.append(limit, limit[-1:])[: len(phase.times)]
        axes.plot(phase.times[np.isfinite(line)], line[np.isfinite(line)], **dashed)
    return len(known) - len(seen)


def _draw_borders(axes: Axes, solution: Solution) -> None:
    """A thin line where a phase begins."""
    for begin in {float(phase.times[0]) for phase in list(solution.phases.values())[1:]}:
        axes.axvline(begin, color="0.75", lw=0.8, zorder=0)


def _draw_activity(axes: Axes, solution: Solution) -> None:
    """A row for each limit that is pressed on, a cell a stage: red on the upper side, blue on the lower."""
    pressed = _pressed(solution)
    names = list(dict.fromkeys(name for _, name, _ in pressed))
    style(axes, "limits at work: upper red, lower blue, by multiplier", _time_label(solution))
    axes.grid(False)
    if not names:
        axes.text(0.5, 0.5, "no limit is at work", transform=axes.transAxes, ha="center", va="center", color="0.5")
        axes.set_yticks([])
        return
    for phase, name, line in pressed:
        times, row = phase.times, names.index(name)
        half = 0.5 * (times[1] - times[0])
        edges = np.append(times - half, times[-1] + half)
        axes.pcolormesh(edges, [row, row + 1], line[None], cmap="RdBu_r", vmin=-1, vmax=1, rasterized=True)
    axes.set_yticks(np.arange(len(names)) + 0.5, names, fontsize=7 if len(names) > 8 else 8)
    for row in range(1, len(names)):
        axes.axhline(row, color="0.85", lw=0.6)
    _draw_borders(axes, solution)
    axes.set_ylim(len(names), 0)


def _pressed(solution: Solution) -> list[tuple[PhaseSolution, str, np.ndarray]]:
    """Phase, name and multipliers (stages,), as roots of their share of the row's largest, of what is pressed on."""
    found = []
    for phase in solution.phases.values():
        here = [rows for rows in solution.layout.constraints if rows.phase == phase.index]
        loose = dict.fromkeys(rows.name for rows in here if rows.kind.has_limits)
        before = f"{phase.name}: " if len(solution.phases) > 1 else ""
        for name, c in [*phase.limits.items(), *((name, phase.constraints[name]) for name in loose)]:
            # At a solution either the multiplier or the distance is all but zero.
            distance = np.where(c.multipliers > 0, c.upper - c.values, c.values - c.lower)
            pressed = np.where((np.abs(c.multipliers) > distance) & (c.lower < c.upper), c.multipliers, 0.0)
            for row in range(pressed.shape[1]):
                strongest = float(np.abs(pressed[:, row]).max())
                if strongest > 0:
                    line = np.full(phase.phase.steps + 1, np.nan)
                    share = pressed[:, row] / strongest
                    line[c.stages] = np.sign(share) * np.sqrt(np.abs(share))
                    label = f"{before}{name} {row}" if pressed.shape[1] > 1 else f"{before}{name}"
                    found.append((strongest, phase, label, line))
    kept = {id(line) for *_, line in sorted(found, key=lambda each: -each[0])[:ROWS]}
    return [(phase, label, line) for _, phase, label, line in found if id(line) in kept]


def _draw_convergence(axes: Axes, solution: Solution) -> None:
    for (name, column), colour in zip(RESIDUALS.items(), COLOURS):
        numbers = np.array([record[column] for record in solution.records], dtype=float)
        barrier = column == RESIDUALS["barrier mu"]
        line: dict[str, Any] = {"lw": 1.0, "ls": ":"} if barrier else {"lw": 1.6, "marker": ".", "ms": 5}
        axes.plot(np.where(numbers > 0, numbers, np.nan), color="0.4" if barrier else colour, label=name, **line)
    axes.axhline(solution.tolerance, color="0.4", lw=0.9, ls=(0, (5, 3)))
    axes.set_yscale("log")
    axes.xaxis.get_major_locator().set_params(integer=True)  # type: ignore[call-arg]  # a MaxNLocator takes it
    style(axes, "convergence (dashed: tolerance)", "iteration")
    axes.legend(fontsize=7, framealpha=1, edgecolor="none", loc="best")


def _time_label(solution: Solution) -> str:
    stated = all(phase.step is not None or phase.free_duration for phase in solution.layout.phases)
    return "time [s]" if stated else "stage"
