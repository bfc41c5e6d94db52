"""The 64 QPs of mpc_qpbenchmark (walking, a wheeled pendulum, a quadruped) to 1e-9, beside Clarabel, PIQP and ProxQP.

    pip install clarabel piqp proxsuite
    python bench/mpc_qp.py > bench/results/mpc_qp.txt

The problems are stated anew (`suite/mpc_qp`) from their publication, and every solver is given the same numbers: ours
the statement, the others its matrices. Times are the solvers' own, best of interleaved rounds on one core: ours of
`solve`, with everything from the parameters on, once the statement is built; the others' of `setup` and `solve`, and of
`solve` alone. "solved" is what the solver says; "off": the largest violation of a row or bound by its answer, and the
difference of its objective from ours over max(1, |objective|).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import casadi as ca
import clarabel
import numpy as np
import piqp
import proxsuite
from scipy import sparse
from suite.mpc_qp import quadruped, walking, wheeled_pendulum
from support.machine import describe
from trisweep.native import level
from trisweep.ocp import Settings
from trisweep.ocp.solve.nonlinear_program import assemble

ROUNDS, TOLERANCE = 10, 1e-9
FAMILIES = {"walking": walking, "wheeled pendulum": wheeled_pendulum, "quadruped": quadruped}


@dataclass(frozen=True)
class Run:
    """Seconds of setup and solve, of the solve alone, whether it says solved, and the point."""

    seconds: float
    solve_seconds: float
    solved: bool
    x: np.ndarray


@dataclass(frozen=True)
class Matrices:
    """min 1/2 x'P x + q'x + constant, A x = b, lower <= G x <= upper, x_lower <= x <= x_upper."""

    P: sparse.csc_matrix
    q: np.ndarray
    constant: float
    A: sparse.csc_matrix
    b: np.ndarray
    G: sparse.csc_matrix
    lower: np.ndarray
    upper: np.ndarray
    x_lower: np.ndarray
    x_upper: np.ndarray

    def objective(self, x: np.ndarray) -> float:
        return float(0.5 * x @ (self.P @ x) + self.q @ x + self.constant)

    def violation(self, x: np.ndarray) -> float:
        rows = self.G @ x
        parts = (abs(self.A @ x - self.b), self.lower - rows, rows - self.upper, self.x_lower - x, x - self.x_upper)
        return max(float(np.max(part, initial=0.0)) for part in parts)


def to_scipy(matrix: ca.DM) -> sparse.csc_matrix:
    return sparse.csc_matrix(matrix.sparse())


class Family:
    """Problems that share a statement: its solver, and the matrices of each."""

    def __init__(self, module):
        stated = module.build()
        self.case, self.solver = module.CASE, stated.problem.build()
        self.program = program = assemble(self.solver.transcription, self.solver.layout)
        gradient = ca.gradient(program.f, program.z)
        outputs = [program.f, gradient, ca.jacobian(gradient, program.z), program.g, ca.jacobian(program.g, program.z)]
        self.numbers = ca.Function("numbers", [program.z, program.p], outputs)
        self.settings = Settings(tolerance=TOLERANCE)

    def solve(self, parameters: dict) -> Run:
        found = self.solver.solve(settings=self.settings, **parameters)
        seconds = found.statistics.seconds
        return Run(seconds, seconds, found.status == "solved", found.point.z)

    def matrices(self, parameters: dict) -> Matrices:
        shared, stage_parameters = self.solver.inputs.parameters(parameters)
        guess = self.solver.inputs.guess({}, stage_parameters)
        limits = self.solver.limits.at(guess, shared, stage_parameters)
        f, gradient, P, g, J = self.numbers(0 * guess, np.concatenate([shared, stage_parameters]))
        offset, rows = np.array(g).ravel(), to_scipy(J)
        lower = limits.y_lower[self.program.places] - offset
        upper = limits.y_upper[self.program.places] - offset
        equal = lower == upper
        return Matrices(
            to_scipy(P), np.array(gradient).ravel(), float(f), rows[equal].tocsc(), lower[equal], rows[~equal].tocsc(),
            lower[~equal], upper[~equal], limits.z_lower, limits.z_upper,
        )  # fmt: skip


def by_clarabel(m: Matrices) -> Run:
    size = len(m.q)
    rows, right = [m.A], [m.b]
    for matrix, limit in (
        (m.G, m.upper), (-m.G, -m.lower), (sparse.eye(size), m.x_upper), (-sparse.eye(size), -m.x_lower)
    ):  # fmt: skip
        there = np.isfinite(limit)
        rows.append(sparse.csc_matrix(matrix)[there])
        right.append(limit[there])
    A, b = sparse.vstack(rows).tocsc(), np.concatenate(right)
    cones = [clarabel.ZeroConeT(len(m.b)), clarabel.NonnegativeConeT(len(b) - len(m.b))]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = TOLERANCE
    P = sparse.triu(m.P).tocsc()
    setup, solver = timed(lambda: clarabel.DefaultSolver(P, m.q, A, b, cones, settings))
    solve, found = timed(solver.solve)
    return Run(setup + solve, solve, str(found.status) == "Solved", np.array(found.x))


def by_piqp(kind: piqp.KKTSolver) -> Callable[[Matrices], Run]:
    def run(m: Matrices) -> Run:
        solver = piqp.SparseSolver()
        solver.settings.eps_abs = solver.settings.eps_duality_gap_abs = TOLERANCE
        solver.settings.eps_rel = solver.settings.eps_duality_gap_rel = 0.0
        solver.settings.compute_timings, solver.settings.kkt_solver = True, kind
        solver.setup(m.P, m.q, m.A, m.b, m.G, m.lower, m.upper, m.x_lower, m.x_upper)
        status, info = solver.solve(), solver.result.info
        solved = status == piqp.PIQP_SOLVED
        return Run(info.setup_time + info.solve_time, info.solve_time, solved, solver.result.x.copy())

    return run


def by_proxqp(m: Matrices) -> Run:
    size = len(m.q)
    G, lower, upper = m.G, m.lower, m.upper
    bounded = np.isfinite(m.x_lower) | np.isfinite(m.x_upper)
    if bounded.any():
        G = sparse.vstack([G, sparse.eye(size).tocsc()[bounded]]).tocsc()
        lower, upper = np.concatenate([lower, m.x_lower[bounded]]), np.concatenate([upper, m.x_upper[bounded]])
    solver = proxsuite.proxqp.sparse.QP(size, len(m.b), len(lower))
    solver.settings.eps_abs, solver.settings.eps_rel, solver.settings.max_iter = TOLERANCE, 0.0, 100_000
    solver.settings.compute_timings = True
    solver.init(m.P, m.q, m.A, m.b, G, np.maximum(lower, -1e20), np.minimum(upper, 1e20))
    solver.solve()
    info = solver.results.info
    solved = info.status == proxsuite.proxqp.PROXQP_SOLVED
    return Run(1e-6 * info.run_time, 1e-6 * info.solve_time, solved, np.array(solver.results.x))


def timed(job: Callable):
    begin = perf_counter()
    result = job()
    return perf_counter() - begin, result


RIVALS = {
    "Clarabel": by_clarabel,
    "PIQP, LDL'": by_piqp(piqp.sparse_ldlt),
    "PIQP, multistage": by_piqp(piqp.sparse_multistage),
    "ProxQP": by_proxqp,
}


def compare(name: str, family: Family) -> dict[str, np.ndarray]:
    """Print a family's table; the sums of the solvers' times (of all, of the solve alone) and of problems solved."""
    total = {solver: np.zeros(3) for solver in ("Trisweep", *RIVALS)}
    worst = {solver: np.zeros(2) for solver in total}
    for i in range(family.case.instances):
        parameters = dict(family.case.starts(i, None)[1])
        matrices = family.matrices(parameters)
        best: dict[str, list[Run]] = {solver: [] for solver in total}
        for _ in range(ROUNDS):
            best["Trisweep"].append(family.solve(parameters))
            for solver, run in RIVALS.items():
                best[solver].append(run(matrices))
        ours = matrices.objective(best["Trisweep"][0].x)
        for solver, runs in best.items():
            fastest = [min(run.seconds for run in runs), min(run.solve_seconds for run in runs)]
            total[solver] += [*fastest, all(run.solved for run in runs)]
            error = abs(matrices.objective(runs[0].x) - ours) / max(1.0, abs(ours))
            worst[solver] = np.maximum(worst[solver], [matrices.violation(runs[0].x), error])
    print(f"{name}: {family.case.instances} problems, {len(matrices.q)} variables, {len(matrices.b)} equalities, "
          f"{len(matrices.lower)} rows")  # fmt: skip
    print(f"{'solver':>18} {'solved':>7} {'setup + solve us':>17} {'solve us':>9} {'off: rows':>10} {'objective':>10}")
    for solver, (seconds, solve, solved) in total.items():
        violation, error = worst[solver]
        print(f"{solver:>18} {solved:7.0f} {1e6 * seconds:17.0f} {1e6 * solve:9.0f} {violation:10.0e} {error:10.0e}")
    print(flush=True)
    return total


if __name__ == "__main__":
    print(describe("clarabel", "piqp", "proxsuite"))
    print(f"core: {level}\n")
    tables = [compare(name, Family(module)) for name, module in FAMILIES.items()]
    print("all 64: sums of times in us")
    for solver in tables[0]:
        seconds, solve, solved = sum(table[solver] for table in tables)
        print(f"{solver:>18} {solved:7.0f} {1e6 * seconds:17.0f} {1e6 * solve:9.0f}")
