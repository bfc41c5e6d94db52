"""Constrained dynamics of closed loops: Sathya 2025 Table II and Figs 6 to 11, in operations and time, beside
Pinocchio's own.

    python bench/closed_loops.py [folder] [table] [scaling] [convergence]       (default: out, and all three)

Operations are the SX instructions of accelerations and forces after one and three plain proximal iterations. Times are
microseconds an evaluation, best of interleaved rounds, on one core: "core" is one state, the machine code called by its
address; "batch" 256 states through `batch`, with Python; Pinocchio is called from Python, one state a call, and what
such a call costs by itself is stated. Errors stand beside the times: of the accelerations, relative to their largest,
against the dense answer of least forces, median over 20 states on the loops' manifold. Writes closed_loops.md and .png
files to the folder.
"""

import sys
from pathlib import Path

import casadi as ca
import matplotlib
import numpy as np
import pinocchio as pin
from support.convergence_figures import METHODS, convergence
from support.machine import describe
from support.operations import operations
from support.report import Report
from support.rivals.pinocchio_overhead import pinocchio_overhead
from support.timing import by_address, seconds
from trisweep.dynamics.forward_problem import ForwardProblem
from trisweep.dynamics.free.aba import aba
from trisweep.dynamics.methods import PROXIMAL
from trisweep.dynamics.proximal.iteration import Iterate
from trisweep.native import compile_function, level
from trisweep.problems.mechanisms import (
    aligned,
    carrier,
    chain_of_loops,
    favourable,
    grasp,
    legs,
    pair,
    single_loop,
    worst_case,
)
from trisweep.problems.twins.pinocchio_twin import pinocchio_twin

matplotlib.use("Agg")
import matplotlib.pyplot as plt

SYSTEMS = {
    "hand-cube T3D^4": grasp,
    "2 hands-cube T3D^8": lambda: grasp(2),
    "humanoid-2 hands-cube T3D^8": lambda: carrier(feet=False),
    "humanoid-2 hands-cube F6D^2 T3D^8": carrier,
    "legs F6D^2 C3D^4": legs,
    "legs-cube F6D^2 C3D^4 T3D^2": lambda: legs(cube=True),
    "2 legs-box F6D^4 C3D^8 T3D^12": pair,
}
TOPOLOGIES = {
    "single loop (Fig. 6), links": (single_loop, (8, 12, 16, 24, 32, 48)),
    "chain of loops (Fig. 7), loops": (chain_of_loops, (1, 2, 3, 4, 6)),
    "worst case (Fig. 8), loops": (worst_case, (1, 2, 3, 4)),
    "favourable (Fig. 9), branches": (favourable, (2, 3, 4, 6, 8)),
}
BATCH, ROUNDS, STATES = 256, 60, 20  # short turns and many of them: the best are undisturbed on a busy machine
LARGEST = 110_000  # operations of what is compiled for the figures
MU = {"LCABA": 1e6, "proxBBO": 1e8, "proxLTL": 1e8}  # ours and Pinocchio's, which is given the inverse

say = Report()


def proximal(mechanism, method, iterations) -> ca.Function:
    """Accelerations and forces after plain iterations."""
    model, kind = mechanism.model, PROXIMAL[METHODS[method]]
    state = tuple(ca.SX.sym(name, n) for name, n in (("q", model.nq), ("v", model.nv), ("tau", model.nv)))
    iterate = Iterate(kind, ForwardProblem(model, *state, mechanism.constraints), MU[method], steps="plain")
    while iterate.count < iterations:
        iterate.advance()
    return ca.Function("f", list(state), [iterate.a, iterate.force])


def free(mechanism) -> ca.Function:
    model = mechanism.model
    state = [ca.SX.sym(name, n) for name, n in (("q", model.nq), ("v", model.nv), ("tau", model.nv))]
    return ca.Function("f", state, [aba(model, *state)])


