"""Builds a mechanism part by part, and closes its loops at a nominal configuration.

>>> shop = Workshop("rhombus")
>>> shop.add("left")
>>> shop.add("right", position=(0.1, 0, 0))
>>> shop.close("left", "right", "point", (0.2, 0, 0))
>>> mechanism = shop.finish(q=(0.3, 0.3))
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...dynamics import Constraint, ModelBuilder, load_urdf
from ...dynamics.algebra.spatial import placement
from .mechanism import Link, Mechanism, Robot

ROWS = {"point": np.eye(6)[3:], "weld": np.eye(6), "hinge": np.delete(np.eye(6), 1, axis=0)}
ROD = np.diag([0.002, 0.005, 0.006])  # kg m^2
ORIGIN = (0.0, 0.0, 0.0)


class Workshop:
    """Takes links, whole robots and loops, one after the other."""

    def __init__(self, name: str) -> None:
        self.builder = ModelBuilder(name)
        self.parts: list[Link | Robot] = []
        self.closures: list[tuple[str, str | None, str, np.ndarray]] = []

    def add(
        self,
        link: str,
        parent: str = "universe",
        joint: str = "revolute",
        axis: ArrayLike = (0, 1, 0),
        position: ArrayLike = ORIGIN,
        rpy: ArrayLike = ORIGIN,
        mass: float = 1.0,
        com: ArrayLike = (0.1, 0.01, -0.02),
        inertia: ArrayLike = ROD,
    ) -> str:
        """A link on a parent link, as `ModelBuilder.add` takes it; a rod along x where nothing is said. Its name."""
        body: dict[str, Any] = {"mass": float(mass), "com": np.array(com, float), "inertia": np.array(inertia, float)}
        place: dict[str, Any] = {
            "axis": np.array(axis, float),
            "position": np.array(position, float),
            "rpy": np.array(rpy, float),
        }
        self.parts.append(Link(link, parent, joint, **place, **body))
        self.builder.add(link, parent, joint, **place, **body)
        return link

    def attach(
        self,
        file: Path,
        floating_base: bool = False,
        prefix: str = "",
        position: ArrayLike = ORIGIN,
        rpy: ArrayLike = ORIGIN,
    ) -> None:
        """A whole robot on the ground, by its URDF file."""
        place: dict[str, Any] = {"position": np.array(position, float), "rpy": np.array(rpy, float)}
        self.parts.append(Robot(file.read_text(), floating_base, prefix, **place))
        self.builder.attach(load_urdf(file, floating_base=floating_base, mimic="free"), prefix=prefix, **place)

    def chain(self, growth: Callable[[int], dict[str, Any]], parent: str, links: int, name: str) -> str:
        """Several links in a row on a parent, growth(i) says what `add` is given for the i-th; the last one's name."""
        for i in range(links):
            parent = self.add(f"{name}{i}", parent, **growth(i))
        return parent

    def close(self, link: str, other: str | None, rows: str, position: ArrayLike = ORIGIN) -> None:
        """Close a loop between a place on a link and where that is on the other link (None: the ground).

        rows: "point", "weld", or "hinge", about y.
        """
        self.closures.append((link, other, rows, np.array(position, float)))

    def finish(self, q: ArrayLike, reach: float = 0.3, effort: float = 3.0) -> Mechanism:
        """The mechanism, its loops closed at q."""
        model, q = self.builder.build(), np.array(q, float)
        constraints = []
        for link, other, rows, position in self.closures:
            R, p = map(np.asarray, model.link_pose(q, link))
            there_R, there_p = map(np.asarray, model.link_pose(q, other or "universe"))
            turn = np.eye(3) if rows == "point" else there_R.T @ R
            target = placement(turn, there_R.T @ (p + R @ position - there_p))
            frame = placement(np.eye(3), position)
            constraint = Constraint(
                link, ROWS[rows], classical=rows == "point", frame=frame, target=target, period=None, other=other
            )
            constraints.append(constraint)
        return Mechanism(model, tuple(constraints), q, tuple(self.parts), reach, effort)
