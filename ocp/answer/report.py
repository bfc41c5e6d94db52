"""A solution in words: a few lines of verdict, and the table of iterations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from .diagnosis import violations
from .iteration import Iteration

if TYPE_CHECKING:
    from .solution import Solution

NOTHING = 1e-7  # of a soft limit's excess
SHOWN = 3  # constraints at fault named in the verdict
HEADINGS = {
    "iter": 4, "objective": 13, "violat.": 7, "dual": 7, "compl.": 7, "mu": 7, "|step|": 7, "regul.": 7, "alpha": 7,
    "kind": 4,
}  # and the widths of their columns, 80 in all with the spaces between them  # fmt: skip


def report(solution: Solution) -> str:
    """The verdict, line by line."""
    s, residual = solution.statistics, solution.residual
    parts = zip((s.seconds_functions, s.seconds_linear, s.seconds_rest), ("functions", "linear algebra", "rest"))
    split = ", ".join(f"{name} {1e3 * seconds:.2f}" for seconds, name in parts)
    primal = max(residual.dynamics, residual.equalities, residual.inequalities, residual.bounds)
    lines = [
        f"{solution.status}: {s.iterations} iterations in {1e3 * s.seconds:.2f} ms ({split})",
        f"  objective    {solution.objective:.10g}",
        f"  residuals    stationarity {residual.stationarity:.1e}, constraints {primal:.1e}, "
        f"complementarity {residual.complementarity:.1e}",
        *_constraint_lines(solution),
        *_soft_lines(solution),
    ]
    if solution.fault:
        lines.append(f"  not finite   {solution.fault}")
    if solution.advice:
        lines.append(f"  try          {solution.advice}")
    return "\n".join(lines)


def _constraint_lines(solution: Solution) -> list[str]:
    found = solution.violations
    if found:
        more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
        lines = [f"  violated     {', '.join(map(str, found[:SHOWN]))}{more}"]
        against = ", ".join(map(str, solution.opponents[:SHOWN]))
        return [*lines, f"  against      {against}"] if against else lines
    measured = solution.measured
    every = violations(solution.layout, measured.outside_rows, measured.outside_bounds)
    return [f"  worst        {every[0]}"] if every else []


def _soft_lines(solution: Solution) -> list[str]:
    """Where soft limits were given up, the worst of each constraint."""
    found = []
    for phase in solution.phases.values():
        for name, values in phase.constraints.items():
            if values.price.any() and values.excess.max() > NOTHING:
                k, row = np.unravel_index(np.argmax(values.excess), values.excess.shape)
                found.append(f"'{name}' row {row} at stage {values.stages[k]} by {values.excess[k, row]:.2g}, price "
                             f"{values.price.sum():.2g} in all")  # fmt: skip
    return [f"  given up     {', '.join(found[:SHOWN])}"] if found else []


class LiveTable:
    """The table of iterations, printed row by row as they come."""

    def __init__(self) -> None:
        from rich.console import Console

        self._console = Console(highlight=False, soft_wrap=True)
        self._console.print(self._line(HEADINGS), style="bold")

    def add(self, iteration: Iteration) -> None:
        small = iteration[2:8]
        numbers = [f"{number:.1e}" if number else "-" for number in small]
        alpha = f"{iteration.alpha_primal:.2g}" if iteration.alpha_primal else "-"
        first = str(iteration.iteration), f"{iteration.objective:.6e}"
        self._console.print(self._line([*first, *numbers, alpha, iteration.kind.strip() or "-"]))

    @staticmethod
    def _line(cells: Iterable[str]) -> str:
        return " ".join(f"{cell:>{width}}" for cell, width in zip(cells, HEADINGS.values()))


def print_log(solution: Solution) -> None:
    """The iterations as a table on the terminal."""
    table = LiveTable()
    for iteration in solution.records:
        table.add(iteration)
