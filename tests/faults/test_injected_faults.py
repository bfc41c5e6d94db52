"""Faults put into the functions that the core calls, and memory that runs out: named or survived, and no solve later on
is the worse for it.
"""

import ctypes
import subprocess
import sys

import numpy as np
import pytest
import trisweep as ts
from support.ocp_problems import swing_up
from support.sanitizers import needs_own_memory

# The calling convention of compiled functions (native/compiler/llvm_ir/driver.py).
Entry = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4, ctypes.c_int64, ctypes.c_void_p)
FRAME_ALIGNMENT = 64
FAULTS = {"nan": np.nan, "inf": np.inf, "sign": -1.0}
ENDS = {"solved", "not finite", "stalled", "infeasible", "iteration limit", "not minimal", "unbounded"}


class Injector:
    """Stands between the core and a compiled function; from call `first` to `last` it spoils the rows of one stage.

    stages: of the block, which may be called for in pieces, one after the other; a call here is one for all of them.
    Where nothing takes the outputs they are read from the work, whose lanes are the stages of the last group.
    """

    def __init__(self, original, outputs, stages):
        self.original, self.outputs, self.stages = Entry(original.address), outputs, stages
        self.lanes = original.lanes
        self.done, self.first, self.last, self.stage, self.factor = 0, 0, -1, 0, 1.0
        self.entry = Entry(self)
        self.address = ctypes.cast(self.entry, ctypes.c_void_p).value

    def arm(self, first, last, stage, kind):
        self.done, self.first, self.last, self.stage, self.factor = 0, first, last, stage, FAULTS[kind]

    @property
    def calls(self):
        return -(-self.done // self.stages)

    def __call__(self, inputs, input_strides, outputs, output_strides, count, work):
        self.original(inputs, input_strides, outputs, output_strides, count, work)
        at = self.stage - self.done % self.stages
        self.done += count
        if not self.first <= self.calls <= self.last or not 0 <= at < count:
            return
        places = ctypes.cast(outputs, ctypes.POINTER(ctypes.c_void_p))
        strides = ctypes.cast(output_strides, ctypes.POINTER(ctypes.c_int64))
        if places[0] is None:
            frame = ctypes.cast(-(-work // FRAME_ALIGNMENT) * FRAME_ALIGNMENT, ctypes.POINTER(ctypes.c_double))
            for j in range(sum(self.outputs)):
                frame[j * self.lanes + at] *= self.factor
            return
        for i, size in enumerate(self.outputs):
            row = ctypes.cast(places[i] + 8 * at * strides[i], ctypes.POINTER(ctypes.c_double))
            for j in range(size):
                row[j] *= self.factor


def put_between(solver):
    """Lets a solver's functions go through injectors: of the longest block, values and derivatives."""
    made, backend = {}, solver.backend
    plain_block = backend._core_block

    def block(block, functions):
        core_block, compiled = plain_block(block, functions), functions.code
        if len(block.stages) > 10:
            values, derivatives = (Injector(each, each.sizes.outputs, len(block.stages)) for each in compiled)
            core_block.set_values(values.address, compiled[0].sizes.work)
            core_block.set_derivatives(derivatives.address, compiled[1].sizes.work)
            made.update(values=values, derivatives=derivatives)
        return core_block

    backend._core_block = block
    backend.structure = backend._core_structure()
    backend.renew()
    assert set(made) == {"values", "derivatives"}
    return made


@pytest.fixture(scope="module")
def injected():
    solver = swing_up("euler").build()
    return solver, put_between(solver)


@pytest.fixture(scope="module")
def loop():
    """A solver with a measured state, for controllers."""
    ocp = ts.Problem(steps=20, step=0.05)
    x, u, goal = ocp.state("x", 2), ocp.control("u", lower=-4.0, upper=4.0), ocp.parameter("goal")
    ocp.derivative(x=ts.vertcat(x[1], u - 9.81 * ts.sin(x[0])))
    ocp.minimize((x[0] - goal) ** 2 + 0.1 * x[1] ** 2 + 0.01 * u**2)
    ocp.start("x")
    solver = ocp.build()
    return solver, put_between(solver)


@pytest.mark.parametrize("where", ["values", "derivatives"])
@pytest.mark.parametrize("kind", FAULTS)
def test_one_call_that_goes_wrong(injected, where, kind):
    solver, made = injected
    whole = solver.solve()
    assert whole.status == "solved"
    statuses = set()
    for call in (1, 2, 3, 5, 8, 13):
        for stage in (0, 7):
            made[where].arm(call, call, stage, kind)
            solution = solver.solve()
            made[where].arm(1, 0, 0, kind)
            statuses.add(solution.status)
            if solution.solved:
                assert solution.check().worst < 1e-5  # by CasADi alone, in which nothing is spoilt
            np.testing.assert_array_equal(solver.solve().point.z, whole.point.z)
    assert statuses <= ENDS


@pytest.fixture(scope="module")
def restoring():
    solver = swing_up("euler", torque=5.0).build()
    return solver, put_between(solver)


@pytest.mark.parametrize("where", ["values", "derivatives"])
@pytest.mark.parametrize("seed", [8, 10])  # restoration ends as infeasible, and goes on to a solution
def test_calls_that_go_wrong_on_the_way_through_restoration(restoring, where, seed):
    solver, made = restoring
    rng = np.random.default_rng(seed)
    shapes = {"angle": (3, 61), "speed": (6, 61), "torque": (4, 60)}
    guess = {name: size * rng.standard_normal(length) for name, (size, length) in shapes.items()}
    made[where].arm(1, 0, 0, "nan")
    whole = solver.solve(guess)
    calls = made[where].calls
    assert any(record.kind == "r" for record in whole.records)
    for kind in FAULTS:
        for call in np.unique(np.linspace(1, calls, 25).astype(int)).tolist():
            made[where].arm(call, call + call % 4, call % 60, kind)
            solution = solver.solve(guess)
            made[where].arm(1, 0, 0, kind)
            assert solution.status in ENDS
            if solution.solved:
                assert solution.check().worst < 1e-5
    np.testing.assert_array_equal(solver.solve(guess).point.z, whole.point.z)


@pytest.mark.parametrize("where", ["values", "derivatives"])
@pytest.mark.parametrize("kind", ["nan", "inf"])
def test_a_function_that_stays_wrong_is_named(injected, where, kind):
    solver, made = injected
    whole = solver.solve()
    for stage in (0, 9, 30):
        made[where].arm(1, 10**9, stage, kind)
        solution = solver.solve()
        made[where].arm(1, 0, 0, kind)
        assert solution.status == "not finite" and not solution.solved and solution.advice
        assert solution.statistics.iterations == 0
        np.testing.assert_array_equal(solver.solve().point.z, whole.point.z)


@pytest.mark.parametrize("where", ["values", "derivatives"])
def test_a_wrong_sign_that_stays_is_never_called_solved(injected, where):
    """The point the core ends at is judged by functions that are not spoilt."""
    solver, made = injected
    for stage in (0, 9):
        made[where].arm(1, 10**9, stage, "sign")
        solution = solver.solve()
        made[where].arm(1, 0, 0, "sign")
        assert not solution.solved or solution.check().worst < 1e-5
        assert solver.solve().solved


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("where", ["values", "derivatives"])
@pytest.mark.parametrize("kind", FAULTS)
def test_one_call_that_goes_wrong_among_many_solves(injected, where, kind, threads):
    """It reaches the problem that is being solved and no other; the next batch is the first one again."""
    solver, made = injected
    guesses = {"angle": np.random.default_rng(5).uniform(-0.1, 0.1, (6, 1, 1))}
    made[where].arm(1, 0, 0, kind)
    whole = solver.solve_many(guess=guesses, threads=threads, progress=False)
    assert list(whole.statuses) == ["solved"] * 6
    calls = made[where].calls
    touched = 0
    for call in (1, 2, calls // 3, calls // 2, calls - 1):
        made[where].arm(call, call, 7, kind)
        solutions = solver.solve_many(guess=guesses, threads=threads, progress=False)
        made[where].arm(1, 0, 0, kind)
        others = [i for i in range(6) if not np.array_equal(solutions.angle[i], whole.angle[i])]
        assert len(others) <= 1
        touched += len(others)
        for i in range(6):
            if solutions.solved[i]:
                assert solutions[i].check().worst < 1e-5
        again = solver.solve_many(guess=guesses, threads=threads, progress=False)
        np.testing.assert_array_equal(again.angle, whole.angle)
    assert touched > 0


@pytest.mark.parametrize("kind", ["nan", "inf"])
def test_functions_that_stay_wrong_are_a_status_of_every_problem(injected, kind):
    solver, made = injected
    guesses = {"angle": np.zeros((3, 1, 1))}
    made["values"].arm(1, 10**9, 3, kind)
    solutions = solver.solve_many(guess=guesses, threads=2, progress=False)
    made["values"].arm(1, 0, 0, kind)
    assert list(solutions.statuses) == ["not finite"] * 3 and not solutions.solved.any()
    assert solver.solve_many(guess=guesses, threads=2, progress=False).solved.all()
    assert solver.solve().solved


def cycles(controller, count=6):
    return [controller.step({"x": [0.05 * k, 0.1]}, goal=0.4) for k in range(count)]


@pytest.mark.parametrize("where", ["values", "derivatives"])
@pytest.mark.parametrize("kind", FAULTS)
def test_a_cycle_whose_functions_go_wrong(loop, where, kind):
    """Commands stay finite and within their limits; a plan is called solved only where CasADi agrees; the loop finds
    back by itself, and a restart is a fresh start.
    """
    solver, made = loop
    controller = solver.controller()
    whole = [command.u for command in cycles(controller)]
    for first, last in ((1, 1), (2, 2), (3, 5), (1, 10**9)):
        for stage in (0, 9):
            controller.restart()
            cycles(controller, 2)
            made[where].arm(first, last, stage, kind)
            spoilt = cycles(controller, 3)
            made[where].arm(1, 0, 0, kind)
            assert all(np.isfinite(command.u).all() and abs(command.u[0]) <= 4 + 1e-7 for command in spoilt)
            for _ in range(3):
                cycles(controller)
            plan = controller.plan
            assert plan.status in ("solved", "iteration limit")
            assert not plan.solved or plan.check().worst < 1e-5
            assert abs(controller.step({"x": [0.0, 0.1]}, goal=0.4).u[0] - whole[0][0]) < 0.05
            controller.restart()
            np.testing.assert_array_equal([command.u for command in cycles(controller)], whole)


OUT_OF_MEMORY = """
import resource
import trisweep as ts

def problem(steps, size):
    ocp = ts.Problem(steps=steps, step=0.1)
    x, u = ocp.state("x", size), ocp.control("u", size)
    ocp.derivative(x=u)
    ocp.minimize(ts.sumsqr(u) + ts.sumsqr(x))
    ocp.constrain("start", x, equals=1, at="start")
    return ocp

solver = problem(3000, 20).build()
expected = solver.solve().objective
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
failed = 0
for room in (0, 2**20, 2**22, 2**24):
    kept = solver.backend.core  # so that its memory is not there for the next one
    resource.setrlimit(resource.RLIMIT_AS, (used + room, resource.RLIM_INFINITY))
    try:
        solver.backend.renew()
        solver.solve()
    except MemoryError:
        failed += 1
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    del kept
    assert solver.solve().objective == expected
print(failed)
"""

OUT_OF_MEMORY_ELSEWHERE = """
import resource, sys
import numpy as np
import trisweep as ts
from trisweep.riccati import QP, Stage, StageLimits

def tree(n):
    first = Stage(Q=np.eye(n), q=np.ones(n), R=np.eye(n), r=np.zeros(n))
    edge = {"A": np.eye(n), "B": np.eye(n), "b": np.zeros(n)}
    rest = [Stage(Q=np.eye(n), q=np.ones(n), R=np.eye(n), r=np.zeros(n), parent=k, **edge) for k in range(60)]
    return QP([first, *rest], StageLimits(u_upper=1.0), np.ones(n)).solve().objective

def many():
    ocp = ts.Problem(steps=200, step=0.1)
    x, u = ocp.state("x", 30), ocp.control("u", 30)
    ocp.derivative(x=u)
    ocp.minimize(ts.sumsqr(u) + ts.sumsqr(x))
    ocp.constrain("start", x, equals=1, at="start")
    return ocp.build().solve_many(guess={"x": np.zeros((4, 1, 30))}, threads=2, progress=False).objectives[3]

act = {"program": lambda: tree(40), "many": many}[sys.argv[1]]
expected = act()
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
failed = 0
for room in (0, 2**20, 2**21, 2**22, 2**23, 2**24):
    resource.setrlimit(resource.RLIMIT_AS, (used + room, resource.RLIM_INFINITY))
    try:
        assert act() == expected
    except (MemoryError, ts.TrisweepError):
        failed += 1
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert act() == expected
print(failed)
"""


@needs_own_memory
@pytest.mark.skipif(sys.platform != "linux", reason="limits of address space")
def test_memory_that_runs_out_in_building():
    run = subprocess.run([sys.executable, "-c", OUT_OF_MEMORY], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) >= 2


@needs_own_memory
@pytest.mark.skipif(sys.platform != "linux", reason="limits of address space")
@pytest.mark.parametrize("what", ["program", "many"])
def test_memory_that_runs_out_in_building_all_of_it(what):
    run = subprocess.run([sys.executable, "-c", OUT_OF_MEMORY_ELSEWHERE, what], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-2000:]
    assert int(run.stdout) >= 1
