"""Tables 2 and 3 of Sathya 2024c on this machine: the iiwa's reach, free and welded, by Hessian, derivatives and
torque weight.

    TRISWEEP_RIVALS=/folder python bench/ocp_iiwa.py > bench/results/ocp_iiwa.md
    TRISWEEP_RIVALS=/folder python bench/ocp_iiwa.py --reach         # the exact Hessian of the first two tables alone
    python bench/ocp_iiwa.py --formulations                          # the last section alone

Best of interleaved rounds, one core; an iteration's time by the solvers' own clocks (IPOPT: by the wall): functions,
linear algebra (of IPOPT it is not known, and stands in the rest), rest.

- Trisweep: its interior point. "adjoint": the dynamics are an implicit node; "plain AD": CasADi differentiates through
  the articulated-body or PV sweep, put in as an expression.
- FATROP: the one built for the processor where `TRISWEEP_RIVALS` names its folder, else that of the casadi wheel
  (BLASFEO for generic processors), by its C interface, on the machine code that Trisweep's compiler makes of the same
  derivatives, whole horizons at a time (`fatrop_reach.py`): no route that we know of is faster; generated C takes 3 to
  4 times as long for the functions (`bench/compiler.py`). The wheel's creeps below 1e-7, and ends as "acceptable": its
  iterations for 1e-6 stand beside. "virtual machine": the wheel's as CasADi's `nlpsol`, on expanded functions.
- IPOPT: CasADi's `nlpsol` with MUMPS, on expanded functions.
- "no dynamics": the Hessian without the curvature of the dynamics. The cost is quadratic and all other constraints are
  linear, so this is Gauss-Newton's too, and IPOPT's with the cost's Hessian alone.

The paper gives neither its poses nor its velocity weight. With a weight of 1e-2 the Hessian without dynamics leads none
of the solvers to the solution; with 0.3 it does while the torques weigh little, which is the paper's picture.
"""

import sys
from dataclasses import dataclass
from functools import partial
from math import isnan, nan

from support.machine import describe
from support.rivals.fatrop_reach import FatropReach, driver
from support.rivals.tuned_hpipm import folder
from trisweep.adjoint import solved
from trisweep.native import level
from trisweep.ocp import Settings
from trisweep.problems import task
from trisweep.problems.twins.ipopt import Ipopt

ROUNDS, SECONDS = 150, 3.0  # a solver takes part in all rounds, or until it has had its seconds
LIMIT = 300  # iterations
WEIGHTS = (1e-3, 2e-3, 5e-3, 1e-2, 5e-2)
VELOCITY_WEIGHTS = (1e-2, 0.3)
VARIANTS = [(hessian, derivatives) for hessian in ("exact", "no dynamics") for derivatives in ("adjoint", "plain AD")]
FLAGS = {0: "solved", 1: "iteration limit", 2: "acceptable"}


@dataclass(frozen=True)
class Run:
    """One solve; seconds in all, in functions and in linear algebra (nan: not known)."""

    status: str
    objective: float
    iterations: int
    seconds: float
    functions: float
    linear: float

    @property
    def each(self) -> float:
        return self.seconds / max(1, self.iterations)

    def __str__(self) -> str:
        rest = self.seconds - self.functions - (0.0 if isnan(self.linear) else self.linear)
        parts = " | ".join(
            "-" if isnan(part) else f"{1e6 * part / max(1, self.iterations):.0f}"
            for part in (self.seconds, self.functions, self.linear, rest)
        )
        return (
            f"{self.status} | {self.objective:.8g} | {self.iterations} | {1e3 * self.seconds:.2f} | {parts} "
            f"| {self.functions / self.seconds:.0%}"
        )


def statement(derivatives: str = "adjoint", **options):
    """The ready task; for plain AD its dynamics are an expression without a node."""
    made = task("iiwa_reach", **options)
    if derivatives == "plain AD":
        made.problem.dynamics["v"] = solved(made.problem.dynamics["v"])
    return made


