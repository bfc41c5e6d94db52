"""Mechanisms with closed loops, each with a configuration in which its loops are closed.

>>> from trisweep.problems.mechanisms import four_bar
>>> bars = four_bar()
>>> a, forces = bars.model.forward_dynamics(bars.q, v, tau, bars.constraints)

Hands, humanoids and what holds them come from the package example-robot-data.
"""

from collections.abc import Callable

from .four_bar import four_bar
from .growing import aligned, chain_of_loops, favourable, single_loop, worst_case
from .hands import carrier, grasp
from .legs import legs, pair
from .mechanism import Mechanism
from .stewart import stewart_platform
from .workshop import Workshop

MECHANISMS: dict[str, Callable[[], Mechanism]] = {
    "four-bar": four_bar,
    "four-bar hinged": lambda: four_bar("hinge"),
    "four-bar welded": lambda: four_bar("weld"),
    "hand and cube": grasp,
    "two hands and cube": lambda: grasp(2),
    "humanoid, hands, cube": lambda: carrier(feet=False),
    "humanoid on feet, hands, cube": carrier,
    "legs": legs,
    "legs and cube": lambda: legs(cube=True),
    "single loop": lambda: single_loop(10),
    "chain of loops": lambda: chain_of_loops(3),
    "worst case": lambda: worst_case(3),
    "favourable": lambda: favourable(4),
    "Stewart platform": stewart_platform,
}

__all__ = [
    "MECHANISMS",
    "Mechanism",
    "Workshop",
    "aligned",
    "carrier",
    "chain_of_loops",
    "favourable",
    "four_bar",
    "grasp",
    "legs",
    "pair",
    "single_loop",
    "stewart_platform",
    "worst_case",
]
