"""The Riccati sweep: share of the core's peak, growth with the horizon, and the rivals on the same problems.

    python bench/riccati.py

Share of peak: operations of factor + solve, counted by `operations` below, over time, over the sustained rate of
independent multiply-adds of one core, all measured in this run. A rival's row says what its time covers.

HPIPM and FATROP built for the processor stand beside ours where `TRISWEEP_RIVALS` names their folder
(`support/rivals/tuned_hpipm.py`, `fatrop_sweep.cpp`); `--tuned`: that table alone.
"""

import sys
import time
from dataclasses import replace

import casadi as ca
import numpy as np
import scipy.sparse
import scipy.sparse.linalg
from support.machine import describe
from support.rivals.fatrop_sweep import TunedFatrop
from support.rivals.tuned_hpipm import TunedHpipm, folder
from trisweep.native import core, level
from trisweep.riccati import LQProblem, Stage, dense, factorize
from trisweep.riccati.random_problems import benchmark_chain

ROUNDS = 8
WRONG = (
    1e-6  # a relative difference of objectives that no rounding explains: BLASFEO's kernels are not right everywhere
)
TUNED_SIZES = (
    (14, 7, 50), (4, 1, 100), (24, 8, 50), (48, 24, 50), (37, 12, 30), (8, 3, 500), (6, 3, 40), (70, 30, 30),
    (100, 50, 20),
)  # fmt: skip


def operations(nx: int, nu: int) -> float:
    """Floating-point operations of one stage without equalities, a multiply-add counted as two.

    Factor: E P (2 nx^2 n), from 28 states on P = L L' and E L instead (nx^3 / 3 + nx^2 n), its product with E' or with
    itself, lower half (nx n (n + 1)), Cholesky with S (nu^3 / 3 + nu^2 nx) and the Schur complement, lower half
    (nu nx (nx + 1)); n = nx + nu. Solve: P b, E (.), K^-1, Z y; Z' x, K'^-1, E' z, P x.
    """
    n = nx + nu
    left = 2 * nx**2 * n if nx < 28 else nx**3 / 3 + nx**2 * n
    factor = left + nx * n * (n + 1) + nu**3 / 3 + nu**2 * nx + nu * nx * (nx + 1)
    solve = 4 * nx**2 + 4 * nx * n + 2 * nu**2 + 4 * nu * nx
    return factor + solve


def best_times(problem, seconds=0.3):
    """Best factor, solve and judged solve of the core, in seconds."""
    factorization = factorize(problem)
    assert factorization.solve().status == "solved"
    once = sum(factorization._core.time(3))
    return factorization._core.time(max(5, int(seconds / ROUNDS / once)))


def best_of_rounds(measures):
    """Every measure once a round, the best of each: noise of a shared machine falls on all alike."""
    best = [np.inf] * len(measures)
    for _ in range(ROUNDS):
        for i, measure in enumerate(measures):
            best[i] = np.minimum(best[i], measure())
    return best


def share_of_peak():
    print("Share of peak (one core; judged: solve, KKT residual from the data, refinement where needed)")
    print("  nx   nu     N  terminal rows  factor us  solve us  judged us  share")
    for nx, nu, steps, rows in ((14, 7, 50, 0), (48, 24, 50, 0), (14, 7, 50, 7), (4, 1, 50, 0), (100, 50, 20, 0)):
        problem = benchmark_chain(nx, nu, steps, rows)
        times, peak = best_of_rounds([lambda: best_times(problem), lambda: -core.fma_peak(20)])
        share = steps * operations(nx, nu) / (times[0] + times[1]) / -peak
        factor, solve, judged = (1e6 * t for t in times)
        print(f"{nx:4} {nu:4} {steps:5} {rows:14} {factor:10.1f} {solve:9.1f} {judged:10.1f} {share:6.0%}")
    print(f"peak: {-peak / 1e9:.1f} GFLOP/s\n")


