"""What `solver.complete` saves: iterations from poses alone, from the same poses completed, and from these with the
torques that hold the first of them.

    python bench/completed.py [motion ...]

All motions of robots' configurations in `bench/motions`, standing at the start and evenly to the end. A run over all
of them writes bench/results/completed.md.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import trisweep as ts
from motions import MOTIONS, arms, legs, motion
from support.machine import describe

RESULT = Path(__file__).parent / "results" / "completed.md"
OF_ROBOTS = [made.__name__ for room in (arms, legs) for made in room.MOTIONS]
ITERATIONS, POSE = 500, "q"
HEAD = ["motion", "guess", "with torques that hold it", "poses alone", "completed"]


def main() -> None:
    names = sys.argv[1:] or OF_ROBOTS
    unknown = set(names) - set(MOTIONS)
    if unknown:
        raise SystemExit(f"completed: there is no motion {', '.join(unknown)}, expected some of {', '.join(OF_ROBOTS)}")
    rows = [HEAD, ["---"] * len(HEAD)]
    for name in names:
        for row in compared(name):
            print(*row, sep="  ", flush=True)
            rows.append(row)
    words = f"Iterations, at most {ITERATIONS}; a bracket where a solve did not end in a solution."
    lines = ["# Guesses of poses alone, completed", "", "```", *describe().splitlines(), "```", "", words, ""]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    if names == OF_ROBOTS:
        RESULT.write_text("\n".join(lines) + "\n")


def compared(name: str) -> Iterator[list[str]]:
    made = motion(name)
    solver = made.problem.build()

    def iterations(guess: Any) -> str:
        settings = ts.Settings(iterations=ITERATIONS, seconds=300)
        solution = solver.solve(guess, settings=settings, **made.parameters)
        taken = str(solution.statistics.iterations)
        return taken if solution.solved else f"({taken})"

    for kind in ("standing", "line"):
        given = made.guesses()[kind]
        poses = {part.problem.name: _poses(given, part.problem.name) for part in made.parts}
        poses = poses if len(made.parts) > 1 else next(iter(poses.values()))
        yield [name, kind, *map(iterations, (given, poses, solver.complete(poses, **made.parameters)))]


def _poses(guess: dict[str, Any], phase: str) -> dict[str, np.ndarray]:
    return {POSE: guess.get(phase, guess)[POSE]}


if __name__ == "__main__":
    main()
