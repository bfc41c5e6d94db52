"""Planning of arms on MotionBenchMaker's problems: success, times, durations, each plan judged by coal.

    .venv/bin/python bench/arms.py [--robot panda] [--set table_pick ...] [--count 100] [--csv FILE]

The sets come with the source archive of vamp-planner on PyPI, fetched into the user's cache by pip.
"""

import argparse
from pathlib import Path

from support.machine import describe
from support.report import Report
from trisweep.problems.planning.board import SETS, board, write_csv

RESULTS = Path(__file__).parent / "results"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--robot", default="panda")
    parser.add_argument("--set", nargs="*", default=list(SETS), dest="sets")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--csv", type=Path)
    options = parser.parse_args()
    say = Report()
    say(describe("coal"))
    say(f"bench/arms.py --robot {options.robot} --count {options.count}; median and 95 % of what was solved")
    entries = board(options.robot, options.sets, options.count, say=say)
    for entry in entries:
        if not entry.solved:
            say(f"not solved: {entry.set} {entry.number}: {entry.status}: {entry.reason}")
    if options.csv:
        write_csv(options.csv, entries)
    if options.sets == list(SETS):
        say.write(RESULTS / f"arms_{options.robot}.txt")


if __name__ == "__main__":
    main()