def trisweep(hessian: str, derivatives: str, **options):
    """Our solver as a function without arguments that gives a Run."""
    made = statement(derivatives, **options)
    solver = made.build("exact" if hessian == "exact" else "gauss-newton")

    def run() -> Run:
        found = solver.solve(made.guess, settings=Settings(iterations=LIMIT), **made.parameters)
        s = found.statistics
        return Run(found.status, found.objective, s.iterations, s.seconds, s.seconds_functions, s.seconds_linear)

    return run


def fatrop(hessian: str, derivatives: str, tolerance: float = 1e-8, **options):
    reach = FatropReach(hessian=hessian, plain=derivatives == "plain AD", **options)

    def run() -> Run:
        z, s = reach.solve(tolerance, iterations=LIMIT)
        status = FLAGS.get(s.flag, f"flag {s.flag}")
        return Run(status, reach.objective(z), s.iterations, s.total, s.functions, s.search_direction)

    return run


def virtual_machine(backend: str, **options):
    """IPOPT or FATROP through CasADi alone."""
    made = statement(**options)
    solver = made.build(backend=backend)

    def run() -> Run:
        found = solver.solve(made.guess, settings=Settings(iterations=LIMIT), **made.parameters)
        s, linear = found.statistics, found.statistics.seconds_linear if backend == "fatrop" else nan
        return Run(found.status, found.objective, s.iterations, s.seconds, s.seconds_functions, linear)

    return run


def ipopt(cost_hessian: bool = False, expand: bool = True, **options):
    """IPOPT itself: with the cost's Hessian alone, or on functions that are not expanded."""
    made = statement(**options)
    rival = Ipopt(made, made.build(), cost_hessian, expand, max_iter=LIMIT)

    def run() -> Run:
        answer, stats = rival.solve(), rival.function.stats()
        functions = sum(value for name, value in stats.items() if name.startswith("t_wall_nlp"))
        status = "solved" if answer.solved else "not solved"
        return Run(status, answer.objective, answer.iterations, answer.seconds, functions, nan)

    return run


def best_of_rounds(runs: dict) -> dict:
    """Every solver once a round, the fastest run of each."""
    best, spent = {}, dict.fromkeys(runs, 0.0)
    for _ in range(ROUNDS):
        for name, run in runs.items():
            if spent[name] > SECONDS:
                continue
            found = run()
            spent[name] += found.seconds
            if name not in best or found.each < best[name].each:
                best[name] = found
    return best


def table_2(constrained: bool, velocity_weight: float, variants: list[tuple[str, str]]) -> None:
    options = {"constrained": constrained, "velocity_weight": velocity_weight}
    runs = {("Trisweep", *variant): trisweep(*variant, **options) for variant in variants}
    if driver() is not None:
        runs |= {("FATROP", *variant): fatrop(*variant, **options) for variant in variants}
        if not folder():
            runs["FATROP, tolerance 1e-6", "exact", "adjoint"] = fatrop("exact", "adjoint", tolerance=1e-6, **options)
    if not folder():  # whose BLASFEO has the name of the wheel's
        runs["FATROP, virtual machine", "exact", "plain AD"] = virtual_machine("fatrop", **options)
    if len(variants) > 1:
        runs["IPOPT, virtual machine", "exact", "plain AD"] = virtual_machine("ipopt", **options)
        runs["IPOPT, virtual machine", "no dynamics", "plain AD"] = ipopt(cost_hessian=True, **options)
    best = best_of_rounds(runs)
    print(f"### {'Welded, goal as a penalty' if constrained else 'Free'}, velocity weight {velocity_weight:g}\n")
    show(best, "solver | Hessian | derivatives")
    ours = best["Trisweep", "exact", "adjoint"]
    rivals = {"FATROP": ("FATROP", "exact", "adjoint"), "IPOPT": ("IPOPT, virtual machine", "exact", "plain AD")}
    for rival, name in rivals.items():
        if name in best:
            theirs = best[name]
            print(f"\n{rival} needs {theirs.each / ours.each:.1f} times our time for an iteration with the exact "
                  f"Hessian, {theirs.seconds / ours.seconds:.1f} times for the solve.")  # fmt: skip
    print()


