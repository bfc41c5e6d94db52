"""How many iterations: rules and settings beside each other and beside IPOPT and FATROP, on motions of robots from ten
guesses each and on the public problems of `bench/suite.py` from their own.

    python bench/iterations.py [--only name ...] [--rules default adaptive IPOPT ...] [--processes 2]

Solves are kept in build/iterations.jsonl with a stamp of what made them; those of another core are done anew. A run
over everything writes bench/results/iterations.md and iterations.png.
"""

from __future__ import annotations

import argparse
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rule_board.board import Board, part
from rule_board.trial import FIXED, ITERATIONS, RIVALS, RIVALS_SECONDS, RULES, Outcome, all_names, read, solve, write
from support.machine import describe

RESULTS = Path(__file__).parent / "results"
KEPT = Path(__file__).parents[1] / "build" / "iterations.jsonl"


def main() -> None:
    every = [*RULES, *RIVALS]
    parser = argparse.ArgumentParser(description="The board of iterations.")
    parser.add_argument("--only", nargs="+", choices=all_names(), default=all_names(), metavar="NAME")
    parser.add_argument("--rules", nargs="+", choices=every, default=every, metavar="RULE")
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    KEPT.parent.mkdir(exist_ok=True)
    watch(given.only, given.rules, given.processes)
    outcomes = read(KEPT)
    board = Board(outcomes, given.rules, given.only)
    text = report(board, outcomes)
    print("\n".join(text))
    if given.only == all_names() and given.rules == every:
        (RESULTS / "iterations.md").write_text("\n".join(text) + "\n")
        board.draw(RESULTS / "iterations.png")


def trials(rules: list[str], known: frozenset, name: str) -> str:  # type: ignore[type-arg]
    """Those of one motion, each kept as it comes."""
    for found in solve(name, rules, known):
        write(KEPT, found)
    return name


def watch(names: list[str], rules: list[str], processes: int) -> None:
    """Try every motion, in processes of their own, under a bar."""
    known = frozenset((found.trial, found.stamp) for found in read(KEPT))
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with (
        Progress(*columns) as bar,
        get_context("spawn").Pool(processes, maxtasksperchild=4) as pool,
    ):
        shown = bar.add_task("motions", total=len(names))
        for name in pool.imap_unordered(partial(trials, rules, known), names):
            bar.update(shown, advance=1, description=f"{name:.24}")


def report(board: Board, outcomes: list[Outcome]) -> list[str]:
    words = (
        f"Limits: {ITERATIONS} iterations a solve, of the rivals' {RIVALS_SECONDS:g} s; tolerance 1e-8. The nine: "
        f"{', '.join(FIXED)}. Iterations of all: a solve that fails counts with those it took. A rival has Trisweep's "
        "machine code as its functions, and is held to its own word. Profile: `iterations.png`."
    )
    lines = ["# Iterations", "", "```", *describe("casadi").splitlines(), "```", "", words]
    for title, public in (("Motions from ten guesses", False), ("Public problems", True)):
        chosen = part(board, public, outcomes)
        if chosen.starts:
            lines += ["", f"## {title}", "", *chosen.lines(), "", *chosen.by_motion()]
    return lines


if __name__ == "__main__":
    main()
