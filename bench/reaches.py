"""Random point-to-point reaches of arms in free space, in the least time: joint goals and tool goals, native beside
IPOPT and FATROP on the same statement.

    .venv/bin/python bench/reaches.py [--count 1000] [--rivals 15] [--robot iiwa14 ...]

From rest to rest, within the limits of position, velocity, acceleration and torque (inverse dynamics), 30 steps,
duration free. Joint goals are random configurations; tool goals are places and rotations of the tool at random ones,
and one in twenty is out of reach, which is to be said. The guess goes straight, for tool goals to what inverse
kinematics finds first. What is solved is judged at ten times the density, apart from the solver; times are the solvers'
own clocks, those of the rivals over the first problems. Writes results/reaches.txt.
"""

import argparse
from pathlib import Path

import numpy as np
from support.free_reaches import ARMS, OUT_OF_REACH, FreeReach
from support.machine import describe
from support.report import Report
from trisweep.native.progress_bar import Progress

RESULTS = Path(__file__).parent / "results"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--rivals", type=int, default=15)
    parser.add_argument("--robot", nargs="*", default=list(ARMS), dest="robots")
    options = parser.parse_args()
    say = Report()
    say(describe())
    say(
        f"{'robot':<8} {'goals':<6} {'solved':>7} {'out of reach':>13} {'missed':>7} {'its':>5} {'ms':>7} {'95 %':>7}"
        f"   {'IPOPT solved':>12} {'x':>6}   {'FATROP solved':>13} {'x':>6}"
    )
    with Progress("reaches", 2 * len(options.robots)) as progress:
        for name in options.robots:
            for kind in ("joint", "tool"):
                progress.begin(f"{name}, {kind} goals")
                say(line(FreeReach(name, kind), options.count, options.rivals))
                progress.advance()
    if options.robots == list(ARMS) and options.count >= 1000:
        say.write(RESULTS / "reaches.txt")


def line(reach: FreeReach, count: int, rivals: int) -> str:
    """One row of the table."""
    tried = [reach.attempt(number, "native") for number in range(count)]
    solved = [each for each in tried if each.solved]
    refused = [each for each in tried if each.out_of_reach and each.status == OUT_OF_REACH]
    missed = [each for each in tried if not each.solved and each not in refused]
    times = np.array([each.seconds for each in solved])
    beside = [_beside(reach, rival, tried[:rivals]) for rival in ("ipopt", "fatrop")]
    its = np.median([each.iterations for each in solved])
    statuses = sorted({f"{each.status} ({sum(other.status == each.status for other in missed)})" for each in missed})
    return (
        f"{reach.name:<8} {reach.kind:<6} {len(solved):>7} {len(refused):>13} {len(missed):>7} {its:>5.0f} "
        f"{1e3 * np.median(times):>7.2f} {1e3 * np.percentile(times, 95):>7.2f}   {beside[0]}   {beside[1]}"
        f"   {', '.join(statuses)}"
    )


def _beside(reach: FreeReach, rival: str, ours: list) -> str:
    """How many of the same a rival solves, and how many times longer it takes at the median where both do."""
    if not ours:
        return f"{'':>12} {'':>6}"
    theirs = [reach.attempt(number, rival) for number in range(len(ours))]
    ratios = [b.seconds / a.seconds for a, b in zip(ours, theirs) if a.solved and b.solved]
    said = f"{sum(each.solved for each in theirs)} of {len(theirs)}"
    return f"{said:>12} {np.median(ratios or [np.nan]):>6.1f}"


if __name__ == "__main__":
    main()