def growth():
    print("Growth with the horizon, nx = 14, nu = 7, 7 terminal rows")
    print(f"{'N':>6} {'factor + solve us':>18} {'us a stage':>11}")
    for steps in (10, 30, 100, 300, 1000, 3000, 10_000):
        problem = benchmark_chain(14, 7, steps, 7)
        (times,) = best_of_rounds([lambda: best_times(problem)])
        total = 1e6 * (times[0] + times[1])
        print(f"{steps:6} {total:18.1f} {total / steps:11.3f}")
    print()


def without_first_state(problem: LQProblem) -> tuple[LQProblem, float]:
    """The same with a root that has no state, and what that takes off the objective."""
    root, child, *rest = problem.stages
    x = problem.initial_state
    begin = Stage(np.zeros((0, 0)), np.zeros(0), R=root.R, r=root.r + root.S.T @ x)
    child = replace(child, A=np.zeros((child.nx, 0)), b=child.b + child.A @ x)
    return LQProblem([begin, child, *rest], np.zeros(0)), x @ (0.5 * root.Q @ x + root.q)


def tuned_rivals():
    """The best variants of HPIPM's Riccati (classical or square root) and of FATROP's, of any build, beside ours; the
    first state is eliminated before.
    """
    problems = {size: benchmark_chain(*size) for size in TUNED_SIZES}
    rivals = {"hpipm": TunedHpipm(problems), "fatrop": TunedFatrop(problems)}
    reduced = {size: without_first_state(problem) for size, problem in problems.items()}
    ours = dict.fromkeys(problems, np.inf)
    theirs = {(name, size): np.inf for name in rivals for size in problems}
    error = dict.fromkeys(problems, 0.0)
    solved = {size: factorize(problem).solve().objective + apart for size, (problem, apart) in reduced.items()}
    for _ in range(ROUNDS):
        for name, rival in rivals.items():
            for size, runs in rival.round().items():
                off = {run: abs(run.objective / solved[size] - 1.0) for run in runs}
                right = [run for run in off if off[run] < WRONG]
                error[size] = max([error[size], *(off[run] for run in right)])
                theirs[name, size] = min([theirs[name, size], *(run.seconds for run in right)])
        for size, (problem, _) in reduced.items():
            ours[size] = min(ours[size], sum(best_times(problem, 0.1)[:2]))
    for rival in rivals.values():
        rival.close()
    print("HPIPM and FATROP built for the processor, factor + solve, best of interleaved rounds")
    columns = " ".join(f"{name + ' us':>10} {'ratio':>6}" for name in rivals)
    print(f"{'problem':>14} {'trisweep us':>12} {columns}  objectives differ by")
    for size in problems:
        mine = 1e6 * ours[size]
        others = [1e6 * theirs[name, size] for name in rivals]
        columns = " ".join(f"{other:10.1f} {other / mine:6.2f}" for other in others)
        print(f"{size!s:>14} {mine:12.1f} {columns}  {error[size]:.0e}")
    print()


def casadi_qp(problem):
    """The problem as a QP in the order (x, u) of every stage, dynamics rows before a stage's own."""
    stages = problem.stages
    start = np.cumsum([0] + [s.nx + s.nu for s in stages])
    n = start[-1]
    x = [slice(start[k], start[k] + s.nx) for k, s in enumerate(stages)]
    u = [slice(start[k] + s.nx, start[k + 1]) for k, s in enumerate(stages)]
    H, h, rows, right = np.zeros((n, n)), np.zeros(n), [], []
    for k, s in enumerate(stages):
        H[x[k], x[k]], H[u[k], u[k]], H[x[k], u[k]], H[u[k], x[k]] = s.Q, s.R, s.S, s.S.T
        h[x[k]], h[u[k]] = s.q, s.r
        if k + 1 < len(stages):
            child, row = stages[k + 1], np.zeros((stages[k + 1].nx, n))
            row[:, x[k]], row[:, u[k]], row[:, x[k + 1]] = child.A, child.B, -np.eye(child.nx)
            rows.append(row)
            right.append(-child.b)
        if s.ng:
            row = np.zeros((s.ng, n))
            row[:, x[k]], row[:, u[k]] = s.Gx, s.Gu
            rows.append(row)
            right.append(-s.g)
    return ca.sparsify(ca.DM(H)), h, ca.sparsify(ca.DM(np.vstack(rows))), np.concatenate(right), x[0]