class Pinocchio:
    """`pin.lcaba`, `pin.constraintDynamics` and `pin.aba` on a mechanism."""

    def __init__(self, mechanism):
        twin = pinocchio_twin(mechanism)
        self.model, self.contacts = twin.model, pin.StdVec_RigidConstraintModel(twin.contacts())

    def call(self, what, q, v, tau, iterations=1):
        """A function of no arguments that evaluates once, on data of its own."""
        model, data = self.model, self.model.createData()
        if what == "ABA":
            return lambda: pin.aba(model, data, q, v, tau)
        contacts = self.contacts
        datas = pin.StdVec_RigidConstraintData([contact.createData() for contact in contacts])
        if what == "LCABA":
            pin.computeJointMinimalOrdering(model, data, contacts)
            settings = pin.ProximalSettings(0, 1 / MU[what], iterations)
            return lambda: pin.lcaba(model, data, q, v, tau, contacts, datas, settings)
        pin.initConstraintDynamics(model, data, contacts, datas)
        settings = pin.ProximalSettings(0, 1 / MU[what], iterations)
        return lambda: pin.constraintDynamics(model, data, q, v, tau, contacts, datas, settings)


class Timed:
    """A compiled function with what measures it: core, batch, error."""

    def __init__(self, mechanism, source, states, expected):
        self.operations = operations(source)
        self.function = compile_function(source)
        one = [np.ascontiguousarray(array[:1]) for array in states]
        repetitions = max(20, 2_000_000 // self.operations)
        calls = {"core": by_address(self.function, one, 1)[0], "call": by_address(self.function, one, 0)[0]}
        self.measures = {what: seconds(call, repetitions) for what, call in calls.items()}
        batch = seconds(lambda: self.function.batch(*states), 1)
        self.measures["batch"] = lambda: batch() / BATCH
        self.best = dict.fromkeys(self.measures, np.inf)
        found = self.function.batch(*states)
        a = found[0] if isinstance(found, tuple) else found
        self.error = np.nan if expected is None else float(np.median([off(x, y) for x, y in zip(a, expected)]))


class Converged:
    """`compiled.proximal_dynamics` as a user calls it, a batch at a time: iterations until they converge."""

    def __init__(self, mechanism, method, states, expected):
        def call():
            return mechanism.model.compiled.proximal_dynamics(*states, mechanism.constraints, method)

        a, _, self.report = call()
        self.error = float(np.median([off(x, y) for x, y in zip(a, expected)]))
        batch = seconds(call, 1)
        self.best = {"batch": batch() / BATCH}
        by_numbers = self.best["batch"] > 1e-3  # where machine code does not arrive: once is enough
        self.measures = {} if by_numbers else {"batch": lambda: batch() / BATCH}


class Asked:
    """A call of Pinocchio with its time and error."""

    def __init__(self, rival, what, states, expected, iterations=1):
        call = rival.call(what, *(array[0] for array in states), iterations)
        self.measures, self.best = {"core": seconds(call, 20)}, {"core": np.inf}
        errors = [off(rival.call(what, *state, iterations)(), a) for *state, a in zip(*states, expected or [])]
        self.error = float(np.median(errors)) if errors else np.nan


def off(found, expected) -> float:
    return np.abs(found - expected).max() / np.abs(expected).max()


def measure(timed) -> None:
    """The best of interleaved rounds."""
    for _ in range(ROUNDS):
        for each in timed:
            for what, once in each.measures.items():
                each.best[what] = min(each.best[what], once())


def core_time(each, group) -> float:
    """Microseconds of the machine code alone: less the quickest call of Python's among the group."""
    return 1e6 * (each.best["core"] - min(other.best["call"] for other in group))


def states_of(mechanism):
    """BATCH rows of q, v, tau, few of them repeated, and the dense accelerations of the first ones."""
    twin = pinocchio_twin(mechanism)
    some = twin.states(STATES, seed=5)
    expected = [twin.dense(*state)[0] for state in zip(*some)]
    return [np.resize(array, (BATCH, array.shape[1])) for array in some], expected


def table_2() -> None:
    """Sathya 2025 Table II."""
    overhead = 1e6 * pinocchio_overhead(ROUNDS)
    say("\n## Table II: robots with loops\n")
    say("{dofs} [rows] (iterations). T tip, F foot on the ground, C loop in a leg.")
    say(f"A call of pin from Python costs about {overhead:.2f} us by itself, which its times here contain.\n")
    head = ["system", "method", "operations", "core us", "batch us", "error", "pin us", "error", "core x", "batch x"]
    say("| " + " | ".join(head) + " |\n| --- | --- " + "| ---: " * 8 + "|")
    for name, make in SYSTEMS.items():
        mechanism = make()
        states, expected = states_of(mechanism)
        rival = Pinocchio(mechanism)
        rows = [("ABA", 0, Timed(mechanism, free(mechanism), states, None), Asked(rival, "ABA", states, None))]
        for label in METHODS:
            for iterations in (1, 3):
                ours = Timed(mechanism, proximal(mechanism, label, iterations), states, expected)
                there = label != "proxBBO"  # Pinocchio 4.1 has none
                rows.append(
                    (label, iterations, ours, Asked(rival, label, states, expected, iterations) if there else None)
                )
        default = Converged(mechanism, "lcaba", states, expected)
        measure([default, *(each for row in rows for each in row[2:] if each)])
        size = f"{name} {{{mechanism.model.nv}}} [{mechanism.size}]"
        for label, iterations, ours, theirs in rows:
            core, batch = core_time(ours, [row[2] for row in rows]), 1e6 * ours.best["batch"]
            line = [size, f"{label} ({iterations})" if iterations else label, f"{ours.operations:,}"]
            line += [f"{core:.2f}", f"{batch:.2f}", "" if np.isnan(ours.error) else f"{ours.error:.0e}"]
            if theirs:
                time = 1e6 * theirs.best["core"]
                error = "" if np.isnan(theirs.error) else f"{theirs.error:.0e}"
                line += [f"{time:.2f}", error, f"{(time - overhead) / core:.1f}", f"{(time - overhead) / batch:.1f}"]
            else:
                line += [""] * 4
            say("| " + " | ".join(line) + " |")
        count = int(np.max(default.report.iterations))
        label = f"LCABA by `compiled`, to convergence ({count})"
        line = [size, label, "", "", f"{1e6 * default.best['batch']:.2f}", f"{default.error:.0e}", "", "", "", ""]
        say("| " + " | ".join(line) + " |")
    say(TWO_ROBOTS.format(*two_robots(rows)))


TWO_ROBOTS = """
Two robots that hold one box have 84 rows of rank 68. Sathya 2025 finds LCABA more than 6 times faster than proxLTL
there. After one iteration it is {:.1f} times here by Pinocchio, {:.1f} times as machine code, with {:.1f} times fewer
operations: straight code of proxLTL has no operation for an entry of its factors that is always zero, which leaves less
to gain. In calls of 12 iterations conjugate steps do not arrive there (36 do in one go): `compiled` solves these states
by numbers.
"""


def two_robots(rows) -> tuple[float, float, float]:
    """How much more proxLTL takes than LCABA, one iteration each: by Pinocchio, as machine code, in operations."""
    here = {label: (ours, theirs) for label, iterations, ours, theirs in rows if iterations == 1}
    (lcaba, pins), (ltl, pins_ltl) = here["LCABA"], here["proxLTL"]
    group = [row[2] for row in rows]
    by_pin = pins_ltl.best["core"] / pins.best["core"]
    return by_pin, core_time(ltl, group) / core_time(lcaba, group), ltl.operations / lcaba.operations


def scaling(folder: Path) -> None:
    """Sathya 2025 Figs 6 to 9: the first iteration on growing mechanisms."""
    figure, axes = plt.subplots(2, len(TOPOLOGIES), figsize=(4 * len(TOPOLOGIES), 7), layout="constrained")
    say("\n## Figs 6 to 9: scaling of the first iteration\n")
    say("Operations; in brackets core us. Links turn about z and y in turn.")
    for column, (title, (make, sizes)) in enumerate(TOPOLOGIES.items()):
        labels = ["ABA", *METHODS, "pin proxLTL", "pin LCABA"]
        say(f"\n| {title} | dofs, rows | " + " | ".join(labels) + " |\n| ---: | --- " + "| ---: " * len(labels) + "|")
        counts = {label: [] for label in ["ABA", *METHODS]}
        times = {label: [] for label in labels}
        for size in sizes:
            mechanism = make(size, aligned)
            line = scaled(mechanism, counts, times)
            say(f"| {size} | {mechanism.model.nv}, {mechanism.size} | " + " | ".join(line) + " |")
        for axis, lines, what in ((axes[0, column], counts, "operations"), (axes[1, column], times, "core us")):
            for label, values in lines.items():
                style = {"ls": "--", "marker": "x"} if label.startswith("pin") else {"marker": "o"}
                axis.plot(sizes, values, label=label, ms=3, **style)
            axis.set(xlabel=title, ylabel=what)
            axis.grid(alpha=0.3)
    say(STAR)
    axes[1, 0].legend(fontsize=7)
    figure.savefig(folder / "closed_loops_scaling.png", dpi=120)
    say("\nplot: closed_loops_scaling.png")


STAR = """
Fig. 9 has the paper's topology: all tips are welded to one of them, so that no link that is eliminated is coupled to
more than one besides its parent. As in the paper LCABA grows in proportion to the branches, and proxBBO faster.

Straight code of 100,000 operations and more (proxLTL on 48 links in one loop) waits for its own instructions: there
Pinocchio's loops are faster.
"""


def scaled(mechanism, counts, times) -> list[str]:
    """The cells of a size; its numbers are added to those of the figure."""
    states = [np.resize(array, (BATCH, array.shape[1])) for array in pinocchio_twin(mechanism).states(4, seed=5)]
    sources = {"ABA": free(mechanism)} | {label: proximal(mechanism, label, 1) for label in METHODS}
    sizes = {label: operations(source) for label, source in sources.items()}
    timed = {label: Timed(mechanism, sources[label], states, None) for label in sources if sizes[label] <= LARGEST}
    rival = Pinocchio(mechanism)
    asked = {f"pin {label}": Asked(rival, label, states, None) for label in ("proxLTL", "LCABA")}
    measure([*timed.values(), *asked.values()])
    cells = []
    for label, count in sizes.items():
        core = core_time(timed[label], timed.values()) if label in timed else np.nan
        counts[label].append(count)
        times[label].append(core)
        cells.append(f"{count:,}" + ("" if np.isnan(core) else f" ({core:.1f})"))
    for label, each in asked.items():
        times[label].append(1e6 * each.best["core"])
        cells.append(f"({times[label][-1]:.1f})")
    return cells


def main() -> None:
    words = [word for word in sys.argv[1:] if word not in ("table", "scaling", "convergence")]
    folder = Path(words[0] if words else "out")
    wanted = [word for word in sys.argv[1:] if word not in words] or ["table", "scaling", "convergence"]
    folder.mkdir(parents=True, exist_ok=True)
    say("# Constrained dynamics of closed loops (Sathya 2025)\n")
    say("```\n" + describe("pin", "casadi", "llvmlite") + f"instruction set: {level}\n```")
    if "table" in wanted:
        table_2()
    if "scaling" in wanted:
        scaling(folder)
    if "convergence" in wanted:
        convergence(folder, say)
    say.write(folder / "closed_loops.md")


if __name__ == "__main__":
    main()
