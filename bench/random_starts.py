"""Thirty random starts of twelve public problems: how often Trisweep and IPOPT get there, and whether it is true.

    python bench/random_starts.py [name ...] [--starts 30] [--solvers native ipopt] [--seconds 20] [--resume]

A start is the collection's own guess, every entry moved by a normal number of the size max(1, its largest entry), and
put inside its bounds; the same for both. Answers are judged as in `bench/suite.py`. Outcomes go to
build/random_starts.jsonl as they come, `--resume` goes on from there. Writes bench/results/random_starts.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import trisweep as ts
from rich.progress import Progress
from scoreboard import outcome as outcomes_file
from scoreboard.judge import Judge
from scoreboard.outcome import Outcome, Task
from scoreboard.table import NAMES, Board, statuses
from suite import case
from suite.case import Stated
from support.machine import describe

RESULTS = Path(__file__).parent / "results" / "random_starts.md"
KEPT = Path(__file__).parents[1] / "build" / "random_starts.jsonl"
STARTS, SOLVERS = 30, ("native", "ipopt")
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


def outcomes(tasks: list[Task], seconds: float) -> Iterator[Outcome]:
    """What comes of starts of one problem by one solver; an instance is a start."""
    stated, settings = case(tasks[0].problem).build(), ts.Settings(seconds=seconds)
    solver = stated.problem.build(backend=tasks[0].solver)
    judge = Judge(solver, seconds)
    for task in tasks:
        solution = solver.solve(scattered(stated, task.instance), settings=settings, **stated.parameters)
        # A rival is held to its own word: what our back end doubts goes to the judge like everybody's answers.
        said = solution.solved or (task.solver != "native" and bool(solution.doubt))
        yield Outcome(
            *(*task, "solved" if said else solution.status),
            iterations=solution.statistics.iterations,
            seconds=solution.statistics.seconds,
            objective=solution.objective,
            false=judge(solution).false if said else "",
            remark=solution.doubt,
        )


def report(board: Board, starts: int) -> list[str]:
    """A line a problem and one for all: solved, iterations and ms where both solve, and how the others ended."""
    columns = [f"{what}: {NAMES[s]}" for what in ("solved", "iterations where both", "ms", "else") for s in SOLVERS]
    lines = ["# Random starts", "", "```", *describe("casadi").splitlines(), "```", ""]
    lines += [f"{starts} of each problem.", ""]
    lines += [f"| problem | {' | '.join(columns)} |", "| --- " * (len(columns) + 1) + "|"]
    parts = {name: [at for at in board.instances if at[0] == name] for name in dict(board.instances)}
    for name, chosen in [*parts.items(), ("all", board.instances)]:
        of_solver = [[board.get(solver, at) for at in chosen] for solver in SOLVERS]
        pairs = board.both("ipopt", chosen)
        cells = [str(sum(one.solved for one in each)) for each in of_solver]
        cells += [f"{sum(pair[i].iterations for pair in pairs):,}" for i in (0, 1)]
        cells += [f"{1e3 * sum(pair[i].seconds for pair in pairs):,.0f}" for i in (0, 1)]
        lines.append(f"| {name} | {' | '.join([*cells, *map(statuses, of_solver)])} |")
    false = [f"- {one.problem}, start {one.instance}, {NAMES[one.solver]}: {one.false}" for one in board.of.values()
             if one.false]  # fmt: skip
    return [*lines, "", '## False "solved"', "", *(false or ["None."])]


def main() -> None:
    parser = argparse.ArgumentParser(description="Random starts of public problems.")
    parser.add_argument("names", nargs="*", help="problems; twelve if none is named")
    parser.add_argument("--starts", type=int, default=STARTS)
    given = outcomes_file.asked(parser, SOLVERS, KEPT)
    names = given.names or PROBLEMS
    jobs = [[Task(name, solver, seed) for seed in range(given.starts)] for name in names for solver in given.solvers]
    left = [found for job in jobs if (found := [task for task in job if task not in given.done])]
    with Progress() as bar:
        shown = bar.add_task("starts", total=sum(map(len, left)))
        for job in left:
            for found in outcomes(job, given.seconds):
                outcomes_file.write(given.kept, found)
                bar.update(shown, advance=1, description=f"{found.problem:.24} {NAMES[found.solver]}")
    board = Board(found for found in outcomes_file.read(given.kept) if found.problem in names)
    text = "\n".join(report(board, given.starts))
    print(text)
    if not given.names and set(given.solvers) == set(SOLVERS):
        RESULTS.write_text(text + "\n")


if __name__ == "__main__":
    main()
