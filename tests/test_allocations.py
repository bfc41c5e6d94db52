"""Factoring and solving in the core leave the heap alone once a problem is set up."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent

SCRIPT = """
import ctypes, sys
sys.path.insert(0, sys.argv[1])
from lq_problems import benchmark_chain, random_problem
from trisweep.riccati import factorize
count = ctypes.CDLL(None).allocation_count
count.restype = ctypes.c_long

def calls(core, repetitions):
    before = count()
    core.time(repetitions)
    return count() - before

before = count()
[object() for _ in range(3)], bytearray(100_000)
assert count() > before, "the counter does not count"
problems = [benchmark_chain(14, 7, 50, 7)] + [random_problem(seed, singular_rate=0.0) for seed in range(20)]
for problem in problems:
    core = factorize(problem)._core
    problem.solve()
    core.time(1)
    assert calls(core, 1000) <= calls(core, 1), problem
print("no allocation")
"""


@pytest.mark.skipif(sys.platform != "linux" or shutil.which("cc") is None, reason="preloads a counter built with cc")
def test_factor_and_solve_do_not_allocate(tmp_path):
    counter = tmp_path / "count_allocations.so"
    subprocess.run(["cc", "-O1", "-fPIC", "-shared", "-o", counter, HERE / "count_allocations.c", "-ldl"], check=True)
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(HERE)],
        env={**os.environ, "LD_PRELOAD": str(counter)},
        capture_output=True,
        text=True,
    )
    assert run.stdout.strip() == "no allocation", run.stderr
