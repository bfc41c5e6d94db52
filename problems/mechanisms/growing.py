"""The four families of Sathya 2025 Figs 6 to 9, which grow with the number of their links or loops."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from .mechanism import Mechanism
from .workshop import Workshop

Growth = Callable[[int], dict[str, Any]]


def along(i: int) -> dict[str, Any]:
    """The i-th link of a chain: axes and placements in generic directions, the same in every run."""
    rng = np.random.default_rng(100 + i)
    axis = rng.standard_normal(3)
    return {"axis": axis / np.linalg.norm(axis), "position": (0.2, 0, 0), "rpy": rng.uniform(-0.6, 0.6, 3)}


def aligned(i: int) -> dict[str, Any]:
    """The i-th link of a chain as arms have them: about z and y in turn."""
    return {"axis": (0, i % 2, 1 - i % 2), "position": (0.2, 0, 0)}


@cache
def single_loop(links: int, growth: Growth = along) -> Mechanism:
    """A cycle (Fig. 6a): a floating link, a chain on it, the last link welded to the first."""
    shop = Workshop(f"loop of {links}")
    shop.add("link0", joint="floating")
    tip = shop.chain(growth, "link0", links - 1, "chain")
    shop.close(tip, "link0", "weld", (0.2, 0, 0))
    return shop.finish(generic(shop))


@cache
def chain_of_loops(loops: int, growth: Growth = along) -> Mechanism:
    """Loops of seven links on a root, which is the middle link of the loop before (Fig. 7a)."""
    shop = Workshop(f"chain of {loops} loops")
    root = shop.add("root", joint="floating")
    for k in range(loops):
        tip = shop.chain(_from(11 * k, growth), root, 7, f"loop{k}/")
        shop.close(tip, root, "weld", (0.2, 0, 0))
        root = f"loop{k}/3"
    return shop.finish(generic(shop))


@cache
def worst_case(loops: int, growth: Growth = along, spacing: int = 4) -> Mechanism:
    """A chain in which loop i spans links i s to (m + i) s: each shares joints with every other (Fig. 8a)."""
    shop = Workshop(f"{loops} coupled loops")
    shop.add("base", joint="floating")
    shop.chain(growth, "base", 2 * loops * spacing, "link")
    for i in range(loops):
        start = "base" if i == 0 else f"link{i * spacing - 1}"
        shop.close(f"link{(loops + i) * spacing - 1}", start, "weld", (0.2, 0, 0))
    return shop.finish(generic(shop))


@cache
def favourable(branches: int, growth: Growth = along, length: int = 7) -> Mechanism:
    """Branches on one link, their tips welded to the first one's (Fig. 9a): whatever link is eliminated, from the tips
    on, is coupled to one other besides its parent.
    """
    shop = Workshop(f"{branches} branches")
    shop.add("base", joint="floating")
    tips = [shop.chain(_from(length * k, growth), "base", length, f"branch{k}/") for k in range(branches)]
    for tip in tips[1:]:
        shop.close(tip, tips[0], "weld", (0.2, 0, 0))
    return shop.finish(generic(shop))


def _from(first: int, growth: Growth) -> Growth:
    """A growth whose link 0 is another's link `first`."""
    return lambda i: growth(first + i)


def generic(shop: Workshop) -> np.ndarray:
    """A configuration without symmetry."""
    model = shop.builder.build()
    return np.asarray(model.integrate(model.neutral(), np.random.default_rng(7).uniform(-0.5, 0.5, model.nv)))
