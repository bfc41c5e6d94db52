"""Solves by the thousand: `solve_many` on one thread and on all, beside a loop over `solve`.

    python bench/many.py [--count N]

Rates are problems a second by the wall, best of several rounds, the ways interleaved. Answers are compared bit by bit.
"""

import argparse
import os
import time

import casadi as ca
import numpy as np
import trisweep as ts
from support.machine import describe

ROUNDS = 3


def reaches(count: int):
    """Random goals of the iiwa's reach."""
    task, arm = ts.task("iiwa_reach"), ts.robot("iiwa14")
    rng = np.random.default_rng(0)
    goals = 0.5 * np.array([arm.random_configuration(rng) for _ in range(count)])
    return task.build(), task.guess, {**task.parameters, "goal": goals}, "goal"


def cart_poles(count: int):
    """A cart-pole, 4 states and 50 steps, brought to rest from random places."""
    ocp = ts.Problem(steps=50, step=0.04, integrator="rk4")
    q, v = ocp.state("q", 2, lower=[-2, -np.inf], upper=[2, np.inf]), ocp.state("v", 2)
    u, first = ocp.control("u", lower=-20, upper=20), ocp.parameter("first", 2)
    s, c = ca.sin(q[1]), ca.cos(q[1])
    push, moved = u + 0.15 * s * v[1] ** 2, 1.0 + 0.3 * s**2
    a = (push + 0.3 * 9.81 * s * c) / moved
    ocp.derivative(q=v, v=ca.vertcat(a, -(push * c + 1.3 * 9.81 * s) / (0.5 * moved)))
    ocp.minimize(0.01 * u**2 + ca.sumsqr(q) + 0.1 * ca.sumsqr(v))
    ocp.constrain("first", q, equals=first, at="start")
    ocp.constrain("first at rest", v, equals=0, at="start")
    return ocp.build(), None, {"first": np.random.default_rng(1).uniform(-0.8, 0.8, (count, 2))}, "first"


def bounded_lqrs(count: int):
    """Bounded linear-quadratic problems, 20 steps, 8 states, 4 controls."""
    rng = np.random.default_rng(2)
    A, B = np.eye(8) + 0.1 * rng.standard_normal((8, 8)), 0.3 * rng.standard_normal((8, 4))
    ocp = ts.Problem(steps=20)
    x, u = ocp.state("x", 8, lower=-5, upper=5), ocp.control("u", 4, lower=-1, upper=1)
    first = ocp.parameter("first", 8)
    ocp.next(x=A @ x + B @ u)
    ocp.minimize(ca.sumsqr(x) + 0.1 * ca.sumsqr(u))
    ocp.minimize(ca.sumsqr(x), at="end")
    ocp.constrain("first", x, equals=first, at="start")
    return ocp.build(), None, {"first": rng.uniform(-2, 2, (count, 8))}, "first"


def measure(name: str, count: int, looped: int, made) -> None:
    solver, guess, parameters, varied = made(count)
    threads = os.cpu_count() or 1
    best = {"loop": 0.0, 1: 0.0, threads: 0.0}
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        loop = [solver.solve(guess, **{**parameters, varied: row}) for row in parameters[varied][:looped]]
        best["loop"] = max(best["loop"], looped / (time.perf_counter() - begin))
        for n in (1, threads):
            many = solver.solve_many(guess, threads=n, progress=False, **parameters)
            best[n] = max(best[n], count / many.wall_seconds)
            assert all((many.z[i] == solution.point.z).all() for i, solution in enumerate(loop)), "bits differ"
    print(
        f"{name:<34} {count:>6} {many.solved.sum():>7} {best['loop']:>9.0f} {best[1]:>9.0f} {best[threads]:>9.0f} "
        f"{best[threads] / best[1]:>8.2f} {best[threads] / best['loop']:>8.2f} {1e3 * count / best[threads]:>9.1f}"
    )


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--count", type=int, default=10_000, help="cart-poles; a tenth of it reaches")
    count = arguments.parse_args().count
    print(describe())
    print(f"\n{'':<34} {'':>6} {'':>7} {'problems a second':^29} {'all / 1':>8} {'all /':>8} {'all':>9}")
    columns = f"{'count':>6} {'solved':>7} {'loop':>9} {'1 thread':>9} {'all':>9} {'thread':>8} {'loop':>8} {'ms':>9}"
    print(f"{'':<34} {columns}")
    measure("iiwa reach, 50 steps", max(count // 10, 8), min(50, max(count // 10, 8)), reaches)
    measure("cart-pole, 50 steps", count, min(200, count), cart_poles)
    measure("bounded LQR, 20 steps, (8, 4)", 128, 64, bounded_lqrs)
