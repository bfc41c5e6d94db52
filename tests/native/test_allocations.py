"""The core leaves the heap alone once a problem is set up: the sweep as well as the interior point."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]

COUNTER = """
import ctypes
count = ctypes.CDLL(None).allocation_count
count.restype = ctypes.c_long
before = count()
[object() for _ in range(3)], bytearray(100_000)
assert count() > before, "the counter does not count"
"""

SWEEP = """
from trisweep.riccati.random_problems import benchmark_chain, random_problem
from trisweep.riccati import factorize

def calls(core, repetitions):
    before = count()
    core.time(repetitions)
    return count() - before

problems = [benchmark_chain(14, 7, 50, 7)] + [random_problem(seed, singular_rate=0.0) for seed in range(20)]
for problem in problems:
    core = factorize(problem)._core
    problem.solve()
    core.time(1)
    assert calls(core, 1000) <= calls(core, 1), problem
print("no allocation")
"""

INTERIOR_POINT = """
from support.ocp_problems import dive, diver, swing_up
from trisweep.ocp import Settings
from trisweep.ocp.solve.native_backend import core_settings

def calls(solver, iterations, threads):
    settings = core_settings(Settings(iterations=iterations, threads=threads), False)
    before = count()
    solver.backend.core.solve(settings)
    return count() - before

for problem in (swing_up("euler"), dive(diver())):
    solver = problem.build()
    solver.solve()
    for threads in (1, 2):
        calls(solver, 3, threads)
        assert calls(solver, 20, threads) <= calls(solver, 3, threads)
print("no allocation")
"""


@pytest.mark.skipif(sys.platform != "linux" or shutil.which("cc") is None, reason="preloads a counter built with cc")
@pytest.mark.parametrize("script", [SWEEP, INTERIOR_POINT], ids=["sweep", "interior point"])
def test_the_core_does_not_allocate(tmp_path, script):
    counter = tmp_path / "count_allocations.so"
    subprocess.run(
        ["cc", "-O1", "-fPIC", "-shared", "-o", counter, TESTS / "support" / "count_allocations.c", "-ldl"], check=True
    )
    run = subprocess.run(
        [sys.executable, "-c", COUNTER + script],
        cwd=TESTS,
        env={**os.environ, "LD_PRELOAD": str(counter)},
        capture_output=True,
        text=True,
    )
    assert run.stdout.strip() == "no allocation", run.stderr
