"""Operations of the dynamics algorithms, counted as SX instructions: Sathya 2024a Fig. 2, 4 and Table II, Sathya 2024b
Figs 3 to 6.

    python bench/dynamics_operations.py [folder]        (default: out)

Counted are the instructions of the CasADi function without inputs, outputs and constants. Writes
dynamics_operations.md and .png files to the folder, and says where a bar of the project is met or missed.
"""

import sys
from functools import cache
from pathlib import Path

import casadi as ca
import matplotlib
import numpy as np
from support.dexterous import with_hands
from support.machine import describe
from support.mechanisms import FEET, HANDS, chain, ladder, robot_cases, stem
from support.operations import operations
from support.report import Report
from trisweep.dynamics import load_urdf, point, weld
from trisweep.dynamics.algebra.ldl import Factor
from trisweep.dynamics.algebra.spatial import Turn
from trisweep.dynamics.forward_problem import ForwardProblem
from trisweep.dynamics.free.aba import aba
from trisweep.dynamics.methods import FORWARD as METHODS
from trisweep.problems.robot import example_files, robot

matplotlib.use("Agg")
import matplotlib.pyplot as plt

FORWARD = {
    "PV": "pv",
    "PV base": "pv-base",
    "PV-early": "pv-early",
    "LTL": "ltl",
    "PV-soft": "pv-soft",
    "LTL-soft": "ltl-soft",
}
OSIM = {"PV-OSIM": "pv-osim", "PV-OSIMr": "pv-osimr", "EFPA": "efpa", "KJR": "kjr", "LTL": "ltl"}
RECURSIVE = {name: OSIM[name] for name in ("PV-OSIM", "PV-OSIMr", "EFPA")}

robot = cache(robot)
say = Report()


def forward_operations(model, constraints, method) -> int:
    """Accelerations alone, as in the papers."""
    q, v, tau = (ca.SX.sym(name, size) for name, size in (("q", model.nq), ("v", model.nv), ("tau", model.nv)))
    if constraints or method.startswith("ltl"):
        result = METHODS[method](ForwardProblem(model, q, v, tau, constraints))[0]
    else:
        result = aba(model, q, v, tau)
    return operations(ca.Function("f", [q, v, tau], [result]))


def osim_operations(model, constraints, method, solve=False) -> int:
    """The upper triangle of the Delassus matrix; with `solve`, also one solution of a system with it."""
    q = ca.SX.sym("q", model.nq)
    if not solve:
        return operations(ca.Function("f", [q], [ca.triu(ca.SX(model.delassus(q, constraints, method)))]))
    b = ca.SX.sym("b", sum(constraint.size for constraint in constraints))
    matrix = model.delassus(q, constraints, method)
    answer = matrix.solve(b) if method == "pv-osim-fast" else Factor(matrix).solve(b)
    return operations(ca.Function("f", [q, b], [answer]))


def table(title: str, head: list[str], lines: list[list]) -> None:
    say(f"\n### {title}\n")
    say("| " + " | ".join(head) + " |")
    say("| " + " | ".join(["---"] + ["---:"] * (len(head) - 1)) + " |")
    for line in lines:
        say("| " + " | ".join(f"{x:,}" if isinstance(x, int) else str(x) for x in line) + " |")


def bar(met: bool, sentence: str) -> None:
    say(f"\n{'met' if met else 'MISSED'}: {sentence}")


