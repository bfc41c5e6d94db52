"""Accuracy of the soft methods over their weight: Sathya 2024a Fig. 3.

    python bench/dynamics_accuracy.py [folder]        (default: out)

Talos with both feet and hands held by 6D constraints, at random states; the softness of every row is 1 / weight.
Residuals are norms of what the held links' accelerations miss; differences are of the joint accelerations from those of
"pv", as in the paper, both relative to the norm of "pv"'s. Writes dynamics_accuracy.md and dynamics_accuracy.png.
"""

import sys
from pathlib import Path

import casadi as ca
import matplotlib
import numpy as np
from support.machine import describe
from support.mechanisms import FEET, HANDS
from support.report import Report
from trisweep.dynamics import weld
from trisweep.dynamics.forward_problem import ForwardProblem
from trisweep.dynamics.methods import FORWARD
from trisweep.native import compile_function
from trisweep.problems.robot import robot

matplotlib.use("Agg")
import matplotlib.pyplot as plt

STATES, WEIGHTS = 1000, [10.0**k for k in range(2, 13)]
LINKS = (*FEET["talos"], *HANDS["talos"])
HARD, SOFT = {"PV": "pv", "PV-early": "pv-early", "LTL": "ltl"}, {"PV-soft": "pv-soft", "LTL-soft": "ltl-soft"}

say = Report()


def missing(model):
    """Machine code (q, v, a) -> accelerations of the held links, which are to be none."""
    q, v, a = (ca.SX.sym(name, n) for name, n in (("q", model.nq), ("v", model.nv), ("a", model.nv)))
    return compile_function(
        ca.Function("f", [q, v, a], [ca.vertcat(*(model.link_acceleration(q, v, a, link) for link in LINKS))])
    )


def accelerations(model, states, method, softness) -> np.ndarray:
    held = [weld(link, period=None, softness=softness) for link in LINKS]
    q, v, tau = (ca.SX.sym(name, n) for name, n in (("q", model.nq), ("v", model.nv), ("tau", model.nv)))
    problem = ForwardProblem(model, q, v, tau, held)
    return compile_function(ca.Function("f", [q, v, tau], [FORWARD[method](problem)[0]])).batch(*states)


def figure(folder: Path, lines: dict[str, tuple[list[np.ndarray], list[np.ndarray]]]) -> None:
    """Quartiles and medians over the weights."""
    plot, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    for axis, which, title in zip(axes, (0, 1), ("constraint residual", "difference from PV")):
        for colour, (label, found) in enumerate(lines.items()):
            low, middle, top = np.quantile(np.maximum(np.array(found[which]), 1e-17), [0.25, 0.5, 0.75], axis=1)
            axis.fill_between(WEIGHTS, low, top, color=f"C{colour}", alpha=0.3)
            axis.plot(WEIGHTS, middle, color=f"C{colour}", marker="o", ms=3, label=label)
        axis.set(xscale="log", yscale="log", xlabel="weight", title=f"{title}, relative")
        axis.grid(alpha=0.3)
    axes[0].legend()
    plot.savefig(folder / "dynamics_accuracy.png", dpi=120)


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
    folder.mkdir(parents=True, exist_ok=True)
    model, rng = robot("talos"), np.random.default_rng(0)
    q = np.array([model.random_configuration(rng) for _ in range(STATES)])
    v, tau = rng.standard_normal((2, STATES, model.nv))
    states = (q, v, 3 * tau)
    residual = missing(model)
    reference = accelerations(model, states, "pv", 1.0)
    size = np.linalg.norm(reference, axis=1)

    def judged(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        missed, apart = np.linalg.norm(residual.batch(q, v, a), axis=1), np.linalg.norm(a - reference, axis=1)
        return missed / size, apart / size

    say("# Accuracy of the soft methods over their weight: Sathya 2024a Fig. 3\n")
    say("```\n" + describe("casadi", "llvmlite") + "```")
    say(f"\nTalos, two feet and two hands held by 6D constraints, {STATES:,} random states; median (largest).")
    say("Both columns are relative to the norm of PV's accelerations.\n")
    say("| method | constraint residual | difference from PV |\n| --- | ---: | ---: |")
    for label, method in HARD.items():
        a = accelerations(model, states, method, 1.0)
        missed, apart = judged(a)
        lost = int((~np.isfinite(a).all(axis=1)).sum())  # where a joint of PV-early hardly feels its row
        note = f", {lost} of {STATES:,} states not finite" if lost else ""
        cells = [f"{np.nanmedian(x):.0e} ({np.nanmax(x):.0e})" for x in (missed, apart)]
        say(f"| {label}{note} | " + " | ".join(cells) + " |")
    lines = {}
    for what, which in (("constraint residual", 0), ("difference from PV", 1)):
        say(f"\n{what}\n\n| weight | " + " | ".join(f"{w:.0e}" for w in WEIGHTS) + " |")
        say("| --- " + "| ---: " * len(WEIGHTS) + "|")
        for label, method in SOFT.items():
            if label not in lines:
                found = [judged(accelerations(model, states, method, 1 / w)) for w in WEIGHTS]
                lines[label] = ([each[0] for each in found], [each[1] for each in found])
            cells = [f"{np.median(x):.0e} ({x.max():.0e})" for x in lines[label][which]]
            say(f"| {label} | " + " | ".join(cells) + " |")
    slopes = {
        label: np.polyfit(np.log10(WEIGHTS[:5]), np.log10([np.median(x) for x in found[0][:5]]), 1)[0]
        for label, found in lines.items()
    }
    least = {label: WEIGHTS[int(np.argmin([np.median(x) for x in found[1]]))] for label, found in lines.items()}
    for label in SOFT:
        say(
            f"\n{label}: the residual falls like weight^{slopes[label]:.2f} up to 1e6; accelerations are nearest to "
            f"PV's at {least[label]:.0e}, and depart from them beyond."
        )
    figure(folder, lines)
    say("\nplot: dynamics_accuracy.png")
    say.write(folder / "dynamics_accuracy.md")


if __name__ == "__main__":
    main()
