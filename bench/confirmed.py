"""Random problems of three families, every "solved" confirmed by something that shares nothing with the solver.

    python bench/confirmed.py [small | qp | turning ...] [--count 5000] [--seed 0]

small    slopes over ten decades; Newton's method in 60 digits from each answer (`scoreboard/extended.py`)
qp       convex QPs with numbers over ten decades; active sets in 50 digits (`scoreboard/exact_qp.py`)
turning  states on a ball joint or a joint without end; rotation matrices and IPOPT (`scoreboard/turning.py`)

Writes bench/results/confirmed.md where all three are asked for.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from rich.progress import track
from scoreboard import exact_qp, extended, turning
from support.machine import describe

RESULTS = Path(__file__).parent / "results" / "confirmed.md"
SAME, SHOWN = 1e-6, 20


class Judged(NamedTuple):
    """One problem: status; where it is "solved", what speaks most against it, None where the twin did not end."""

    status: str
    against: float | None = 0.0
    words: str = ""


def small(count: int, seed: int) -> Iterator[Judged]:
    for drawn in extended.draw(count, seed):
        solution = extended.solve(drawn)
        found = extended.confirm(drawn, solution) if solution.solved else None
        against = found.apart if found and found.ended else (None if found else 0.0)
        yield Judged(solution.status, against, str(drawn))


def qp(count: int, seed: int) -> Iterator[Judged]:
    for each in range(seed * count, (seed + 1) * count):
        drawn = exact_qp.draw(each)
        answer = exact_qp.solve(drawn)
        found = exact_qp.confirm(drawn, answer) if answer.status == "solved" else None
        against = max(found.apart, found.violated) if found and found.ended else (None if found else 0.0)
        yield Judged(answer.status, against, f"exact_qp.draw({each})")


def turning_bodies(count: int, seed: int) -> Iterator[Judged]:
    for each in range(seed * count, (seed + 1) * count):
        drawn = turning.draw(each)
        solution = turning.solve(drawn)
        found = turning.confirm(drawn, solution) if solution.solved else None
        against = 0.0 if not found else None if found.lower is None else max(found)
        yield Judged(solution.status, against, f"turning.draw({each})")


FAMILIES: dict[str, Callable[[int, int], Iterator[Judged]]] = {"small": small, "qp": qp, "turning": turning_bodies}


def section(name: str, count: int, seed: int) -> list[str]:
    """What came of a family."""
    statuses: Counter[str] = Counter()
    false, not_ended, worst = [], 0, 0.0
    for i, one in enumerate(track(FAMILIES[name](count, seed), name, total=count)):
        statuses[str(one.status)] += 1
        not_ended += one.against is None
        worst = max(worst, one.against or 0.0)
        if one.against is not None and not one.against <= SAME:
            false.append(f"- {i}: {one.against:.1e}; {one.words}")
    said = ", ".join(f"{n} {status}" for status, n in statuses.most_common())
    lines = [f"## {name}", "", f"{count} problems, seed {seed}: {said}.", ""]
    lines += [f"False: {len(false)}. The twin did not end: {not_ended}. Apart by at most {worst:.1e}.", ""]
    return [*lines, *false[:SHOWN], *([""] if false else [])]


def main() -> None:
    parser = argparse.ArgumentParser(description="Answers confirmed by twins.")
    parser.add_argument("families", nargs="*", choices=[*FAMILIES, []], help="all if none is named")
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    lines = ["# Answers confirmed by twins", "", "```", *describe("casadi").splitlines(), "```", ""]
    for name in given.families or FAMILIES:
        lines += section(name, given.count, given.seed)
    text = "\n".join(lines)
    print(text)
    if not given.families:
        RESULTS.write_text(text)


if __name__ == "__main__":
    main()
