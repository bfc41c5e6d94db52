"""Planning of arms on MotionBenchMaker's problems: success, times, durations, each plan judged by coal.

    .venv/bin/python bench/arms.py [--robot panda] [--set table_pick ...] [--count 100] [--csv FILE] [--jobs 1]
                                   [--toppra] [--quick]

The sets come with the source archive of vamp-planner on PyPI, fetched into the user's cache by pip. With --toppra the
durations stand beside those of a path timed by TOPP-RA (`pip install toppra`, see `support/rivals/topp_ra.py`).
--quick leaves coal's judgement out, and writes no results: for times on a machine that is not quiet for long.
"""

import argparse
from pathlib import Path

from support.machine import describe
from support.report import Report
from support.rivals import topp_ra
from trisweep.drawing.planning_plot import plot
from trisweep.problems.planning.board import SETS, board, to_draw, write_csv

RESULTS = Path(__file__).parent / "results"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--robot", default="panda")
    parser.add_argument("--set", nargs="*", default=list(SETS), dest="sets")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--csv", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--toppra", action="store_true")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    say = Report()
    say(describe("coal"))
    say(f"bench/arms.py --robot {options.robot} --count {options.count}; median and 95 % of what was solved")
    rival = topp_ra.duration if options.toppra else None
    entries = board(
        options.robot, options.sets, options.count, say=say, jobs=options.jobs, rival=rival, judged=not options.quick
    )
    for entry in entries:
        if not entry.solved:
            say(f"not solved: {entry.set} {entry.number}: {entry.status}: {entry.reason}")
    if options.csv:
        write_csv(options.csv, entries)
    if options.sets == list(SETS) and options.count >= 100 and not options.quick:
        say.write(RESULTS / f"arms_{options.robot}.txt")
        plot(*to_draw(entries), RESULTS / f"arms_{options.robot}.png")


if __name__ == "__main__":
    main()
