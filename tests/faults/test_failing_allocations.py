"""Memory that is refused to the core once, at its first request, its second, and so on, and threads that the system
does not have: raised or done without, and nothing is the worse for it.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.sanitizers import needs_own_memory

TESTS = Path(__file__).parents[1]

DRIVER = """
import ctypes, sys
import numpy as np
import trisweep as ts

preloaded = ctypes.CDLL(None)
fail_at, have_failed = preloaded.fail_at, preloaded.have_failed
fail_at.argtypes, have_failed.restype = [ctypes.c_long], ctypes.c_long

def refused_at_every_request(act, same):
    '''act() with its n-th request refused, n = 1, 2, ... (sparser later on), then as it should be, compared by same'''
    expected, n, times = act(), 1, 0
    while True:
        fail_at(n)
        try:
            found = act()
        except MemoryError:
            found = None
            times += 1
        failed = have_failed()
        fail_at(0)
        assert found is None or same(found, expected), n
        assert same(act(), expected), n
        if not failed:
            return print(times)
        n += 1 + n // 20

def equal(a, b):
    return all(map(np.array_equal, a, b))

def stated():
    ocp = ts.Problem(steps=20, step=0.1)
    x, u, goal = ocp.state("x", 2), ocp.control("u", lower=-3, upper=3), ocp.parameter("goal")
    ocp.derivative(x=ts.vertcat(x[1], u - ts.sin(x[0])))
    ocp.minimize(u**2 + ts.sumsqr(x - goal))
    ocp.start("x")
    ocp.constrain("slow", x[1], upper=2.0, soft=10.0)
    return ocp.build()
"""

SURFACES = {
    "solve": """
solver = stated()
def act():
    solver.backend.renew()
    solution = solver.solve(goal=0.3, start={"x": [0.0, 0.0]}, settings=ts.Settings(threads=2))
    assert solution.solved
    return solution.x, solution.point.y, solution.gains
""",
    "many": """
solver, goals = stated(), np.linspace(0, 1, 6)[:, None]
def act():
    solver.backend.renew()
    solutions = solver.solve_many(goal=goals, start={"x": [0.0, 0.0]}, threads=3, progress=False)
    assert solutions.solved.all()
    return solutions.x, solutions.u
""",
    "controller": """
solver = stated()
def act():
    controller = solver.controller()
    return [controller.step({"x": [0.1 * k, 0.0]}, goal=0.5).u for k in range(3)]
""",
    "program": """
from trisweep.riccati import QP, Stage, StageLimits
def act():
    edge = {"A": np.eye(3), "B": np.eye(3), "b": np.zeros(3)}
    cost = {"Q": np.eye(3), "q": np.ones(3), "R": np.eye(3), "r": np.zeros(3)}
    stages = [Stage(**cost), *(Stage(**cost, parent=k, **edge) for k in range(20))]
    solution = QP(stages, StageLimits(u_upper=0.2), np.ones(3)).solve()
    assert solution.status == "solved"
    return [*solution.x, *solution.u]
""",
    "sweep": """
from trisweep.riccati.random_problems import random_problem
def act():
    solution = random_problem(3, singular_rate=0.0).solve()
    return [*solution.x, *solution.u]
""",
}


@pytest.fixture(scope="module")
def preloaded(tmp_path_factory):
    if sys.platform != "linux" or shutil.which("g++") is None:
        pytest.skip("preloads what g++ builds")
    library = tmp_path_factory.mktemp("preloaded") / "failing_allocations.so"
    source = TESTS / "support" / "failing_allocations.cpp"
    subprocess.run(["g++", "-O1", "-fPIC", "-shared", "-o", library, source, "-ldl"], check=True)
    return {**os.environ, "LD_PRELOAD": str(library)}


@needs_own_memory
@pytest.mark.parametrize("surface", SURFACES)
def test_memory_that_is_refused_once(preloaded, surface):
    script = DRIVER + SURFACES[surface] + "refused_at_every_request(act, equal)"
    run = subprocess.run([sys.executable, "-c", script], env=preloaded, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-3000:]
    assert int(run.stdout) >= 2


THREADS = """
give_threads = preloaded.give_threads
give_threads.argtypes = [ctypes.c_long]
solver, goals = stated(), np.linspace(0, 1, 12)[:, None]

def act(threads):
    solver.backend.renew()
    return solver.solve_many(goal=goals, start={"x": [0.0, 0.0]}, threads=threads, progress=False).x

def one(threads):
    solver.backend.renew()
    return solver.solve(goal=0.3, start={"x": [0.0, 0.0]}, settings=ts.Settings(threads=threads)).x

many, single = act(1), one(1)
for given in (1, 2, 5):
    give_threads(given)
    assert np.array_equal(act(8), many)
    give_threads(given)
    assert np.array_equal(one(8), single)
give_threads(0)
assert np.array_equal(one(8), single)
try:
    act(8)
except ts.ProblemError as error:
    print(error)
give_threads(-1)
assert np.array_equal(act(8), many) and np.array_equal(one(8), single)
"""


@needs_own_memory
def test_a_system_that_has_no_more_threads_to_give(preloaded):
    run = subprocess.run([sys.executable, "-c", DRIVER + THREADS], env=preloaded, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-3000:]
    assert run.stdout.startswith("solve_many: the system has no thread to give")
