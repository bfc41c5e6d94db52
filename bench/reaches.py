"""Random point-to-point reaches of arms in free space, in the least time: joint goals and tool goals, native beside
IPOPT and FATROP on the same statement.

    .venv/bin/python bench/reaches.py [--count 1000] [--rivals 25] [--robot iiwa14 ...]

From rest to rest, within the limits of position, velocity, acceleration and torque (inverse dynamics), 30 steps,
duration free. Joint goals are random configurations; tool goals are places and rotations of the tool at random ones,
and one in twenty is out of reach, which is to be said. The guess goes straight, for tool goals to what inverse
kinematics finds first; where that leads to nothing, to the next of three, and times are added up. What is solved is
judged at ten times the density, apart from the solver.

The second table is of the first problems alone, each given to the three in turn; times are the solvers' own clocks,
native on one thread, the rivals with CasADi's functions. Writes results/reaches.txt.
"""

import argparse
from pathlib import Path

import numpy as np
from support.free_reaches import ARMS, OUT_OF_REACH, FreeReach
from support.machine import describe
from support.report import Report
from trisweep.native.progress_bar import Progress

RESULTS = Path(__file__).parent / "results"
BACKENDS = ("native", "ipopt", "fatrop")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--rivals", type=int, default=25)
    parser.add_argument("--robot", nargs="*", default=list(ARMS), dest="robots")
    options = parser.parse_args()
    say = Report()
    say(describe("casadi"))
    rows = [FreeReach(name, kind) for name in options.robots for kind in ("joint", "tool")]
    with Progress("reaches", (options.count + options.rivals) * len(rows)) as progress:
        if options.count:
            say(f"{'robot':<8} {'goals':<6} {'solved':>7} {'out of reach':>13} {'missed':>7} {'its':>5}")
        for reach in rows if options.count else []:
            say(successes(reach, options.count, progress))
        if options.rivals:
            say(f"\nmedians of {options.rivals} problems, ms; how many times longer, with quartiles; solved")
            say(f"{'robot':<8} {'goals':<6} {'native':>7} {'IPOPT':>7} {'FATROP':>7}   {'IPOPT':>18} {'FATROP':>18}")
        for reach in rows if options.rivals else []:
            say(times(reach, options.rivals, progress))
    if options.robots == list(ARMS) and options.count >= 1000:
        say.write(RESULTS / "reaches.txt")


def successes(reach: FreeReach, count: int, progress: Progress) -> str:
    """How many are solved; what became of the others, by number."""
    progress.begin(f"{reach.name}, {reach.kind} goals")
    tried = []
    for number in range(count):
        tried.append(reach.attempt(number, "native"))
        progress.advance()
    solved = [each for each in tried if each.solved]
    refused = [each for each in tried if each.out_of_reach and each.status == OUT_OF_REACH]
    missed = [k for k, each in enumerate(tried) if not each.solved and each not in refused]
    return (
        f"{reach.name:<8} {reach.kind:<6} {len(solved):>7} {len(refused):>13} {len(missed):>7} "
        f"{np.median([each.iterations for each in solved]):>5.0f}   "
        f"{', '.join(f'{k}: {tried[k].status}' for k in missed)}"
    )


def times(reach: FreeReach, count: int, progress: Progress) -> str:
    """The three beside each other, problem by problem."""
    progress.begin(f"{reach.name}, {reach.kind} goals, beside others")
    for backend in BACKENDS:
        reach.attempt(0, backend)  # builds, and touches all memory
    tried = []
    for number in range(count):
        tried.append([reach.attempt(number, backend) for backend in BACKENDS])
        progress.advance()
    reached = [each for each in tried if each[0].status != OUT_OF_REACH]
    both = [[each for each in reached if each[0].solved and each[k].solved] for k in (1, 2)]
    medians = [1e3 * np.median([each[k].seconds for each in reached if each[k].solved]) for k in range(3)]
    ratios = [np.percentile([each[k].seconds / each[0].seconds for each in both[k - 1]], [50, 25, 75]) for k in (1, 2)]
    beside = " ".join(f"{median:>6.1f} ({low:>4.0f} {high:>4.0f})" for median, low, high in ratios)
    solved = ", ".join(str(sum(each[k].solved for each in reached)) for k in range(3))
    return (
        f"{reach.name:<8} {reach.kind:<6} {medians[0]:>7.2f} {medians[1]:>7.1f} {medians[2]:>7.1f}   {beside}   "
        f"{solved} of {len(reached)}"
    )


if __name__ == "__main__":
    main()