def slope(x, y) -> float:
    """The exponent of y ~ x^p, over the larger half of the sizes."""
    x, y = np.log(x[len(x) // 2 - 1 :]), np.log(y[len(y) // 2 - 1 :])
    return float(np.polyfit(x, y, 1)[0])


def draw(folder: Path, name: str, x, curves: dict, x_label: str, logarithmic=False) -> None:
    figure, axes = plt.subplots(figsize=(5.5, 4))
    for label, y in curves.items():
        axes.plot(x, y, marker="o", markersize=3, label=label)
    if logarithmic:
        axes.set_xscale("log")
        axes.set_yscale("log")
    axes.set(xlabel=x_label, ylabel="operations", ylim=(None if logarithmic else 0, None))
    axes.grid(alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(folder / f"dynamics_{name}.png", dpi=120)
    plt.close(figure)
    say(f"\nplot: dynamics_{name}.png")


def basics() -> None:
    lines = []
    for name in ("iiwa14", "ur5", "panda", "go1", "allegro", "g1", "talos"):
        model = robot(name)
        q, v, a = (ca.SX.sym(label, size) for label, size in (("q", model.nq), ("v", model.nv), ("a", model.nv)))
        results = (model.inverse_dynamics(q, v, a), ca.triu(model.mass_matrix(q)), aba(model, q, v, a))
        results = (*results, ca.triu(model.inverse_mass_matrix(q)))
        lines.append([name, model.nv, *(operations(ca.Function("f", [q, v, a], [x])) for x in results)])
    table("Unconstrained", ["robot", "dofs", "RNEA", "CRBA", "ABA", "inverse of M"], lines)


def constrained_robots() -> None:
    lines, counts = [], {}
    for label, name, constraints in robot_cases():
        model = robot(name)
        methods = {k: m for k, m in FORWARD.items() if m != "pv-base" or (constraints and name != "iiwa14")}
        counts[label] = {key: forward_operations(model, constraints, method) for key, method in methods.items()}
        lines.append([label, *(counts[label].get(key, "") for key in FORWARD)])
    table("Constrained forward dynamics (Sathya 2024a Table II)", ["robot", *FORWARD], lines)
    full = counts["talos (2F+2H)"]
    share = full["PV-early"] / full["LTL"]
    bar(share <= 0.6, f"PV-early needs {share:.0%} of LTL's operations for Talos with 2F+2H (at most 60 %)")


def osim_robots() -> None:
    lines, counts = [], {}
    for label, name, constraints in robot_cases():
        if constraints:
            model = robot(name)
            counts[label] = {key: osim_operations(model, constraints, method, True) for key, method in OSIM.items()}
            if name != "iiwa14":
                counts[label]["PV-OSIM-fast"] = osim_operations(model, constraints, "pv-osim-fast", True)
            lines.append([label, *(counts[label].get(key, "") for key in (*OSIM, "PV-OSIM-fast"))])
    table("Delassus matrix and one solution with it (Sathya 2024a Fig. 2)", ["robot", *OSIM, "PV-OSIM-fast"], lines)
    arm = counts["iiwa14 (H)"]
    bar(arm["LTL"] <= min(arm.values()), f"LTL wins on the iiwa: LTL {arm['LTL']:,}, PV-OSIM {arm['PV-OSIM']:,}")
    say("\n" + why_not_ltl(arm))
    for name in ("g1", "talos"):
        full = counts[f"{name} (2F+2H)"]
        rest = min(value for key, value in full.items() if key != "LTL")
        bar(full["LTL"] > rest, f"LTL loses on {name} (2F+2H): LTL {full['LTL']:,}, the best {rest:,}")


def why_not_ltl(counts: dict) -> str:
    """The iiwa once more, its inertias turned by two plain products R (A R') instead of `Turn.congruence`."""
    short = Turn.congruence
    Turn.congruence = lambda self, A: self.rotate(self.rotate(A).T).T
    tip = [weld("iiwa_flange", period=None)]
    plain = {key: osim_operations(robot("iiwa14"), tip, OSIM[key], True) for key in ("PV-OSIM", "LTL")}
    Turn.congruence = short
    return (
        f"On the iiwa LTL ({counts['LTL']:,}) and PV-OSIM ({counts['PV-OSIM']:,}) are level, where Sathya 2024a has "
        f"LTL ahead. With inertias turned by two plain products it is LTL {plain['LTL']:,}, "
        f"PV-OSIM {plain['PV-OSIM']:,}, the order of Sathya 2024a: the shorter congruence of a plane rotation saves "
        "more on articulated than on rigid inertias."
    )


def scaling(folder: Path) -> None:
    sizes = (6, 10, 20, 30, 40, 60, 100)
    methods = {key: method for key, method in FORWARD.items() if key != "PV base"}
    curves = {key: [forward_operations(*chain(n), method) for n in sizes] for key, method in methods.items()}
    table(
        "Chains welded at the tip (Sathya 2024a Fig. 4a)",
        ["links", *curves],
        [[n, *row] for n, row in zip(sizes, zip(*curves.values()))],
    )
    say("\nslopes: " + ", ".join(f"{key} {slope(sizes, y):.2f}" for key, y in curves.items()))
    draw(folder, "chains", sizes, curves, "links")

    rungs = (1, 2, 4, 6, 8, 12)
    curves = {key: [forward_operations(*ladder(r), method) for r in rungs] for key, method in methods.items()}
    table(
        "Ladder (Sathya 2024a Fig. 4c)", ["rungs", *curves], [[r, *row] for r, row in zip(rungs, zip(*curves.values()))]
    )
    slopes = {key: slope(rungs, y) for key, y in curves.items()}
    say("\nslopes: " + ", ".join(f"{key} {p:.2f}" for key, p in slopes.items()))
    draw(folder, "ladder", rungs, curves, "rungs")
    linear = max(slopes["PV-early"], slopes["PV-soft"])
    bar(linear < 1.05, f"PV-early and PV-soft grow linearly on the ladder (largest slope {linear:.2f})")


def stems(folder: Path) -> None:
    lengths = (2, 10, 20, 40)
    lines = []
    for branches in (1, 2, 4, 7, 10):
        curves = {key: [osim_operations(*stem(n, branches), m) for n in lengths] for key, m in RECURSIVE.items()}
        for n, row in zip(lengths, zip(*curves.values())):
            lines.append([branches, n, *row, f"{row[0] / row[2]:.2f}", f"{row[1] / row[0]:.2f}"])
        draw(folder, f"stem_{branches}", lengths, curves, f"stem links, {branches} branches at either end")
    head = ["branches a side", "stem links", *RECURSIVE, "PV-OSIM / EFPA", "OSIMr / OSIM"]
    table("Stem and branches (Sathya 2024a Fig. 2f, Sathya 2024b Fig. 3)", head, lines)
    say(f"\nEFPA overtakes PV-OSIM {_crossings(lines)}, in Sathya 2024a at 54 links with 10 branches. {COLUMN}")


COLUMN = (
    "With m rows a link of the stem adds to PV-OSIM a pass of m columns and m (m + 1) operations of its rank-one "
    "update, to EFPA a second pass of m columns: EFPA wins in the end where m + 1 is above the operations of a "
    "column through a joint, here 27 in the joint's own frame (m from 27 on). Whoever pays more for a column, as "
    "the paper does, sees the crossing further out."
)


def _crossings(lines: list[list]) -> str:
    """Where the straight lines through the last two lengths of each number of branches meet, if they do."""
    found = []
    for branches in sorted({line[0] for line in lines}):
        (n, pv, _, efpa, *_), (more, pv_more, _, efpa_more, *_) = [line[1:] for line in lines if line[0] == branches][
            -2:
        ]
        faster = (pv_more - pv) - (efpa_more - efpa)
        if faster > 0:
            found.append(f"at {n + (efpa - pv) / faster * (more - n):.0f} links with {branches} branches")
    return ", ".join(found)


def squares(folder: Path) -> None:
    ks = (2, 3, 4, 5, 6, 8, 10)
    curves = {key: [osim_operations(*chain(k * k, k), m) for k in ks] for key, m in RECURSIVE.items()}
    table(
        "Chains of k^2 links, every k-th welded (Sathya 2024b Fig. 4a)",
        ["k", *curves],
        [[k, *row] for k, row in zip(ks, zip(*curves.values()))],
    )
    slopes = {key: slope(ks, y) for key, y in curves.items()}
    say("\nslopes: " + ", ".join(f"{key} {p:.2f}" for key, p in slopes.items()))
    draw(folder, "squares", ks, curves, "k", logarithmic=True)
    bar(
        slopes["PV-OSIMr"] < 2.25 and slopes["EFPA"] > slopes["PV-OSIMr"] + 0.4,
        f"PV-OSIMr grows with k^{slopes['PV-OSIMr']:.2f}, EFPA with k^{slopes['EFPA']:.2f} (Sathya 2024b: 2 and 3)",
    )
    sizes = (4, 6, 9, 13, 18)
    curves = {key: [osim_operations(*chain(n, 1), m) for n in sizes] for key, m in RECURSIVE.items()}
    table(
        "Chains with every link welded (Sathya 2024b Fig. 4b)",
        ["links", *curves],
        [[n, *row] for n, row in zip(sizes, zip(*curves.values()))],
    )
    say("\nslopes: " + ", ".join(f"{key} {slope(sizes, y):.2f}" for key, y in curves.items()))
    draw(folder, "every_link", sizes, curves, "links", logarithmic=True)
    say(
        "\nWith every link welded EFPA needs less than PV-OSIMr here, in Sathya 2024b more: the exponents are the "
        "same, but a joint passes a column of forces or accelerations in about 27 operations in its own frame, while "
        "PV-OSIMr multiplies it by a dense 6 x 6 propagator (66), here for a single joint. From three joints on the "
        "propagator is cheaper."
    )


def humanoids_and_hands() -> None:
    lines = []
    for name in ("g1", "talos"):
        corners = [(x, y, 0.0) for x in (0.1, -0.1) for y in (0.05, -0.05)]
        twelve = [point(foot, corner, period=None) for foot in FEET[name] for corner in corners]
        lines.append([f"{name}, 6D a foot", *_osim(robot(name), [weld(foot, period=None) for foot in FEET[name]])])
        lines.append([f"{name}, four points a foot", *_osim(robot(name), twelve)])
    tips = [point(link, (0, 0, 0.03), period=None) for link in ("link_3.0", "link_7.0", "link_11.0", "link_15.0")]
    lines.append(["Allegro hand, four tips", *_osim(robot("allegro"), tips)])
    path = example_files()["g1"].with_name("g1_29dof_with_hand_rev_1_0.urdf")
    handy = load_urdf(path, floating_base=True)
    ends = [link for link in handy.frames if link.startswith(("left_hand", "right_hand")) and _is_tip(handy, link)]
    fingers = [point(link, period=None) for link in ends]
    lines.append([f"g1 with its own hands, {len(ends)} finger tips", *_osim(handy, fingers)])
    standing = [weld(foot, period=None) for foot in FEET["g1"]]
    lines.append(["g1 with its own hands, finger tips and feet", *_osim(handy, fingers + standing)])
    for count in (1, 2):
        dexterous, names = with_hands(example_files()["g1"], HANDS["g1"][:count])
        fingers = [point(tip, period=None) for tip in names]
        label = f"g1 with {count} hand{'s' * (count > 1)} of 24 dofs, {len(names)} finger tips"
        lines.append([label, *_osim(dexterous, fingers)])
    lines.append([f"{label}, feet", *_osim(dexterous, fingers + standing)])
    hands = [weld(hand, period=None) for hand in HANDS["talos"]]
    lines.append(
        ["talos, 2F + 2H", *_osim(robot("talos"), [weld(foot, period=None) for foot in FEET["talos"]] + hands)]
    )
    table("Humanoids and hands (Sathya 2024b Figs 5 and 6)", ["case", *OSIM, "mixed"], lines)
    say(f"\n{HANDS_WORDS}")


HANDS_WORDS = (
    "Sathya 2024b Fig. 6 (Atlas with Shadow hands, 15 rows a hand) has up to 34 % fewer operations for PV-OSIMr "
    "than for PV-OSIM. On G1's own hands, 9 rows each through the 7 joints of an arm, it has more: composing at a "
    "palm costs two products of rank 6, and saves 3 columns a joint. Hands of 24 dofs and 15 rows turn that "
    "round, on one arm; with two, what both arms bring goes through G1's 3 waist joints alone, too few to compose "
    "for (the paper's own remark in its Sec. V-D, where it is 3 joints or fewer). `mixed` (method 'pv-osim-"
    "mixed') composes at a link where that saves operations."
)


def _osim(model, constraints) -> list[int]:
    return [osim_operations(model, constraints, method) for method in (*OSIM.values(), "pv-osim-mixed")]


def _is_tip(model, link) -> bool:
    """A moving link that carries no other."""
    body = model.frames[link].body
    return body >= 0 and body not in model.parents


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
    folder.mkdir(parents=True, exist_ok=True)
    say("# Operations of the dynamics algorithms\n")
    say(describe("casadi", "example-robot-data"))
    basics()
    constrained_robots()
    osim_robots()
    humanoids_and_hands()
    scaling(folder)
    stems(folder)
    squares(folder)
    say.write(folder / "dynamics_operations.md")


if __name__ == "__main__":
    main()
