"""Public problems in other units: whether a solve ends in the same point, in a like number of iterations.

    python bench/rescaled_units.py [name ...] [--resume]

Each of 60 problems with its states and controls, its rows, or its cost in units of 1e-6 to 1e6. The same point: the
objective within 1e-5 of max(1, |objective|), in the first units. Problems with several minima nearby (Bryson and
Denham's with a free end time has three within 5 %; IPOPT, FATROP and Trisweep end in three points of bioreactor_days
and of coulomb, in two of predator, geodesic and algal_bacterial; IPOPT ends in other points of car_quadratic_penalty
and algal_bacterial from unit to unit, FATROP of geodesic) are not among them. Outcomes go to
build/rescaled_units.jsonl, a line a problem, `--resume` goes on from there. Writes bench/results/rescaled_units.md.
"""

from __future__ import annotations

import argparse
import json
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
KEPT = Path(__file__).parents[1] / "build" / "rescaled_units.jsonl"
SCALES = (1e-6, 1e-4, 1e-2, 1.0, 1e2, 1e4, 1e6)
SAME, LIKE = 1e-5, 1.5
SETTINGS = ts.Settings(seconds=20)
PROBLEMS = (
    "beam", "bioreactor_day", "bolza", "cart_pendulum", "liswet", "powell20", "ubh1",
    "dielectrophoretic_particle", "double_integrator_time", "double_oscillator", "ducted_fan", "electric_vehicle",
    "fuller", "goddard_speed", "jackson", "moonlander", "quadrotor", "robbins", "simple_integrator", "vanderpol",
    "catalyst_mixing", "chain", "channel", "gas_oil", "marine", "methanol", "pinene", "robot_arm", "rocket",
    "steering", "work", "dtoc3", "huestis", "yao", "quadruped", "walking", "wheeled_pendulum", "brachistochrone",
    "breakwell", "bryson_max_range", "crane", "delay", "dqc", "f8", "fishing", "goddard_thin_air",
    "heat", "hypersensitive", "isoperimetric", "lambert", "linear_tangent", "moon", "obstacle", "pendulum_length",
    "rayleigh", "singular5", "state_constrained", "notorious", "two_link_arm", "wheat",
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
    parser = argparse.ArgumentParser(description="Public problems in other units.")
    parser.add_argument("names", nargs="*", help="problems; all if none is named")
    parser.add_argument("--resume", action="store_true", help="go on from what was solved before")
    given = parser.parse_args()
    names = given.names or PROBLEMS
    found = read() if given.resume else {}
    KEPT.parent.mkdir(exist_ok=True)
    with KEPT.open("a" if given.resume else "w") as kept:
        for name in track([name for name in names if name not in found], "problems"):
            found[name] = in_all_units(name)
            print(json.dumps([name, [[*at, *of] for at, of in found[name].items()]]), file=kept, flush=True)
    text = "\n".join(report({name: found[name] for name in names}))
    print(text)
    if not given.names:
        RESULTS.write_text(text + "\n")


def in_all_units(name: str) -> dict[tuple[str, float], Solved]:
    stated = case(name).build()
    first = solve(stated, "cost", 1.0)
    others = {(kind, scale): solve(stated, kind, scale) for kind in KINDS for scale in SCALES if scale != 1}
    return {(kind, 1.0): first for kind in KINDS} | others


def read() -> dict[str, dict[tuple[str, float], Solved]]:
    """What was solved before, by problem, kind of unit and scale."""
    lines = KEPT.read_text().splitlines() if KEPT.exists() else []
    kept = (json.loads(line) for line in lines)
    return {name: {(kind, scale): Solved(*of) for kind, scale, *of in each} for name, each in kept}


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