def clock(run):
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def hpipm(problem):
    """Seconds of one interior-point iteration (one factorization, two solves) inside CasADi's HPIPM plug-in."""
    H, h, A, right, x0 = casadi_qp(problem)
    limit = np.full(len(h), np.inf)
    lower, upper = -limit, limit.copy()
    lower[x0] = upper[x0] = problem.initial_state
    options = {"print_time": False, "error_on_fail": False, "hpipm": {"iter_max": 10}}
    solver = ca.conic("hpipm", "hpipm", {"h": H.sparsity(), "a": A.sparsity()}, options)

    def measure():
        solver(h=H, g=h, a=A, lba=right, uba=right, lbx=lower, ubx=upper)
        return solver.stats()["t_wall_solver"] / solver.stats()["iter_count"]

    return measure


def fatrop(problem):
    """Seconds of FATROP's own search direction, by its own clock, the problem given through CasADi's NLP plug-in."""
    H, h, A, right, x0 = casadi_qp(problem)
    z = ca.SX.sym("z", len(h))
    residual, row, constraints = A @ z - right, 0, []
    for k, s in enumerate(problem.stages):
        nx = problem.stages[k + 1].nx if k + 1 < len(problem.stages) else 0
        constraints.append(-residual[row : row + nx])
        row += nx
        if k == 0:
            constraints.append(z[x0] - problem.initial_state)
        constraints.append(residual[row : row + s.ng])
        row += s.ng
    g = ca.vertcat(*constraints)
    nlp = {"x": z, "f": 0.5 * ca.bilin(H, z, z) + ca.dot(h, z), "g": g}
    options = {
        "structure_detection": "auto",
        "equality": [True] * g.numel(),
        "print_time": False,
        "fatrop": {"print_level": 0},
    }
    solver = ca.nlpsol("fatrop", "fatrop", nlp, options)

    def measure():
        solver(lbg=0, ubg=0, x0=0)
        statistics = solver.stats()["fatrop"]
        return statistics["compute_sd_time"] / max(1, statistics["iterations_count"])

    return measure


def sparse_lu(problem):
    """Seconds of SciPy's sparse LU (SuperLU) of the whole KKT matrix, and one solve."""
    system = dense.assemble(problem)
    K = scipy.sparse.csc_matrix(np.block([[system.H, system.C.T], [system.C, np.zeros((len(system.c),) * 2)]]))
    right = -np.concatenate([system.h, system.c])
    return lambda: clock(lambda: scipy.sparse.linalg.splu(K).solve(right))


def rivals():
    print("Rivals on the same problems, best of interleaved rounds")
    print(f"{'problem':>22} {'solver':>10} {'us':>9} {'ratio':>7}  what the time covers")
    for nx, nu, steps, rows in ((14, 7, 50, 0), (14, 7, 50, 7), (48, 24, 50, 0)):
        problem = benchmark_chain(nx, nu, steps, rows)
        solvers = {
            "trisweep": (lambda: sum(best_times(problem, 0.1)[:2]), "factor + solve"),
            "judged": (
                lambda: sum(best_times(problem, 0.1)[::2]),
                "factor + solve + KKT residual from the data",
            ),
            "hpipm": (hpipm(problem), "an iteration: factor + two solves"),
            "fatrop": (fatrop(problem), "its search direction: factor + solve"),
            "sparse LU": (sparse_lu(problem), "factor + solve"),
        }
        best = best_of_rounds([measure for measure, _ in solvers.values()])
        for (name, (_, what)), seconds in zip(solvers.items(), best):
            title = f"({nx}, {nu}, {steps}), {rows} rows" if name == "trisweep" else ""
            print(f"{title:>22} {name:>10} {seconds * 1e6:9.1f} {seconds / best[0]:7.1f}  {what}")


if __name__ == "__main__":
    print(describe("casadi", "scipy"))
    print(f"core: {level}\n")
    if "--tuned" in sys.argv:
        tuned_rivals()
        sys.exit()
    share_of_peak()
    growth()
    if folder():
        tuned_rivals()
    rivals()
