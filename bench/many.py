"""Solves by the thousand: `solve_many` on one thread and on all, beside a loop over `solve`, and on executors.

    python bench/many.py [--count N] [--only reach|cart-pole|lqr|executors|memory]

Rates are problems a second by the wall, best of several rounds, the ways interleaved; the load of the machine before
and after is said, since figures of a machine that others use are lower bounds. Answers are compared bit by bit.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
import trisweep as ts
from support.machine import describe

ROUNDS = 5
THREADS = os.cpu_count() or 1


class Sweep(NamedTuple):
    """A solver, what is the same for all problems, and what has a row for each: of one parameter or of `start`."""

    solver: Any
    given: dict[str, Any]
    rows: Callable[[Any], dict[str, Any]]
    values: np.ndarray

    def many(self, **how: Any) -> ts.Solutions:
        """All problems at once, on threads or an executor."""
        given = {**self.given, **self.rows(self.values)}
        return ts.solve_many(self.solver, progress=False, **how, **given)

    def one(self, i: int) -> ts.Solution:
        """A problem by `solve`."""
        return self.solver.solve(**self.given, **self.rows(self.values[i]))


def reaches(count: int) -> Sweep:
    """Random goals of the iiwa's reach."""
    task, arm = ts.task("iiwa_reach"), ts.robot("iiwa14")
    rng = np.random.default_rng(0)
    goals = 0.5 * np.array([arm.random_configuration(rng) for _ in range(count)])
    given = {"guess": task.guess, **{name: value for name, value in task.parameters.items() if name != "goal"}}
    return Sweep(task.build(), given, lambda goal: {"goal": goal}, goals)


def cart_poles(count: int) -> Sweep:
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
    places = np.random.default_rng(1).uniform(-0.8, 0.8, (count, 2))
    return Sweep(ocp.build(), {}, lambda first: {"first": first}, places)


def bounded_lqrs(count: int) -> Sweep:
    """Bounded linear-quadratic problems, 20 steps, 8 states, 4 controls, from random first states."""
    rng = np.random.default_rng(2)
    A, B = np.eye(8) + 0.1 * rng.standard_normal((8, 8)), 0.3 * rng.standard_normal((8, 4))
    ocp = ts.Problem(steps=20)
    x, u = ocp.state("x", 8, lower=-5, upper=5), ocp.control("u", 4, lower=-1, upper=1)
    ocp.start("x")
    ocp.next(x=A @ x + B @ u)
    ocp.minimize(ca.sumsqr(x) + 0.1 * ca.sumsqr(u))
    ocp.minimize(ca.sumsqr(x), at="end")
    return Sweep(ocp.build(), {}, lambda first: {"start": {"x": first}}, rng.uniform(-2, 2, (count, 8)))


def published_lqrs(count: int, most: float) -> Sweep:
    """Random ones by the recipe for which acados' times are published (Frey et al. 2025, "Differentiable nonlinear
    model predictive control", arXiv 2505.01353): 20 steps, 8 states without limits, 4 controls within +-most.
    """
    rng = np.random.default_rng(42)
    A, B, b = np.eye(8) + 0.2 * rng.standard_normal((8, 8)), rng.standard_normal((8, 4)), rng.standard_normal(8)
    ocp = ts.Problem(steps=20)
    x, u = ocp.state("x", 8), ocp.control("u", 4, lower=-most, upper=most)
    ocp.start("x")
    ocp.next(x=A @ x + B @ u + b)
    ocp.minimize(0.5 * ca.sumsqr(x) + 0.5 * ca.sumsqr(u))
    ocp.minimize(0.5 * ca.sumsqr(x), at="end")
    return Sweep(ocp.build(), {}, lambda first: {"start": {"x": first}}, rng.standard_normal((count, 8)))


def measure(name: str, sweep: Sweep, looped: int) -> None:
    """Threads and the loop."""
    best = {"loop": 0.0, 1: 0.0, THREADS: 0.0}
    count = len(sweep.values)
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        loop = [sweep.one(i) for i in range(looped)]
        best["loop"] = max(best["loop"], looped / (time.perf_counter() - begin))
        for threads in (1, THREADS):
            begin = time.perf_counter()
            given = {**sweep.given, **sweep.rows(sweep.values)}
            found = sweep.solver.solve_many(threads=threads, progress=False, **given)
            best[threads] = max(best[threads], count / (time.perf_counter() - begin))
            assert all((found.answers.z[i] == one.point.z).all() for i, one in enumerate(loop)), "bits differ"
    shares = np.percentile(found.iterations, [5, 50, 95, 100]).astype(int)
    print(
        f"| {name} | {count} | {found.solved.sum()} | {'/'.join(map(str, shares))} | {best['loop']:.0f} | "
        f"{best[1]:.0f} | {best[THREADS]:.0f} | {best[THREADS] / best[1]:.2f} | {best[THREADS] / best['loop']:.2f} | "
        f"{1e3 * count / best[THREADS]:.1f} |",
        flush=True,
    )