def show(best: dict, what: str) -> None:
    print(f"| {what} | status | objective | iterations | ms | us/iteration | functions | linear | rest "
          "| share of functions |")  # fmt: skip
    print("| --- " * (what.count("|") + 10) + "|")
    for name, run in best.items():
        print(f"| {' | '.join(name)} | {run} |", flush=True)


def formulations(velocity_weight: float) -> None:
    """The free reach by forward dynamics, by inverse dynamics, and IPOPT on functions expanded and not."""
    options = {"velocity_weight": velocity_weight}
    runs = {}
    for dynamics in ("forward", "inverse"):
        runs["Trisweep", dynamics] = trisweep("exact", "adjoint", dynamics=dynamics, **options)
        runs["IPOPT, SX", dynamics] = ipopt(dynamics=dynamics, **options)
        runs["IPOPT, MX", dynamics] = ipopt(expand=False, dynamics=dynamics, **options)
    print(f"### Free, velocity weight {velocity_weight:g}\n")
    show(best_of_rounds(runs), "solver | dynamics")
    print()


def table_3(velocity_weight: float) -> None:
    print(f"### Free, velocity weight {velocity_weight:g}: ms (iterations) by torque weight\n")
    print("| solver | Hessian | " + " | ".join(f"{weight:.0e}" for weight in WEIGHTS) + " |")
    print("| --- " * (2 + len(WEIGHTS)) + "|")
    makers = {"Trisweep": trisweep}
    if driver() is not None:
        makers |= {"FATROP": fatrop} | ({} if folder() else {"FATROP, tolerance 1e-6": partial(fatrop, tolerance=1e-6)})
    rows: dict[tuple[str, str], list[str]] = {}
    for weight in WEIGHTS:
        options = {"torque_weight": weight, "velocity_weight": velocity_weight}
        runs = {
            (solver, hessian): make(hessian, "adjoint", **options)
            for solver, make in makers.items()
            for hessian in ("exact", "no dynamics")
        }
        runs["IPOPT, virtual machine", "exact"] = virtual_machine("ipopt", **options)
        for name, run in best_of_rounds(runs).items():
            cell = f"{1e3 * run.seconds:.1f} ({run.iterations})"
            rows.setdefault(name, []).append(cell if run.status == "solved" else f"{cell} {run.status}")
    for name, cells in rows.items():
        print(f"| {' | '.join(name)} | {' | '.join(cells)} |")
    print(flush=True)


def all_formulations() -> None:
    print("## Formulations\n")
    print(FORMULATIONS)
    for weight in VELOCITY_WEIGHTS:
        formulations(weight)


FORMULATIONS = """Accelerations as controls and torques as rows, by inverse dynamics, lead to the same optimum. "SX":
one graph of scalars; "MX": calls of a stage's functions, as CasADi has them unexpanded.
"""


if __name__ == "__main__":
    print("# The reach of the iiwa (Sathya 2024c, Tables 2 and 3)\n")
    print("```\n" + describe("casadi", "llvmlite") + "```\n")
    if "--formulations" in sys.argv:
        all_formulations()
        sys.exit()
    print((__doc__ or "").split("\n\n", 2)[2])
    if driver() is None:
        print("There is no C compiler here: FATROP through its C interface is left out.\n")
    print(f"Core: {level}. FATROP: {'built for the processor' if folder() else 'of the casadi wheel'}.\n")
    print("## Table 2\n")
    quick = "--reach" in sys.argv
    for weight in VELOCITY_WEIGHTS[: 1 if quick else None]:
        for constrained in (False, True):
            table_2(constrained, weight, [("exact", "adjoint")] if quick else VARIANTS)
    if not quick:
        print("## Table 3\n")
        for weight in VELOCITY_WEIGHTS:
            table_3(weight)
        all_formulations()
