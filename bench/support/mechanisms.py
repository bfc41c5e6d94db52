"""The mechanisms of Sathya 2024a and Sathya 2024b: chains, the stem with branches, the ladder; and the robots with
their constraints.
"""

import numpy as np
from trisweep.dynamics import Constraint, Model, ModelBuilder, point, weld

REACH = 0.2


class Growth:
    """A builder that adds one kind of link after another: revolute about z and y in turn, as arms have them."""

    def __init__(self, name: str):
        self.builder, self.count = ModelBuilder(name), 0

    def link(self, parent: str) -> str:
        """One more link on a parent; its name."""
        name = f"link{self.count}"
        axis = (0, 0, 1) if self.count % 2 == 0 else (0, 1, 0)
        self.builder.add(
            name,
            parent,
            "revolute",
            axis=axis,
            position=(0, 0, 0) if parent == "universe" else (REACH, 0, 0),
            mass=1.0,
            com=(0.1, 0.01, -0.02),
            inertia=np.diag([0.002, 0.005, 0.006]),
        )
        self.count += 1
        return name

    def chain(self, parent: str, links: int) -> str:
        """Several links in a row; the last one's name."""
        for _ in range(links):
            parent = self.link(parent)
        return parent


def chain(links: int, every: int | None = None) -> tuple[Model, list[Constraint]]:
    """A fixed chain, welded at its tip (Sathya 2024a Fig. 4a), or at every k-th link (Sathya 2024b Fig. 4)."""
    growth = Growth(f"chain{links}")
    growth.chain("universe", links)
    welded = range(links - 1, -1, -(every or links))
    return growth.builder.build(), [weld(f"link{i}", period=None) for i in sorted(welded)]


def stem(length: int, branches: int) -> tuple[Model, list[Constraint]]:
    """A floating stem with branches of seven links at both ends, each welded at its tip (Sathya 2024a Fig. 2e,
    Sathya 2024b Fig. 3a).
    """
    growth = Growth(f"stem{length}x{branches}")
    growth.builder.add("base", joint="floating", mass=1.0, com=(0.1, 0, 0), inertia=0.005 * np.eye(3))
    end = growth.chain("base", length - 1)
    tips = [growth.chain(root, 7) for root in ("base", end) for _ in range(branches)]
    return growth.builder.build(), [weld(tip, period=None) for tip in tips]


def ladder(rungs: int) -> tuple[Model, list[Constraint]]:
    """Rungs of seven links welded at their far ends, three links from one to the next (Sathya 2024a Fig. 4b)."""
    growth = Growth(f"ladder{rungs}")
    side, tips = "universe", []
    for _ in range(rungs):
        side = growth.chain(side, 3)
        tips.append(growth.chain(side, 7))
    return growth.builder.build(), [weld(tip, period=None) for tip in tips]


FEET = {
    "hyq": ("lf_foot", "rf_foot", "lh_foot", "rh_foot"),
    "go1": ("FR_foot", "FL_foot", "RR_foot", "RL_foot"),
    "talos": ("leg_left_6_link", "leg_right_6_link"),
    "g1": ("left_ankle_roll_link", "right_ankle_roll_link"),
}
HANDS = {
    "iiwa14": ("iiwa_flange",),
    "talos": ("arm_left_7_link", "arm_right_7_link"),
    "g1": ("left_wrist_yaw_link", "right_wrist_yaw_link"),
}


def robot_cases() -> list[tuple[str, str, list[Constraint]]]:
    """The rows of Sathya 2024a Table II: label, robot, constraints (H hand, F foot, 6D; H3, F3 3D)."""

    def welds(links):
        return [weld(link, period=None) for link in links]

    cases = [("iiwa14 (0D)", "iiwa14", [])]
    cases.append(("iiwa14 (H3)", "iiwa14", [point("iiwa_flange", period=None)]))
    cases.append(("iiwa14 (H)", "iiwa14", welds(HANDS["iiwa14"])))
    cases.append(("go1 (0D)", "go1", []))
    cases += [
        (f"go1 ({n or ''}F3)".replace("1F3", "F3"), "go1", [point(f, period=None) for f in FEET["go1"][:n]])
        for n in range(1, 5)
    ]
    for name in ("g1", "talos"):
        cases.append((f"{name} (0D)", name, []))
        cases.append((f"{name} (F)", name, welds(FEET[name][:1])))
        cases.append((f"{name} (2F)", name, welds(FEET[name])))
        cases.append((f"{name} (2F+H)", name, welds(FEET[name] + HANDS[name][:1])))
        cases.append((f"{name} (2F+2H)", name, welds(FEET[name] + HANDS[name])))
    return cases