@contextmanager
def dask_workers():
    """The executor of a local cluster of processes, configured as `docs/many.md` says."""
    import dask
    from distributed import Client, LocalCluster

    quiet: dict[str, Any] = {"dashboard_address": None, "silence_logs": 50}
    with (
        dask.config.set({"distributed.worker.profile.enabled": False}),
        LocalCluster(n_workers=THREADS, threads_per_worker=1, **quiet) as cluster,
        Client(cluster, direct_to_workers=True) as client,
    ):
        yield client.get_executor()


def pool(kind: str) -> Executor:
    """A pool of processes."""
    return ProcessPoolExecutor(THREADS, mp_context=multiprocessing.get_context(kind))


def executors(sweep: Sweep) -> None:
    """Each beside the same number of threads, in turns, its workers warm."""
    print(f"\n| {len(sweep.values)} cart-poles on {THREADS} | solves/s | share of threads | bits |")
    print("| --- | ---: | ---: | --- |")
    for name, made in {"fork": lambda: pool("fork"), "spawn": lambda: pool("spawn"), "Dask": dask_workers}.items():
        with made() as executor:
            sweep.many(executor=executor)
            rates: dict[str, float] = {"threads": 0.0, name: 0.0}
            for _ in range(ROUNDS):
                for way, how in (("threads", {"threads": THREADS}), (name, {"executor": executor})):
                    begin = time.perf_counter()
                    given = {**sweep.given, **sweep.rows(sweep.values)}
                    one = (
                        sweep.solver.solve_many(progress=False, **how, **given)
                        if way == "threads"
                        else sweep.many(**how)
                    )
                    rates[way] = max(rates[way], len(one) / (time.perf_counter() - begin))
                    expected = one if way == "threads" else expected  # noqa: F821  the first of the two
            same = (one.answers.z == expected.answers.z).all()
        share = rates[name] / rates["threads"]
        print(f"| {name} | {rates[name]:.0f} | {share:.2f} | {'the same' if same else 'OTHERS'} |", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        sweep.many(resume=folder)
        middle = time.perf_counter()
        sweep.many(resume=folder)
        print(
            f"\nresume= without an executor: {middle - begin:.2f} s with its files, "
            f"{time.perf_counter() - middle:.2f} s where all is there already"
        )


def memory(sweep: Sweep) -> None:
    """What the process holds while answers are let go, and what the last ones are."""

    def held() -> float:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    print(f"\nmemory, batches of {len(sweep.values)} cart-poles one after another, answers let go:")
    for batch in range(9):
        sweep.many(threads=THREADS)
        if batch % 2 == 0:
            print(f"  after {(batch + 1) * len(sweep.values)} problems {held():.1f} MB")


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--count", type=int, default=10_000, help="cart-poles; a tenth of it reaches")
    arguments.add_argument("--only", choices=["reach", "cart-pole", "lqr", "executors", "memory"])
    options = arguments.parse_args()
    count, tenth = options.count, max(options.count // 10, 8)
    print(describe())
    print(f"load before: {os.getloadavg()[0]:.1f} on {THREADS} processors\n")
    wanted = {options.only} if options.only else {"reach", "cart-pole", "lqr", "executors", "memory"}
    if wanted & {"reach", "cart-pole", "lqr"}:
        print(f"| problems a second | count | solved | iterations 5/50/95/100 % | loop | 1 thread | {THREADS} threads "
              f"| {THREADS} / 1 | {THREADS} / loop | ms for all |")  # fmt: skip
        print("| --- |" + " ---: |" * 9)
    if "reach" in wanted:
        measure("iiwa reach, 50 steps", reaches(tenth), min(50, tenth))
    if "cart-pole" in wanted:
        measure("cart-pole, 50 steps", cart_poles(count), min(200, count))
    if "lqr" in wanted:
        measure("bounded LQR, 20 steps, (8, 4)", bounded_lqrs(128), 64)
        for most in (1e4, 1.0):
            measure(f"as published, controls within {most:g}", published_lqrs(128, most), 64)
    if "executors" in wanted:
        executors(cart_poles(count))
    if "memory" in wanted:
        memory(cart_poles(tenth))
    print(f"\nload after: {os.getloadavg()[0]:.1f}")
