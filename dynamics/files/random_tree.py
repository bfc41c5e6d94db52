"""Random models for tests and benches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..model import Model
from .builder import ModelBuilder
from .link_values import KINDS


def _random_body(rng: np.random.Generator) -> dict[str, Any]:
    """A link's placement and a physical inertia, all generic."""
    points = rng.uniform(-0.2, 0.2, (6, 3)) + rng.uniform(-0.1, 0.1, 3)
    mass = rng.uniform(0.5, 2.0)
    spread = points - points.mean(axis=0)
    J = mass / 6 * spread.T @ spread
    return {
        "position": rng.uniform(-0.3, 0.3, 3),
        "rpy": rng.uniform(-np.pi, np.pi, 3),
        "axis": rng.standard_normal(3),
        "mass": mass,
        "com": points.mean(axis=0),
        "inertia": np.trace(J) * np.eye(3) - J,
    }


def random_tree(links: int, seed: int, kinds: Sequence[str] = tuple(KINDS), floating: bool = False) -> Model:
    """A random tree with joints of the given kinds; links "link0", "link1", ..., depth first."""
    builder = ModelBuilder(f"tree{links}-{seed}")
    grow(builder, links, seed, kinds, floating)
    return builder.build()


def grow(
    builder: ModelBuilder, links: int, seed: int, kinds: Sequence[str] = tuple(KINDS), floating: bool = False
) -> None:
    """Add a random tree to anything with `ModelBuilder.add`."""
    rng = np.random.default_rng(seed)
    branch: list[str] = []
    for i in range(links):
        kind = "floating" if floating and i == 0 else str(rng.choice(kinds))
        branch = branch[: max(1, len(branch) - int(rng.integers(0, 3)))]
        body = _random_body(rng)
        if kind == "planar":
            body["axis"] = np.array([0.0, 0.0, 1.0])
        if kind in ("revolute", "prismatic"):
            body |= {"lower": -np.pi, "upper": np.pi}
        builder.add(f"link{i}", branch[-1] if branch else "universe", kind, **body)
        branch.append(f"link{i}")
