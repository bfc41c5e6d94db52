"""Thirty random starts of twelve public problems: how often Trisweep and IPOPT get there, and whether it is true.

    python bench/random_starts.py [name ...]

A start is the collection's own guess, every entry moved by a normal number of the size max(1, its largest entry), and
put inside its bounds; the same for both. Answers are judged as in `bench/suite.py`. Writes
bench/results/random_starts.md.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import trisweep as ts
from rich.progress import Progress
from scoreboard.judge import Judge
from scoreboard.table import NAMES
from suite import case
from suite.case import Stated
from support.machine import describe

RESULTS = Path(__file__).parent / "results" / "random_starts.md"
STARTS, SOLVERS = 30, ("native", "ipopt")
SETTINGS = ts.Settings(seconds=20)
PROBLEMS = (
    "cart_pendulum", "moonlander", "gas_oil", "methanol", "brachistochrone", "crane", "goddard_thin_air",
    "linear_tangent", "missile", "obstacle", "shuttle_reentry", "two_link_arm",
)  # fmt: skip


def scattered(stated: Stated, seed: int) -> dict[str, np.ndarray]:
    """A random guess for every state and control of a problem of one phase."""
    random, problem, guess = np.random.default_rng(seed), stated.problem, {}
    for variables, rows in ((problem.states, problem.steps + 1), (problem.controls, problem.steps)):
        for variable in variables:
            lower, upper = variable.limits.numbers
            centre = np.broadcast_to(np.asarray(stated.guess.get(variable.name, 0.0), float), (rows, variable.size))
            size = max(1.0, float(np.abs(centre).max()))
            guess[variable.name] = np.clip(centre + size * random.standard_normal(centre.shape), lower, upper)
    # One duration holds for the whole motion: a number between half and twice its guess.
    if isinstance(problem.duration, ts.Free):
        free = problem.duration
        guess["duration"] = np.clip(free.guess * 2.0 ** random.uniform(-1, 1), free.lower, free.upper)
    return guess


def counts(name: str, advance: Callable[[], None]) -> tuple[list[float], list[str]]:
    """Of each solver: solved, iterations and ms where both do; and what was false."""
    stated, false = case(name).build(), []
    solvers = {which: stated.problem.build(backend=which) for which in SOLVERS}
    judge = Judge(solvers["native"], SETTINGS.seconds)
    solved, iterations, seconds = (np.zeros((STARTS, len(SOLVERS))) for _ in range(3))
    for seed in range(STARTS):
        guess = scattered(stated, seed)
        for i, (which, solver) in enumerate(solvers.items()):
            solution = solver.solve(guess, settings=SETTINGS, **stated.parameters)
            # A rival is held to its own word: what our back end doubts goes to the judge like everybody's answers.
            said = solution.solved or (which != "native" and bool(solution.doubt))
            verdict = judge(solution).false if said else ""
            if verdict:
                false.append(f"- {name}, start {seed}, {NAMES[which]}: {verdict}")
            solved[seed, i] = said and not verdict
            iterations[seed, i], seconds[seed, i] = solution.statistics.iterations, solution.statistics.seconds
        advance()
    both = solved.all(axis=1)
    return [*solved.sum(axis=0), *iterations[both].sum(axis=0), *1e3 * seconds[both].sum(axis=0)], false


def line(name: str, values: Iterable[float]) -> str:
    return f"| {name} | {' | '.join(f'{value:,.0f}' for value in values)} |"


def main() -> None:
    names = sys.argv[1:] or PROBLEMS
    columns = [f"{what}: {NAMES[which]}" for what in ("solved", "iterations where both", "ms") for which in SOLVERS]
    lines = [
        "# Random starts",
        "",
        "```",
        *describe("casadi").splitlines(),
        "```",
        "",
        f"{STARTS} of each problem.",
        "",
    ]
    lines += [f"| problem | {' | '.join(columns)} |", "| --- " * (len(columns) + 1) + "|"]
    rows, false = [], []
    with Progress() as bar:
        shown = bar.add_task("starts", total=STARTS * len(names))
        for name in names:
            values, wrong = counts(name, lambda: bar.advance(shown))
            rows.append(values)
            false += wrong
            lines.append(line(name, values))
            bar.console.print(lines[-1], markup=False, highlight=False)
    lines += [line("all", np.sum(rows, axis=0)), "", '## False "solved"', "", *(false or ["None."])]
    if not sys.argv[1:]:
        RESULTS.write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
