"""Warm starts against cold ones: 14 families of parametric problems, four strengths of change, 20 solves each.

    python bench/warm_starts.py [name ...]

A change of 100 % is the family's own size; a "jump" is one of that size at every solve. Receding horizons start from
the shifted plan, others from the last solution, with the family's guess beside it for jumps; cold solves from that
guess. "worse": solves that took more than two iterations more than cold; "lost": solved cold and not warm. Then jumps
of a cart-pole from a plan in the middle of its swing. Writes bench/results/warm_starts.md.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import trisweep as ts
from support.machine import describe
from support.parametric import FAMILIES, Family, cart_pole
from support.report import Report

RESULTS = Path(__file__).parent / "results" / "warm_starts.md"
STRENGTHS, SOLVES = {"0.1 %": 1e-3, "1 %": 1e-2, "10 %": 0.1, "jump": 1.0}, 20


def path(family: Family, solver: ts.Solver, strength: float, seed: int) -> np.ndarray:
    """(solves, 2) iterations, warm and cold; infinite where not solved."""
    random, counts = np.random.default_rng(seed), []
    here = dict(family.base)

    def solve(**start: object) -> ts.Solution:
        if family.recedes:
            return solver.solve(start=here, **start, **family.others)
        return solver.solve(**start, **here, **family.others)

    def count(solution: ts.Solution) -> float:
        return float(solution.statistics.iterations) if solution.solved else np.inf

    last = solve(guess=family.guess)
    for _ in range(SOLVES):
        for name, base in family.base.items():
            change = strength * family.size[name] * random.standard_normal(base.shape)
            if family.recedes and strength < 1:
                here[name] = last.trajectories[name][1] + change
            else:
                centre = base if strength == 1 else here[name]
                here[name] = np.clip(centre + change, base - family.size[name], base + family.size[name])
        cold = solve(guess=family.guess)
        warm = solve(guess=family.guess, warm_start=last.shifted() if family.recedes else last)
        counts.append((count(warm), count(cold)))
        last = warm if warm.solved else cold if cold.solved else last
    return np.array(counts)


def jumps() -> list[tuple[str, float, float]]:
    """A cart-pole amid its swing up, whose measured angle jumps: what, iterations warm and cold."""
    family, found = cart_pole(), []
    solver, upright = family.problem.build(), np.pi
    plan = solver.solve(start=family.base, guess=family.guess)
    for stage in range(0, 40, 4):
        here = {name: plan.trajectories[name][stage] for name in family.base}
        last = solver.solve(start=here, warm_start=plan.shifted(stage))
        places = {"by 1 rad": here["angle"] + 1.0, "by -1 rad": here["angle"] - 1.0, "to hanging": 0.0 * here["angle"]}
        for name, angle in (places | {"to upright": upright + 0.0 * here["angle"]}).items():
            start = here | {"angle": angle}
            cold = solver.solve(start=start, guess=family.guess)
            warm = solver.solve(start=start, guess=family.guess, warm_start=last.shifted())
            if cold.solved or warm.solved:
                counts = [one.statistics.iterations if one.solved else np.inf for one in (warm, cold)]
                found.append((name, *counts))
    return found


def main() -> None:
    """The table of all families, or of those named."""
    report, total = Report(), np.zeros((len(STRENGTHS), 5))
    report(f"# Warm starts against cold ones\n\n{describe()}\n")
    report("Iterations warm / cold where both solve; worse: more than cold + 2; lost: solved cold, not warm.\n")
    report("| family | " + " | ".join(STRENGTHS) + " | worse | lost | the worst |")
    report("| --- |" + " --- |" * (len(STRENGTHS) + 3))
    for make in FAMILIES:
        if sys.argv[1:] and make.__name__ not in sys.argv[1:]:
            continue
        family = make()
        solver, cells, worse, lost, worst = family.problem.build(), [], 0, 0, (0.0, 0.0)
        for i, strength in enumerate(STRENGTHS.values()):
            counts = path(family, solver, strength, seed=i)
            both = np.isfinite(counts).all(axis=1)
            warm, cold = counts[both].sum(axis=0)
            bad, gone = counts[both][:, 0] > counts[both][:, 1] + 2, int((np.isinf(counts[:, 0]) & ~both).sum())
            gone -= int(np.isinf(counts).all(axis=1).sum())
            total[i] += warm, cold, bad.sum(), gone, both.sum()
            worse, lost = worse + int(bad.sum()), lost + gone
            if both.any():
                pair = counts[both][np.argmax(counts[both][:, 0] - counts[both][:, 1])]
                worst = max(worst, tuple(pair), key=lambda p: p[0] - p[1])
            cells.append(f"{warm:.0f} / {cold:.0f}")
        report(f"| {family.name} | {' | '.join(cells)} | {worse} | {lost} | {worst[0]:.0f} against {worst[1]:.0f} |")
    sums = total.sum(axis=0)
    cells = [f"{w / c:.2f}" for w, c, *_ in total]
    report(f"| all | {' | '.join(cells)} | {sums[2]:.0f} | {sums[3]:.0f} | |")
    report(f"\n{sums[0]:.0f} iterations warm, {sums[1]:.0f} cold ({sums[0] / sums[1]:.2f}) over {sums[4]:.0f} solves.")
    if not sys.argv[1:]:
        report("\nA cart-pole amid its swing up, whose measured angle jumps, at ten places of the plan:\n")
        found = jumps()
        for name in dict.fromkeys(name for name, *_ in found):
            pairs = [pair for jumped, *pair in found if jumped == name]
            worst = max(warm - cold for warm, cold in pairs)
            both = ", ".join(f"{warm:g} / {cold:g}" for warm, cold in pairs)
            report(f"- {name}: iterations warm / cold {both}; at most {worst:g} more")
        report.write(RESULTS)


if __name__ == "__main__":
    main()
