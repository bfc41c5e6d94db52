"""The board: Trisweep, IPOPT and FATROP on the same transcriptions of public problems.

    python bench/suite.py [name or family ...] [--instances 5] [--seconds 20] [--processes 2] [--resume]

Processes of their own solve the problems, so that one that crashes or hangs costs one entry. A "solved" is judged by
`Solution.check()` and by IPOPT, started from the answer: false where IPOPT finds another objective than the tolerance
and the multipliers leave open (`scoreboard/judge.py`). IPOPT's and FATROP's functions are CasADi's, expanded. Writes
bench/results/suite.md and suite.png; outcomes go to build/suite.jsonl as they come, `--resume` goes on from there.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from scoreboard import outcome as outcomes_file
from scoreboard.outcome import SOLVERS, Outcome, Task
from scoreboard.pool import outcomes
from scoreboard.profile import draw
from scoreboard.table import NAMES, Board, by_problem, remarks, summary
from suite import case, places  # the folder: Python takes a package before a module of the same name
from support.machine import describe

RESULTS = Path(__file__).parent / "results"
KEPT = Path(__file__).parents[1] / "build" / "suite.jsonl"
ITERATIONS = 500


def main() -> None:
    parser = argparse.ArgumentParser(description="The board of public problems.")
    parser.add_argument("names", nargs="*", help="problems or families; all if none is named")
    parser.add_argument("--instances", type=int, default=1000, help="at most so many of a problem")
    parser.add_argument("--processes", type=int, default=2)
    given = outcomes_file.asked(parser, SOLVERS, KEPT)
    jobs = [
        [task for task in job if task not in given.done] for job in wanted(given.names, given.solvers, given.instances)
    ]
    for found in watched(jobs, given.processes, given.seconds):
        outcomes_file.write(given.kept, found)
    board = Board(outcomes_file.read(given.kept))
    text = "\n".join(report(board, given.seconds))
    print("\n".join(summary(board)))
    if not given.names and set(given.solvers) == set(SOLVERS):
        (RESULTS / "suite.md").write_text(text + "\n")
        draw(board, RESULTS / "suite.png")


def wanted(names: list[str], solvers: list[str], most: int) -> Iterator[list[Task]]:
    """Tasks of one problem by one solver, the solvers of a problem one after another."""
    families = places()
    unknown = set(names) - families.keys() - set(families.values())
    if unknown:
        raise SystemExit(f"suite: there is no problem or family {unknown.pop()!r}")
    for name, family in families.items():
        if not names or {name, family} & set(names):
            instances = range(min(case(name).instances, most))
            yield from ([Task(name, solver, i) for i in instances] for solver in solvers)


def watched(jobs: list[list[Task]], processes: int, seconds: float) -> Iterator[Outcome]:
    """Outcomes as they come, under a bar."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    with Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn()) as bar:
        shown = bar.add_task("suite", total=sum(map(len, jobs)))
        for found in outcomes(jobs, processes, seconds, ITERATIONS):
            if not found.solved:
                why = found.false or found.remark
                words = f"{found.problem}[{found.instance}], {NAMES[found.solver]}: {found.status}"
                bar.console.print(f"{words}{f' ({why})' if why else ''}", markup=False, highlight=False)
            bar.update(shown, advance=1, description=f"{found.problem:.24} {NAMES[found.solver]}")
            yield found


def report(board: Board, seconds: float) -> list[str]:
    head = ["# Public problems", "", "```", *describe("casadi", "llvmlite").splitlines(), "```", ""]
    words = (
        f"Limits: {ITERATIONS} iterations, {seconds:g} s a solve; tolerance 1e-8. Times by the solvers' own clocks, "
        "best of three where it is quick. A line of several instances has means over those that all three solve. "
        '"apart": of the published optimum, as a share of max(1, |optimum|), "(!)" where that is more than '
        "the discretisation explains. Profile: `suite.png`, every problem counts once."
    )
    return [*head, words, "", *summary(board), *remarks(board), "", "## Problem by problem", *by_problem(board)]


if __name__ == "__main__":
    main()
