"""Whole bodies: robots on their feet crouch by 10 cm, with exact Hessians; what it takes to build and to solve.

One row a robot, each in a process of its own: the statement (forward dynamics as a node), the build without and with
the cache, memory, size of the machine code, iterations, and the time of one, split into functions and linear algebra.

    python bench/whole_body.py [robot ...]
    python bench/whole_body.py --ways    # recursions over bodies and straight code, beside Pinocchio
    python bench/whole_body.py --settings    # threads, Gauss-Newton
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
import pinocchio as pin
import trisweep as ts
from support.machine import describe
from trisweep.ocp.stages import functions
from trisweep.problems.robot import robot_file

STEPS, STEP, DOWN, FRICTION = 30, 0.02, 0.1, 0.7


@dataclass(frozen=True)
class Stance:
    """Links that stand, whether their soles are flat, and the joints that are bent at the start, rad."""

    feet: tuple[str, ...]
    flat: bool
    bent: dict[str, float]


def legs(joints: tuple[str, ...], angles: tuple[float, ...], names: tuple[str, ...]) -> dict[str, float]:
    return {joint.format(name): angle for name in names for joint, angle in zip(joints, angles)}


SIDES, CORNERS = ("left", "right"), ("FR", "FL", "RR", "RL")
STANCES = {
    "go1": Stance(
        tuple(f"{corner}_foot" for corner in CORNERS), False,
        legs(("{}_thigh_joint", "{}_calf_joint"), (0.8, -1.6), CORNERS),
    ),
    "hyq": Stance(
        ("lf_foot", "rf_foot", "lh_foot", "rh_foot"), False,
        legs(("{}_hfe_joint", "{}_kfe_joint"), (0.75, -1.5), ("lf", "rf"))
        | legs(("{}_hfe_joint", "{}_kfe_joint"), (-0.75, 1.5), ("lh", "rh")),
    ),
    "g1": Stance(
        tuple(f"{side}_ankle_roll_link" for side in SIDES), True,
        legs(("{}_hip_pitch_joint", "{}_knee_joint", "{}_ankle_pitch_joint"), (-0.4, 0.8, -0.4), SIDES),
    ),
    "talos": Stance(
        tuple(f"{side}_sole_link" for side in SIDES), True,
        legs(("leg_{}_3_joint", "leg_{}_4_joint", "leg_{}_5_joint"), (-0.4, 0.8, -0.4), SIDES),
    ),
}  # fmt: skip


def crouch(name: str, integrator: str = "semi-implicit euler") -> tuple[ts.Problem, dict[str, np.ndarray]]:
    """The problem, and a guess: standing still."""
    robot, stance = ts.robot(name), STANCES[name]
    stand = robot.neutral()
    for joint, part in zip(robot.joint_names, robot.q_slices):
        stand[part] = stance.bent.get(joint, stand[part])
    stand = np.clip(stand, robot.q_lower, robot.q_upper)
    stand[2] -= robot.link_pose(stand, stance.feet[0])[1][2]
    held = [(ts.weld if stance.flat else ts.point)(foot) for foot in stance.feet]

    ocp = ts.Problem(steps=STEPS, step=STEP, integrator=integrator)
    q = ocp.state("q", on=robot, lower=robot.q_lower, upper=robot.q_upper)
    v = ocp.state("v", robot.nv, lower=-20, upper=20)
    limit = robot.effort_limit[6:]
    tau = ocp.control("tau", robot.nv - 6, lower=-limit, upper=limit)
    a, forces = robot.forward_dynamics(q, v, ts.vertcat(np.zeros(6), tau), held)
    ocp.derivative(q=v, v=a)
    ocp.minimize(1e-3 * ts.sumsqr(tau) + 1e-2 * ts.sumsqr(v) + 1e-4 * ts.sumsqr(a))
    ocp.minimize(10 * ts.sumsqr(v), at="end")
    for foot, force in zip(stance.feet, forces):
        x, y, z = ts.vertsplit(robot.link_pose(q, foot)[0] @ force[-3:])
        ocp.constrain(f"{foot} pushes", z, lower=1)
        ocp.constrain(f"{foot} grips", FRICTION * z - ts.vertcat(x, -x, y, -y), lower=0)
    ocp.constrain("stand", q, equals=stand, at="start")
    ocp.constrain("at rest", v, equals=0, at="start")
    ocp.constrain("down", q[2], equals=stand[2] - DOWN, at="end")
    return ocp, {"q": stand, "tau": robot.standing_torques(stand, held)[6:]}


def measure(name: str, integrator: str) -> None:
    """Print one row: seconds to state and to build, MB, then the best of some solves."""
    begin = perf_counter()
    ocp, guess = crouch(name, integrator)
    stated = perf_counter()
    solver = ocp.build()
    built = perf_counter()
    runs = [solver.solve(guess=guess) for _ in range(7)]
    best = min((run.statistics for run in runs), key=lambda each: each.seconds)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    each = [1e3 * t / best.iterations for t in (best.seconds, best.seconds_functions, best.seconds_linear)]
    numbers = (f"{stated - begin:.2f}", f"{built - stated:.2f}", f"{memory:.0f}", runs[0].status, best.iterations)
    print(*numbers, *(f"{t:.2f}" for t in each), f"{best.seconds:.3f}", sep=" | ")


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
    """Two threads, and Gauss-Newton."""
    ocp, guess = crouch("talos")
    solver = ocp.build()
    for threads in (1, 2):
        chosen = ts.Settings(threads=threads)
        best = min((solver.solve(guess=guess, settings=chosen).statistics for _ in range(5)), key=lambda s: s.seconds)
        each = [1e3 * t / best.iterations for t in (best.seconds, best.seconds_functions, best.seconds_linear)]
        print(f"talos, {threads} threads: {each[0]:.2f} ms, functions {each[1]:.2f}, linear {each[2]:.2f}")
    ocp, guess = crouch("g1")
    print("g1, Gauss-Newton:", str(ocp.build(hessian="gauss-newton").solve(guess=guess)).splitlines()[:3])


def main() -> None:
    names = [name for name in sys.argv[1:] if name in STANCES] or list(STANCES)
    print(describe("casadi", "numpy"))
    columns = "state, s | build, s | MB | status | iterations | ms each | functions | linear | solve, s | code, MB"
    print(f"| robot | cache | {columns} |")
    print("| --- " * 12 + "|")
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
    elif sys.argv[1:] == ["--ways"]:
        ways()
    elif sys.argv[1:] == ["--settings"]:
        settings()
    else:
        main()
