"""The ready problems beside CasADi's IPOPT on the same programs: iterations, time, residuals.

    python bench/ocp_suite.py [name ...]

Sizes: states, controls, steps, equalities and inequalities beside dynamics and bounds. Times: best of interleaved
rounds, of the solve alone; IPOPT's functions are CasADi's, expanded. Residuals are those of the KKT conditions at our
answer, recomputed by CasADi alone, relative to the largest multiplier (at least 1).
"""

import sys

from support.machine import describe
from trisweep.ocp.statement.costs_and_constraints.terms import Kind
from trisweep.problems import names, task
from trisweep.problems.twins.ipopt import Ipopt

ROUNDS = 5
COLUMNS = (
    f"{'problem':>24} {'nx':>3} {'nu':>3} {'N':>4} {'rows':>9} | {'status':>9} {'objective':>14} "
    f"{'iter':>4} {'ms':>7} {'us/iter':>7} | {'IPOPT':>5} {'ms':>7} {'us/iter':>7} | {'ratio':>6} "
    f"{'apart':>7} {'violation':>9} {'stationary':>10} {'complement':>10}"
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
    statistics, sizes, residuals = solution.statistics, solver.transcription, rival.residuals(solution)
    rows = f"{sum(sizes.count(Kind.EQUALITY))}+{sum(sizes.count(Kind.INEQUALITY))}"
    each, other = (1e6 * run.seconds / run.iterations for run in (statistics, answer))
    apart = abs(solution.objective - answer.objective) / max(1.0, abs(answer.objective))
    stationary = residuals.stationarity / residuals.multipliers
    complement = residuals.complementarity / residuals.multipliers
    return (
        f"{name:>24} {sizes.nx[0]:3} {sizes.nu[0]:3} {made.problem.steps:4} {rows:>9} "
        f"| {solution.status:>9} {solution.objective:14.8g} "
        f"{statistics.iterations:4} {1e3 * statistics.seconds:7.2f} {each:7.1f} "
        f"| {answer.iterations:5} {1e3 * answer.seconds:7.1f} {other:7.0f} "
        f"| {answer.seconds / statistics.seconds:6.1f} {apart:7.0e} {residuals.violation:9.0e} "
        f"{stationary:10.0e} {complement:10.0e}"
    )


if __name__ == "__main__":
    print(describe("casadi", "llvmlite"))
    print(COLUMNS)
    for name in sys.argv[1:] or names():
        print(row(name), flush=True)
