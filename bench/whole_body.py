"""Whole bodies: robots on their feet crouch by 10 cm, with exact Hessians; what it takes to build and to solve.

One row a robot, each in a process of its own: the statement (forward dynamics as a node), the build without and with
the cache and its parts, memory, size of the machine code, iterations, and the time of one, split into functions and
linear algebra. The statements are in `support/whole_bodies.py`.

    python bench/whole_body.py [robot ...]
    python bench/whole_body.py --ways    # recursions over bodies and straight code, beside Pinocchio
    python bench/whole_body.py --settings    # threads, Gauss-Newton, inverse dynamics as equalities
    python bench/whole_body.py --rivals PYTHON    # Crocoddyl, in the environment of that Python
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pinocchio as pin
import trisweep as ts
from support.machine import describe
from support.whole_bodies import (
    DOWN,
    FRICTION,
    STANCES,
    STATEMENTS,
    STEP,
    STEPS,
    crouch,
    inverse_crouch,
    standing,
)  # fmt: skip
from trisweep.native.compiler import compiler
from trisweep.ocp.stages import functions, recursive_stage
from trisweep.problems.robot import robot_file


def timed(module: Any, name: str, spent: dict[str, float], part: str) -> None:
    """Count the seconds in a function of a module."""
    inner: Callable[..., Any] = getattr(module, name)

    def outer(*given: Any, **named: Any) -> Any:
        begin = perf_counter()
        try:
            return inner(*given, **named)
        finally:
            spent[part] = spent.get(part, 0.0) + perf_counter() - begin

    setattr(module, name, outer)


def milliseconds(best: Any) -> list[float]:
    """Of an iteration: all, functions, linear algebra."""
    return [1e3 * t / best.iterations for t in (best.seconds, best.seconds_functions, best.seconds_linear)]


def quickest(solver: Any, guess: dict[str, Any], rounds: int = 5, **settings: Any) -> Any:
    """The quickest of some solves, or the one that fails."""
    first = solver.solve(guess=guess, settings=ts.Settings(**settings))
    again = range(rounds - 1 if first.status == "solved" else 0)
    runs = [first, *(solver.solve(guess=guess, settings=ts.Settings(**settings)) for _ in again)]
    return min(runs, key=lambda run: run.statistics.seconds)


def measure(name: str, integrator: str) -> None:
    """Print one row: seconds to state, to derive, to compile, to build in all, MB, then the best of some solves."""
    spent: dict[str, float] = {}
    timed(recursive_stage, "remainder", spent, "derive")
    timed(functions.Transcription, "functions", spent, "derive")
    timed(compiler, "_build", spent, "compile")
    begin = perf_counter()
    ocp, guess = STATEMENTS[name](integrator)
    stated = perf_counter()
    solver = ocp.build()
    built = perf_counter() - stated
    best = quickest(solver, guess, rounds=7)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    parts = [stated - begin, spent.get("derive", 0.0), spent.get("compile", 0.0), built]
    numbers = [*(f"{t:.2f}" for t in parts), f"{memory:.0f}", best.status, best.statistics.iterations]
    print(*numbers, *(f"{t:.2f}" for t in milliseconds(best.statistics)), f"{best.statistics.seconds:.3f}", sep=" | ")


def free_motion(name: str) -> tuple[ts.Problem, np.ndarray]:
    """A robot that nothing holds: rows that are its accelerations and little else; and where it starts."""
    robot = ts.robot(name)
    ocp = ts.Problem(steps=48, step=STEP, integrator="semi-implicit euler")
    q, v, tau = ocp.state("q", on=robot), ocp.state("v", robot.nv), ocp.control("tau", robot.nv)
    ocp.derivative(q=v, v=robot.forward_dynamics(q, v, tau))
    ocp.minimize(ts.sumsqr(tau) + ts.sumsqr(v))
    begin = np.clip(robot.neutral(), robot.q_lower, robot.q_upper)
    ocp.constrain("start", q, equals=begin, at="start")
    ocp.constrain("speed", v, equals=0.1, at="start")
    return ocp, begin


def microseconds(name: str, recursive: bool) -> tuple[float, float]:
    """Values, Jacobian and exact Hessian of a step, a stage; and seconds to state and to build."""
    functions.MANY_UNKNOWNS = 1 if recursive else 10**6
    begin = perf_counter()
    ocp, q = free_motion(name)
    solver = ocp.build()
    built, times = perf_counter() - begin, []
    for _ in range(10):
        done = solver.solve(guess={"q": q}, settings=ts.Settings(iterations=5)).statistics
        times.append(done.seconds_functions / done.differentiations / 48)
    return 1e6 * min(times), built


def first_derivatives(name: str) -> float:
    """Pinocchio's first derivatives of forward dynamics, microseconds."""
    floats = ts.robot(name).has_floating_base
    path = str(robot_file(name))
    other = pin.buildModelFromUrdf(path, pin.JointModelFreeFlyer()) if floats else pin.buildModelFromUrdf(path)
    data, q, v, times = other.createData(), pin.neutral(other), 0.1 * np.ones(other.nv), []
    for _ in range(15):
        begin = perf_counter()
        for _ in range(50):
            pin.computeABADerivatives(other, data, q, v, v)
        times.append((perf_counter() - begin) / 50)
    return 1e6 * min(times)


