"""The ready problems beside CasADi's IPOPT on the same programs: iterations, time, residuals.

    python bench/ocp_suite.py [name ...]

Sizes: states, controls, steps, equalities and inequalities beside the dynamics and bounds. Times are the best of interleaved
rounds, of the solve alone; IPOPT's functions are CasADi's, expanded. Residuals are those of the KKT conditions at our answer,
recomputed by CasADi alone, relative to the largest multiplier (at least 1). Builds are from the second one on: cached.
"""

import sys
from pathlib import Path

from machine import describe

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from ipopt import Ipopt
from trisweep.problems import names, task

ROUNDS = 5
COLUMNS = (
    f"{'problem':>24} {'nx':>3} {'nu':>3} {'N':>4} {'rows':>9} | {'status':>9} {'objective':>14} {'iter':>4} {'ms':>7} {'us/it':>7} "
    f"| {'IPOPT':>4} {'ms':>7} {'us/it':>7} | {'times':>6} {'objective':>9} {'violation':>9} {'station.':>9} {'compl.':>9}"
)


def row(name: str) -> str:
    made = task(name)
    solver = made.build()
    rival = Ipopt(made, solver)
    ours, theirs = [], []
    for _ in range(ROUNDS):
        ours.append(solver.solve(made.guess, **made.parameters))
        theirs.append(rival.solve())
    solution = min(ours, key=lambda found: found.statistics.seconds)
    answer = min(theirs, key=lambda found: found.seconds)
    stages, count, seconds = solver.transcription, solution.statistics.iterations, solution.statistics.seconds
    rows = f"{sum(stages.count('equalities'))}+{sum(stages.count('inequalities'))}"
    residuals = rival.residuals(solution)
    apart = abs(solution.objective - answer.objective) / max(1.0, abs(answer.objective))
    return (
        f"{name:>24} {stages.x.numel():3} {stages.u.numel():3} {made.problem.steps:4} {rows:>9} "
        f"| {solution.status:>9} {solution.objective:14.8g} {count:4} {1e3 * seconds:7.2f} {1e6 * seconds / count:7.1f} "
        f"| {answer.iterations:5} {1e3 * answer.seconds:7.1f} {1e6 * answer.seconds / answer.iterations:7.0f} "
        f"| {answer.seconds / seconds:6.1f} {apart:9.0e} {residuals.violation:9.0e} "
        f"{residuals.stationarity / residuals.multipliers:9.0e} {residuals.complementarity / residuals.multipliers:9.0e}"
    )


if __name__ == "__main__":
    print(describe("casadi", "llvmlite"))
    print(COLUMNS)
    for name in sys.argv[1:] or names():
        print(row(name), flush=True)
