"""Convex QPs on chains, all states and controls bounded, to 1e-8: Trisweep's `riccati.QP` beside HPIPM.

    TRISWEEP_RIVALS=/folder python bench/qp.py

HPIPM is the one built for the processor (`support/rivals/tuned_hpipm.py`), the best of its modes, Riccati algorithms
and partial condensing; "exact": the best that ends with all residuals below 1e-8 (its mode "speed_abs" looks at the
complementarity alone). Both are given the constants beforehand; the first state is eliminated. Times are the solvers'
own, one solve right after the other, best of interleaved rounds on one core; Python's judge of ours is beside them.
"""

import numpy as np
from support.machine import describe
from support.rivals.tuned_hpipm import TunedHpipm, folder
from trisweep.native import core, level
from trisweep.riccati import QP, StageLimits
from trisweep.riccati.random_problems import bounded_chain

ROUNDS, EACH = 8, 6
TOLERANCE = 1e-8
WRONG = 1e-6  # of objectives, a relative difference that the tolerance does not explain
SIZES = ((14, 7, 50), (4, 1, 100), (24, 8, 50), (48, 24, 50), (37, 12, 30), (8, 3, 500))
BOUNDS = (4.0, 0.5)


def quickest(program: QP, iterations: int) -> float:
    """Seconds of the core alone; these are to be the iterations of a solve that was judged."""
    settings = core.Settings()
    settings.tolerance, settings.iterations = TOLERANCE, 200
    start, best = np.zeros(sum(s.nu for s in program.problem.stages) + sum(program._nx)), np.inf
    for _ in range(EACH):
        program._core.set_guess(start)
        result = program._core.solve(settings)
        assert (result.status.name, result.iterations) == ("solved", iterations)
        best = min(best, result.seconds)
    return best


def compare():
    problems = {size: bounded_chain(*size) for size in SIZES}
    x, u = BOUNDS
    programs = {size: QP(p.stages, StageLimits(-x, x, -u, u), p.initial_state) for size, p in problems.items()}
    rival = TunedHpipm(problems, BOUNDS) if folder() else None
    best, seconds, theirs, exact = {}, {}, {}, {}
    for _ in range(ROUNDS):
        found = rival.round() if rival else {}
        for size, program in programs.items():
            answer = best.setdefault(size, program.solve(tolerance=TOLERANCE))
            seconds[size] = min(seconds.get(size, np.inf), quickest(program, answer.iterations))
            for run in found.get(size, []):
                if abs(run.objective / best[size].objective - 1.0) > WRONG:
                    continue
                theirs[size] = min(run, theirs.get(size, run), key=lambda each: each.seconds)
                if "mode 0" not in run.variant:
                    exact[size] = min(run, exact.get(size, run), key=lambda each: each.seconds)
    if rival:
        rival.close()
    head = f"{'problem':>14} {'trisweep us':>12} its  residual"
    print(f"{head} {'hpipm us':>9} its {'exact us':>9} its  ratios       objective")
    for size, ours in best.items():
        line = f"{size!s:>14} {1e6 * seconds[size]:12.0f} {ours.iterations:3}  {ours.residual.worst:8.0e}"
        if size in theirs:
            one, two = theirs[size], exact[size]
            line += f" {1e6 * one.seconds:9.0f} {one.iterations:3} {1e6 * two.seconds:9.0f} {two.iterations:3}"
            line += f"  {one.seconds / seconds[size]:4.2f}  {two.seconds / seconds[size]:4.2f}"
            line += f"   {abs(two.objective - ours.objective) / abs(ours.objective):.0e}"
        print(line)


if __name__ == "__main__":
    np.set_printoptions(precision=3)
    print(describe())
    print(f"core: {level}\n")
    compare()