def ways() -> None:
    """Recursions, straight code where it is built in a minute, and Pinocchio's first derivatives alone."""
    print(describe("casadi", "numpy", "pin"))
    print("| robot | recursions, us | made in, s | straight code, us | made in, s | Pinocchio, first derivatives, us |")
    print("| --- " * 6 + "|")
    for name in ("iiwa14", "panda", "allegro", "go1", "g1", "talos"):
        straight = microseconds(name, False) if name not in ("g1", "talos") else ("", "")
        numbers = [*microseconds(name, True), *straight, first_derivatives(name)]
        print(f"| {name} | {' | '.join(f'{x:.2f}' if x != '' else '' for x in numbers)} |", flush=True)


def settings() -> None:
    """Two threads, Gauss-Newton, and inverse dynamics as equalities beside forward dynamics as a node."""
    print(describe("casadi", "numpy"))
    ocp, guess = crouch("talos")
    solver, answers = ocp.build(), []
    for threads in (1, 2):
        best = quickest(solver, guess, threads=threads)
        answers.append(best.q)
        each, linear = milliseconds(best.statistics), best.statistics
        both = 1e3 * (linear.seconds_functions + linear.seconds_linear) / linear.iterations
        split = f"functions {each[1]:.2f}, linear {each[2]:.2f}, both {both:.2f}"
        print(f"- talos, {threads} threads: {each[0]:.2f} ms, {split}")
    print("- the same bits:", np.array_equal(*answers))
    for name in STANCES:
        ocp, guess = crouch(name)
        for hessian in ("exact", "gauss-newton"):
            solver = crouch(name)[0].build(hessian=hessian)
            for barrier in ("monotone", "adaptive"):
                best = quickest(solver, guess, rounds=3, barrier=barrier)
                taken, each = best.statistics, milliseconds(best.statistics)
                print(
                    f"- {name}, {hessian}, {barrier} barrier: {best.status}, {taken.iterations} iterations, "
                    f"{1e3 * taken.seconds:.0f} ms, {each[0]:.2f} each, objective {best.objective:.9g}"
                )
    for name in ("go1", "hyq"):
        begin = perf_counter()
        ocp, guess = inverse_crouch(name)
        solver = ocp.build()
        built = perf_counter() - begin
        best = quickest(solver, guess, rounds=3)
        each = milliseconds(best.statistics)
        print(
            f"- {name}, inverse dynamics as equalities: {built:.1f} s, {best.status}, {best.statistics.iterations} "
            f"iterations, {each[0]:.2f} ms, functions {each[1]:.2f}, linear {each[2]:.2f}, "
            f"objective {best.objective:.9g}"
        )


def rivals(python: str) -> None:
    """Crocoddyl on the same crouches, one thread."""
    print(describe("casadi", "numpy"))
    print("| robot | solver | iterations | ms each | ended by its own test | height missed, m |")
    print("| --- " * 6 + "|")
    for name, stance in STANCES.items():
        robot, stand, held = standing(name)
        told = {
            "urdf": str(robot_file(name)), "stand": stand.tolist(), "feet": stance.feet, "flat": stance.flat,
            "damping": 2 / held[0].period, "down": DOWN, "friction": FRICTION, "steps": STEPS, "step": STEP,
            "effort": robot.effort_limit[6:].tolist(), "tau": robot.standing_torques(stand, held)[6:].tolist(),
        }  # fmt: skip
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write(json.dumps(told))
            file.flush()
            script = Path(__file__).parent / "support" / "rivals" / "crocoddyl_crouch.py"
            alone = {**os.environ, "OMP_NUM_THREADS": "1"}
            done = subprocess.run([python, str(script), file.name], capture_output=True, text=True, env=alone)
        for line in done.stdout.splitlines() or [done.stderr.strip().splitlines()[-1]]:
            print(f"| {name} | {line} |", flush=True)


def main() -> None:
    names = [name for name in sys.argv[1:] if name in STATEMENTS] or list(STATEMENTS)
    print(describe("casadi", "numpy"))
    columns = "state, s | derive | compile | build, s | MB | status | iterations | ms each | functions | linear"
    print(f"| robot | cache | {columns} | solve, s | code, MB |")
    print("| --- " * 14 + "|")
    for name in names:
        for integrator in ("semi-implicit euler", "rk4") if name == "go1" else ("semi-implicit euler",):
            with tempfile.TemporaryDirectory() as folder:
                for cache in ("cold", "warm"):
                    row = _row(name, integrator, folder)
                    code = sum(file.stat().st_size for file in Path(folder).iterdir()) / 2**20
                    print(f"| {name}, {integrator} | {cache} | {row} | {code:.2f} |", flush=True)


def _row(name: str, integrator: str, cache: str) -> str:
    command = [sys.executable, __file__, "--one", name, integrator]
    done = subprocess.run(command, env={**os.environ, "TRISWEEP_CACHE": cache}, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else done.stderr.strip().splitlines()[-1]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        measure(sys.argv[2], sys.argv[3])
    elif sys.argv[1:2] == ["--rivals"]:
        rivals(sys.argv[2])
    elif sys.argv[1:] == ["--ways"]:
        ways()
    elif sys.argv[1:] == ["--settings"]:
        settings()
    else:
        main()
