"""Random small problems with slopes over ten decades: every "solved" confirmed in extended precision.

    python bench/confirmed.py [number of problems, 5000] [seed, 0]

The problems, and Newton's method in 60 digits from each answer, are `scoreboard/extended.py`. Writes
bench/results/confirmed.md.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from rich.progress import track
from scoreboard.extended import SAME, confirm, draw, solve
from support.machine import describe

RESULTS = Path(__file__).parent / "results" / "confirmed.md"
SHOWN = 20


def main() -> None:
    count, seed = (int(sys.argv[i]) if len(sys.argv) > i else default for i, default in ((1, 5000), (2, 0)))
    statuses: Counter[str] = Counter()
    false, open_ended, worst = [], 0, 0.0
    for i, drawn in enumerate(track(draw(count, seed), "problems", total=count)):
        solution = solve(drawn)
        statuses[solution.status] += 1
        if not solution.solved:
            continue
        found = confirm(drawn, solution)
        open_ended += not found.ended
        worst = max(worst, found.apart if found.ended else 0.0)
        if found.ended and found.apart > SAME:
            false.append(f"- {i}: {solution.objective:.9g}, Newton ends at {found.objective:.9g}; {drawn}")
    lines = ["# Answers confirmed in extended precision", "", "```", *describe("casadi").splitlines(), "```", ""]
    lines += [
        f"{count} problems, seed {seed}: {', '.join(f'{n} {status}' for status, n in statuses.most_common())}.",
        "",
    ]
    lines += [
        f"False: {len(false)}. Newton's method did not end: {open_ended}. Objectives apart by at most {worst:.1e}."
    ]
    text = "\n".join([*lines, "", *false[:SHOWN]])
    print(text)
    if count >= 5000:
        RESULTS.write_text(text + "\n")


if __name__ == "__main__":
    main()
