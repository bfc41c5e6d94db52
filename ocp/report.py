"""A solution in words: a few lines of verdict, and the table of iterations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .diagnosis import violations

if TYPE_CHECKING:
    from .solution import Solution

SHOWN = 3  # constraints at fault named in the verdict
HEADINGS = (
    "iter",
    "objective",
    "violat.",
    "dual",
    "compl.",
    "mu",
    "|step|",
    "regul.",
    "alpha",
    "kind",
)  # 80 columns wide


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
        return [f"  violated     {', '.join(map(str, found[:SHOWN]))}{more}"]
    measured = solution.measured
    every = violations(solution.layout, measured.outside_rows, measured.outside_bounds)
    return [f"  worst        {every[0]}"] if every else []


def print_log(solution: Solution) -> None:
    """The iterations as a table on the terminal."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, padding=(0, 1, 0, 0), header_style="bold")
    for heading in HEADINGS:
        table.add_column(heading, justify="right", no_wrap=True)
    for iteration, objective, *small, alpha, _, _, kind in solution.records:
        numbers = [f"{number:.1e}" if number else "-" for number in small]
        table.add_row(
            str(iteration), f"{objective:.6e}", *numbers, f"{alpha:.2g}" if alpha else "-", kind.strip() or "-"
        )
    Console().print(table)
