"""Sathya 2025 Figs 10 and 11: what is missing of the rows over the iterations, and what large mu does to the answer.

A redundant mechanism, two legs whose planar loops have 24 rows of rank 22, at random states on their manifold. One
compiled function a method has mu among its inputs and gives max |k - J a| after each plain iteration.
`bench/closed_loops.py` runs this.
"""

import casadi as ca
import matplotlib
import numpy as np
import pinocchio as pin
from trisweep.dynamics.forward_problem import ForwardProblem
from trisweep.dynamics.methods import PROXIMAL
from trisweep.dynamics.proximal.iteration import Iterate
from trisweep.native import compile_function
from trisweep.problems.mechanisms import legs
from trisweep.problems.twins.pinocchio_twin import pinocchio_twin

matplotlib.use("Agg")
import matplotlib.pyplot as plt

METHODS = {"LCABA": "lcaba", "proxBBO": "prox-bbo", "proxLTL": "prox-ltl"}
ITERATIONS, SAMPLES, RIVALS = 11, 300, 100
MUS = [10.0**k for k in range(3, 12)]
MU, REFERENCE = 1e5, 1e5


def iterations_of(mechanism, method):
    """Machine code (q, v, tau, mu) -> accelerations after the last iteration, residuals after each."""
    model = mechanism.model
    state = tuple(ca.SX.sym(name, n) for name, n in (("q", model.nq), ("v", model.nv), ("tau", model.nv)))
    mu = ca.SX.sym("mu")
    problem = ForwardProblem(model, *state, mechanism.constraints)
    iterate = Iterate(PROXIMAL[method], problem, mu, steps="plain")
    residuals = [iterate.largest_residual()]
    while iterate.count < ITERATIONS:
        iterate.advance()
        residuals.append(iterate.largest_residual())
    return compile_function(ca.Function("f", [*state, mu], [iterate.a, ca.vertcat(*residuals)]))


def states_of(mechanism, count):
    """On the manifold of the loops, where rows that depend on each other do not contradict each other."""
    return pinocchio_twin(mechanism).states(count, seed=11)


def pinocchio_residuals(mechanism, states, what) -> np.ndarray:
    """max |k - J a| (states, iterations) of Pinocchio's answers for the same mu."""
    twin = pinocchio_twin(mechanism)
    model, contacts = twin.model, pin.StdVec_RigidConstraintModel(twin.contacts())
    found = np.empty((len(states[0]), ITERATIONS))
    for row, (q, v, tau) in enumerate(zip(*states)):
        terms = twin.terms(q, v)
        wanted = twin.demanded(terms)
        for k in range(ITERATIONS):
            data = model.createData()
            datas = pin.StdVec_RigidConstraintData([contact.createData() for contact in contacts])
            settings = pin.ProximalSettings(0, 1 / MU, k + 1)
            problem = (model, data, q, v, tau, contacts, datas, settings)
            if what == "LCABA":
                pin.computeJointMinimalOrdering(model, data, contacts)
                a = pin.lcaba(*problem)
            else:
                pin.initConstraintDynamics(model, data, contacts, datas)
                a = pin.constraintDynamics(*problem)
            found[row, k] = np.abs(terms.J @ a - wanted).max()
    return found


def convergence(folder, say) -> None:
    """Both figures and their tables."""
    mechanism = legs()
    twin = pinocchio_twin(mechanism)
    J = twin.terms(*(part[0] for part in states_of(mechanism, 1)[:2])).J
    say(f"\nConvergence on '{mechanism.model.name}': {len(J)} rows of rank {np.linalg.matrix_rank(J, tol=1e-9)}.")
    functions = {label: iterations_of(mechanism, method) for label, method in METHODS.items()}
    states = states_of(mechanism, SAMPLES)
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.5), layout="constrained")
    fig_10(functions, mechanism, states, left, say)
    fig_11(functions, mechanism, states, right, say)
    figure.savefig(folder / "closed_loops_convergence.png", dpi=120)
    say("\nplot: closed_loops_convergence.png")


def fig_10(functions, mechanism, states, axes, say) -> None:
    say(f"\n## Fig. 10: max |k - J a| over the iterations, mu = {MU:g}, {SAMPLES:,} states\n")
    say("median (largest)\n")
    say("| iteration | " + " | ".join(map(str, range(1, ITERATIONS + 1))) + " |\n| --- " + "| ---: " * ITERATIONS + "|")
    few = [array[:RIVALS] for array in states]
    lines = {label: f.batch(*states, np.array([[MU]]))[1] for label, f in functions.items()}
    lines |= {
        f"pin {what} ({RIVALS} states)": pinocchio_residuals(mechanism, few, what) for what in ("LCABA", "proxLTL")
    }
    for place, (label, values) in enumerate(lines.items()):
        middle, top = np.median(values, axis=0), values.max(axis=0)
        say(f"| {label} | " + " | ".join(f"{m:.0e} ({t:.0e})" for m, t in zip(middle, top)) + " |")
        box(axes, np.arange(1, ITERATIONS + 1) + 0.12 * (place - 2), values, label, place)
    axes.set(xlabel="iteration", ylabel="max |k - J a|", title=f"residual, mu = {MU:g}")
    axes.legend(fontsize=7)


def fig_11(functions, mechanism, states, axes, say) -> None:
    say(
        f"\n## Fig. 11: accelerations against those of proxLTL with mu = {REFERENCE:g}, after {ITERATIONS} iterations\n"
    )
    say("relative difference, median (largest)\n")
    say("| mu | " + " | ".join(f"{mu:.0e}" for mu in MUS) + " |\n| --- " + "| ---: " * len(MUS) + "|")
    reference = functions["proxLTL"].batch(*states, np.array([[REFERENCE]]))[0]
    size = np.linalg.norm(reference, axis=1)
    for place, (label, f) in enumerate(functions.items()):
        off = [np.linalg.norm(f.batch(*states, np.array([[mu]]))[0] - reference, axis=1) / size for mu in MUS]
        say(f"| {label} | " + " | ".join(f"{np.median(x):.0e} ({x.max():.0e})" for x in off) + " |")
        box(axes, np.log10(MUS) + 0.12 * (place - 1), np.array(off).T, label, place)
    axes.set(xlabel="log10 mu", ylabel="relative difference", title="sensitivity to mu")
    axes.legend(fontsize=7)


def box(axes, places, values, label, colour) -> None:
    """A bar from the lower to the upper quartile, a line from the least to the largest."""
    values = np.maximum(values, 1e-17)
    low, first, middle, third, top = np.quantile(values, [0, 0.25, 0.5, 0.75, 1], axis=0)
    axes.vlines(places, low, top, color=f"C{colour}", lw=0.8)
    axes.vlines(places, first, third, color=f"C{colour}", lw=4, label=label)
    axes.plot(places, middle, "_", color="k", ms=5)
    axes.set_yscale("log")
    axes.grid(alpha=0.3)
