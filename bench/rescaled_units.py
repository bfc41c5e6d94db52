"""Public problems in other units: whether a solve ends in the same point, in a like number of iterations.

    python bench/rescaled_units.py [name ...]

Each of 60 problems with its states and controls, its rows, or its cost in units of 1e-6 to 1e6. The same point: the
objective within 1e-5 of max(1, |objective|), in the first units. Problems with several minima nearby (Bryson and
Denham's with a free end time has three within 5 %) are not among them. Writes bench/results/rescaled_units.md.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import trisweep as ts
from rich.progress import track
from scoreboard.units import KINDS, rescaled, rescaled_guess
from suite import case
from suite.case import Stated
from support.machine import describe

RESULTS = Path(__file__).parent / "results" / "rescaled_units.md"
SCALES = (1e-6, 1e-4, 1e-2, 1.0, 1e2, 1e4, 1e6)
SAME, LIKE = 1e-5, 1.5
SETTINGS = ts.Settings(seconds=20)
PROBLEMS = (
    "algal_bacterial", "beam", "bioreactor_day", "bioreactor_days", "bolza", "cart_pendulum",
    "dielectrophoretic_particle", "double_integrator_time", "double_oscillator", "ducted_fan", "electric_vehicle",
    "fuller", "goddard_speed", "jackson", "moonlander", "quadrotor", "robbins", "simple_integrator", "vanderpol",
    "catalyst_mixing", "chain", "channel", "gas_oil", "marine", "methanol", "pinene", "robot_arm", "rocket",
    "steering", "work", "yao", "quadruped", "walking", "wheeled_pendulum", "brachistochrone", "breakwell",
    "bryson_max_range", "coulomb", "crane", "delay", "dqc", "f8", "fishing", "geodesic", "goddard_thin_air",
    "heat", "hypersensitive", "isoperimetric", "lambert", "linear_tangent", "moon", "obstacle", "pendulum_length",
    "predator", "rayleigh", "singular5", "state_constrained", "steps", "two_link_arm", "wheat",
)  # fmt: skip


class Solved(NamedTuple):
    """What came of a problem in one kind of unit; objective: in the first units."""

    status: str
    iterations: int
    objective: float

    def same(self, other: Solved) -> bool:
        """Whether both are solved, at one objective."""
        near = abs(self.objective - other.objective) <= SAME * max(1.0, abs(other.objective))
        return self.status == other.status == "solved" and near


def solve(stated: Stated, kind: str, scale: float) -> Solved:
    problem = rescaled(stated.problem, kind, scale)
    guess = rescaled_guess(stated.problem, stated.guess, kind, scale)
    solution = problem.build().solve(guess, settings=SETTINGS, **stated.parameters)
    objective = solution.objective / (scale if kind == "cost" else 1.0)
    return Solved(solution.status, solution.statistics.iterations, objective)


def main() -> None:
    names = sys.argv[1:] or PROBLEMS
    found: dict[str, dict[tuple[str, float], Solved]] = {}
    for name in track(names, "problems"):
        stated = case(name).build()
        first = solve(stated, "cost", 1.0)
        others = {(kind, scale): solve(stated, kind, scale) for kind in KINDS for scale in SCALES if scale != 1}
        found[name] = {(kind, 1.0): first for kind in KINDS} | others
    text = "\n".join(report(found))
    print(text)
    if not sys.argv[1:]:
        RESULTS.write_text(text + "\n")


def report(found: dict[str, dict[tuple[str, float], Solved]]) -> list[str]:
    """How many end in the same point, by kind and scale, and those that do not."""
    lines = ["# Other units", "", "```", *describe("casadi").splitlines(), "```", ""]
    lines += [f"Of {len(found)} problems, solved in the same point / within {LIKE} times the iterations, by scale:", ""]
    lines += [f"| units of | {' | '.join(f'{scale:g}' for scale in SCALES)} |", "| --- " * (len(SCALES) + 1) + "|"]
    lost = []
    for kind in KINDS:
        cells = []
        for scale in SCALES:
            pairs = {name: (of[kind, scale], of[kind, 1.0]) for name, of in found.items()}
            same = {name for name, (here, there) in pairs.items() if here.same(there)}
            like = sum(pairs[name][0].iterations <= LIKE * pairs[name][1].iterations + 2 for name in same)
            cells.append(f"{len(same)} / {like}")
            lost += [
                f"- {name}, {kind} in {scale:g}: {here.status}, {here.iterations} iterations, objective "
                f"{here.objective:.8g}; in 1: {there.status}, {there.iterations}, {there.objective:.8g}"
                for name, (here, there) in pairs.items()
                if name not in same
            ]
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    ratios = [of[at].iterations / max(1, of[at[0], 1.0].iterations) for of in found.values() for at in of]
    lines += [
        "",
        f"Iterations, beside the first units: median {np.median(ratios):.2f}, most {max(ratios):.2f}.",
    ]
    return [*lines, "", "## Not in the same point", "", *(lost or ["None."])]


if __name__ == "__main__":
    main()
