"""The compiler beside CasADi's virtual machine and CasADi's generated C, on one stage of a seven-joint arm.

    python bench/compiler.py

The function is an Euler step with Jacobian and Lagrangian Hessian (`arm_step`), evaluated for a horizon of 50 stages.
All rows are measured in turns, round after round, and each keeps its best time: noise of a shared machine falls on
all alike. The row "by address" is what the C++ core pays; "batch" adds the allocation of results in Python. The row
of generated C needs gcc and is left out without it.
"""

import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import casadi as ca
import numpy as np
from support.arm_step import euler_step, rollout
from support.machine import describe
from support.timing import by_address
from trisweep.native import compile_function

STAGES = 50
ROUNDS = 40
CALLS_A_ROUND = 5
GCC_FLAGS = ["-O3", "-march=native", "-ffast-math", "-fPIC", "-shared"]


def horizon(function: ca.Function) -> list[np.ndarray]:
    random = np.random.default_rng(0)
    n_z, n_multipliers = function.nnz_in(0), function.nnz_in(1)
    return [random.normal(size=(STAGES, n_z)), random.normal(size=(STAGES, n_multipliers)), np.array([[0.05]])]


def caller_of(mapped: ca.Function, inputs: list[np.ndarray]):
    """A call of a CasADi function without its conversions, the arrays it fills, and what to keep for it."""
    buffer, evaluate = mapped.buffer()
    arrays = [np.ascontiguousarray(np.broadcast_to(x, (STAGES, x.shape[1]))) for x in inputs]
    results = [np.empty((STAGES, mapped.size1_out(i))) for i in range(mapped.n_out())]
    for i, x in enumerate(arrays):
        buffer.set_arg(i, memoryview(x))
    for i, y in enumerate(results):
        buffer.set_res(i, memoryview(y))
    return evaluate, results, (buffer, arrays)


def generated_c(mapped: ca.Function, folder: Path) -> tuple[ca.Function, float]:
    """The mapped function from C code compiled by gcc, and the seconds gcc took."""
    mapped.generate("mapped.c", {"with_header": False})
    shutil.move("mapped.c", folder / "mapped.c")
    start = time.perf_counter()
    subprocess.run(["gcc", *GCC_FLAGS, folder / "mapped.c", "-o", folder / "mapped.so", "-lm"], check=True)
    return ca.external(mapped.name(), str(folder / "mapped.so")), time.perf_counter() - start


def best_of_rounds(calls: dict) -> dict[str, float]:
    """Microseconds a stage of each call."""
    best = dict.fromkeys(calls, np.inf)
    for _ in range(ROUNDS):
        for name, call in calls.items():
            for _ in range(CALLS_A_ROUND):
                start = time.perf_counter()
                call()
                best[name] = min(best[name], time.perf_counter() - start)
    return {name: seconds / STAGES * 1e6 for name, seconds in best.items()}


def build_seconds(function: ca.Function, cache: str, optimize: str = "full", repetitions: int = 5) -> np.ndarray:
    """Best seconds by the clock and of the processor: the two differ where others use the machine."""
    os.environ["TRISWEEP_CACHE"] = cache
    best = np.full(2, np.inf)
    for _ in range(repetitions):
        start = np.array([time.perf_counter(), time.process_time()])
        compile_function(function, optimize=optimize)
        best = np.minimum(best, [time.perf_counter(), time.process_time()] - start)
    return best


def per_stage(function: ca.Function, folder: Path) -> None:
    inputs = horizon(function)
    mapped = function.map(STAGES)
    calls, results, alive = {}, {}, []

    def add(name, call, arrays, keep=None):
        calls[name], results[name] = call, arrays
        alive.append(keep)

    add("CasADi virtual machine", *caller_of(mapped, inputs))
    gcc_seconds = None
    if shutil.which("gcc"):
        external, gcc_seconds = generated_c(mapped, folder)
        alive.append(external)
        add("generated C, gcc -O3", *caller_of(external, inputs))
    full, quick = compile_function(function), compile_function(function, optimize="quick")
    add("Trisweep quick, by address", *by_address(quick, inputs, STAGES))
    add("Trisweep, by address", *by_address(full, inputs, STAGES))
    add("Trisweep, batch", lambda: full.batch(*inputs), list(full.batch(*inputs)))
    times = best_of_rounds(calls)

    print(f"Per stage: {function.n_instructions()} instructions, {STAGES} stages, {full.lanes} lanes, one core")
    print("                                us/stage   VM is    gcc is   largest difference to the VM")
    reference = results["CasADi virtual machine"]
    gcc_time = times.get("generated C, gcc -O3", np.nan)
    for name, microseconds in times.items():
        error = max(np.max(np.abs(y - r) / np.maximum(1, np.abs(r))) for y, r in zip(results[name], reference))
        vm, gcc = times["CasADi virtual machine"] / microseconds, gcc_time / microseconds
        print(f"  {name:28s} {microseconds:9.3f} {vm:7.1f}x {gcc:8.2f}x   {error:.1e}")
    if gcc_seconds is not None:
        print(f"  (gcc took {gcc_seconds:.1f} s)")


def builds(function: ca.Function, folder: Path) -> None:
    cache = str(folder / "cache")
    build_seconds(function, cache, repetitions=1)
    print("\nBuild, best of 5                   seconds   of the processor")
    rows = {"cold": ("off", "full"), "quick": ("off", "quick"), "from the cache": (cache, "full")}
    for name, (place, optimize) in rows.items():
        seconds, of_processor = build_seconds(function, place, optimize)
        print(f"  {name:30s} {seconds:9.3f} {of_processor:9.3f}")


def growth() -> None:
    print("\nGrowth of the cold build      instructions   seconds   of the processor   those for each 100,000")
    for steps, joints in ((1, 5), (1, 7), (2, 7), (4, 7), (8, 7), (12, 7), (16, 7)):
        function = rollout(steps, joints)
        n = function.n_instructions()
        seconds, of_processor = build_seconds(function, "off", repetitions=1)
        print(
            f"  {steps:2d} steps of {joints} joints {n:18d} {seconds:11.2f} {of_processor:11.2f} "
            f"{of_processor / n * 1e5:18.2f}"
        )


if __name__ == "__main__":
    print(describe("casadi", "llvmlite", "numpy"))
    function = euler_step()
    os.environ["TRISWEEP_CACHE"] = "off"
    with tempfile.TemporaryDirectory() as folder:
        per_stage(function, Path(folder))
        builds(function, Path(folder))
    growth()
