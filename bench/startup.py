"""From `import trisweep` to the first solution of the demo's problem, in fresh processes.

    python bench/startup.py

cold: an empty cache of machine code, so that all stage functions are compiled; warm: code from the cache of an earlier
process. Seconds from just before the import, best of several processes; Python's byte code is there, as it is after
the first import of any package. `processor` counts the work of all threads, whatever else the machine does.
"""

import os
import subprocess
import sys
import tempfile

from support.machine import describe

ROUNDS = 7
PARTS = ("import", "statement", "build", "solve")
FIRST_SOLUTION = """
from time import perf_counter, process_time
marks = [(perf_counter(), process_time())]
import trisweep as ts
from trisweep.ocp import Problem
marks.append((perf_counter(), process_time()))
made = ts.task("iiwa_reach")
marks.append((perf_counter(), process_time()))
solver = made.build()
marks.append((perf_counter(), process_time()))
solution = solver.solve(made.guess, **made.parameters)
marks.append((perf_counter(), process_time()))
assert solution.solved, solution
for clock in (0, 1):
    print(*(after[clock] - before[clock] for before, after in zip(marks, marks[1:])))
"""


def first_solution(folder: str, cache: str) -> list[list[float]]:
    """Seconds of the parts by the wall and by the processor, in a process of its own."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"TRISWEEP_CACHE": cache, "PYTHONPYCACHEPREFIX": os.path.join(folder, "bytecode")}
    run = subprocess.run([sys.executable, "-c", FIRST_SOLUTION], env=environment, capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(run.stderr)
    return [[float(word) for word in line.split()] for line in run.stdout.splitlines()]


def table() -> None:
    with tempfile.TemporaryDirectory() as folder:
        warm = os.path.join(folder, "warm")
        first_solution(folder, warm)
        runs = {"cold": [], "warm": []}
        for k in range(ROUNDS):
            runs["cold"].append(first_solution(folder, os.path.join(folder, f"cold{k}")))
            runs["warm"].append(first_solution(folder, warm))
    print(f"{'':>16} {'total s':>8} " + " ".join(f"{part:>9}" for part in PARTS) + f" {'worst':>8}")
    for name, found in runs.items():
        for clock, label in enumerate(("wall", "processor")):
            best = min((run[clock] for run in found), key=sum)
            worst = max(sum(run[clock]) for run in found)
            parts = " ".join(f"{part:9.3f}" for part in best)
            print(f"{name + ', ' + label:>16} {sum(best):8.3f} {parts} {worst:8.3f}")


if __name__ == "__main__":
    print(describe("casadi", "llvmlite", "numpy"))
    table()
