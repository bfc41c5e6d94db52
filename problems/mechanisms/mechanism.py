"""A mechanism with closed loops as data: a tree, the constraints that close it, and the parts it was built from.

The parts are what was asked of the builder, so that another program can build the same mechanism without our model.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from ...dynamics import Constraint, Model


@dataclass(frozen=True, eq=False)
class Link:
    """A link with its joint, in the words of `ModelBuilder.add`."""

    name: str
    parent: str
    joint: str
    axis: np.ndarray
    position: np.ndarray
    rpy: np.ndarray
    mass: float
    com: np.ndarray
    inertia: np.ndarray


@dataclass(frozen=True, eq=False)
class Robot:
    """A whole robot on the ground, in the words of `ModelBuilder.attach`, with the text of its URDF."""

    urdf: str = field(repr=False)
    floating_base: bool
    prefix: str
    position: np.ndarray
    rpy: np.ndarray


@dataclass(frozen=True, eq=False)
class Mechanism:
    """The model of the tree, the constraints, and a configuration q (nq,) in which the loops are closed.

    reach: how far from q a state may be drawn, rad or m. effort: the size of its joint forces, N m or N.
    """

    model: Model
    constraints: tuple[Constraint, ...]
    q: np.ndarray
    parts: tuple[Link | Robot, ...] = field(repr=False)
    reach: float = 0.3
    effort: float = 3.0

    @property
    def size(self) -> int:
        """The number of constraint rows."""
        return sum(c.size for c in self.constraints)

    def with_constraints(self, constraints: Iterable[Constraint]) -> Mechanism:
        """The same mechanism under other constraints."""
        return replace(self, constraints=tuple(constraints))

    def stabilised(self, period: float) -> Mechanism:
        """The same with Baumgarte's stabilisation, its period in s."""
        return self.with_constraints(replace(c, period=period) for c in self.constraints)
