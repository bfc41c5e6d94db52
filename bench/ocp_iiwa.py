"""Tables 2 and 3 of 004 on this machine: the iiwa's reach, free and welded, by Hessian and by weight on torque.

    python bench/ocp_iiwa.py

Best of interleaved rounds, one core. Functions: values and derivatives; linear: factorizations and solves, by the
solver's own clock (IPOPT: all that is not functions); rest: what is left. IPOPT and FATROP are those of the casadi
wheel, on the same program, with CasADi's expanded functions in its virtual machine.

The cost is quadratic and the constraints beside the dynamics are linear, so "no-dynamics", "gauss-newton" and IPOPT's
"cost only" are the same Hessian here. The paper does not give its poses; with these, that Hessian does not lead IPOPT
to the solution either. What is not solved is not run again.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import casadi as ca
import numpy as np
from machine import describe

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from ipopt import Ipopt
from trisweep.problems import task

ROUNDS = 5
HESSIANS = ("exact", "no-dynamics", "gauss-newton")
WEIGHTS = (1e-3, 2e-3, 5e-3, 1e-2, 5e-2)


@dataclass(frozen=True)
class Run:
    """One solve; seconds in all, in functions and in linear algebra."""

    status: str
    objective: float
    iterations: int
    seconds: float
    functions: float
    linear: float

    def __str__(self) -> str:
        parts = (self.seconds, self.functions, self.linear, self.seconds - self.functions - self.linear)
        micro = " ".join(f"{1e6 * part / max(1, self.iterations):10.1f}" for part in parts)
        return (
            f"{self.status:>16} {self.objective:13.8g} {self.iterations:5} {1e3 * self.seconds:9.2f} {micro} "
            f"{self.functions / self.seconds:6.0%}"
        )


HEADER = (
    f"{'':>24} {'status':>16} {'objective':>13} {'iter':>5} {'ms':>9} "
    f"{'us/iter':>10} {'functions':>10} {'linear':>10} {'rest':>10} {'share':>6}"
)


def native(made, hessian):
    """Our solver as a function without arguments that gives a Run."""
    solver = made.build(hessian)

    def run() -> Run:
        found = solver.solve(made.guess, **made.parameters)
        s = found.statistics
        return Run(found.status, found.objective, s.iterations, s.seconds, s.seconds_functions, s.seconds_linear)

    return solver, run


def ipopt(made, solver, cost_hessian=False):
    rival = Ipopt(made, solver, cost_hessian, max_iter=200 if cost_hessian else 1000)

    def run() -> Run:
        answer, stats = rival.solve(), rival.function.stats()
        functions = sum(value for name, value in stats.items() if name.startswith("t_wall_nlp"))
        status = "solved" if answer.solved else "not solved"
        return Run(status, answer.objective, answer.iterations, answer.seconds, functions, answer.seconds - functions)

    return run


def fatrop(made, solver):
    """FATROP wants (x, u) of every stage, and which rows are equalities; it finds the stages by itself."""
    rival = Ipopt(made, solver)
    program, steps = rival.program, made.problem.steps
    nu, nx = solver.transcription.nu[0], solver.transcription.nx[0]
    stages = [k * (nu + nx) + np.r_[nu : nu + nx, 0:nu] for k in range(steps)]
    order = np.concatenate([*stages, steps * (nu + nx) + np.arange(nx)])
    w = ca.MX.sym("w", len(order))
    f, g = ca.Function("program", [program.z, program.p], [program.f, program.g])(
        w[np.argsort(order).tolist()], program.p
    )
    options = {
        "expand": True,
        "structure_detection": "auto",
        "equality": (program.kinds != "i").tolist(),
        "print_time": False,
        "fatrop": {"print_level": 0, "tolerance": 1e-8},
    }
    function = ca.nlpsol("fatrop", "fatrop", {"x": w, "p": program.p, "f": f, "g": g}, options)
    limits = {"lbx": rival.lower[order], "ubx": rival.upper[order], "lbg": program.lower, "ubg": program.upper}

    def run() -> Run:
        begin = perf_counter()
        found = function(x0=rival.guess[order], p=rival.parameters, **limits)
        seconds, stats = perf_counter() - begin, function.stats()
        functions = sum(value for name, value in stats.items() if name.startswith("t_wall_nlp"))
        own = stats["fatrop"]
        status = "solved" if stats["success"] else "not solved"
        return Run(status, float(found["f"]), own["iterations_count"], seconds, functions, own["compute_sd_time"])

    return run


def best_of_rounds(runs):
    """Every solver once a round, the fastest run of each."""
    best = {}
    for _ in range(ROUNDS):
        for name, run in runs.items():
            if name in best and best[name].status != "solved":
                continue
            found = run()
            if name not in best or found.seconds < best[name].seconds:
                best[name] = found
    return best


def table_2():
    for constrained in (False, True):
        made = task("iiwa_reach", constrained=constrained)
        solvers = {hessian: native(made, hessian) for hessian in HESSIANS}
        runs = {f"trisweep, {hessian}": run for hessian, (_, run) in solvers.items()}
        exact = solvers["exact"][0]
        runs["fatrop, exact"] = fatrop(made, exact)
        runs["ipopt, exact"] = ipopt(made, exact)
        runs["ipopt, cost only"] = ipopt(made, exact, cost_hessian=True)
        print("End effector welded, goal as a penalty" if constrained else "Free, goal as a constraint")
        print(HEADER)
        for name, run in best_of_rounds(runs).items():
            print(f"{name:>24} {run}", flush=True)
        print()


def table_3():
    print("Weight on torque, free: ms (iterations)")
    print(f"{'':>24} " + " ".join(f"{weight:>16.0e}" for weight in WEIGHTS))
    rows = {name: [] for name in (*HESSIANS, "ipopt, exact")}
    for weight in WEIGHTS:
        made = task("iiwa_reach", torque_weight=weight)
        solvers = {hessian: native(made, hessian) for hessian in HESSIANS}
        runs = {hessian: run for hessian, (_, run) in solvers.items()}
        runs["ipopt, exact"] = ipopt(made, solvers["exact"][0])
        for name, run in best_of_rounds(runs).items():
            cell = f"{1e3 * run.seconds:.2f} ({run.iterations})"
            rows[name].append(cell if run.status == "solved" else f"{cell} {run.status[:5]}")
    for name, cells in rows.items():
        print(f"{name:>24} " + " ".join(f"{cell:>16}" for cell in cells))


if __name__ == "__main__":
    print(describe("casadi", "llvmlite"))
    table_2()
    table_3()
