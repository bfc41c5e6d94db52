"""Two legs in the manner of Cassie on a floating pelvis, and two robots of such legs."""

from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from ...dynamics.algebra.quaternion import of_matrix
from ...dynamics.algebra.spatial import from_rpy
from .hands import CUBE
from .mechanism import Mechanism
from .workshop import Workshop

Y = (0, 1, 0)
SIDES = {"left": 1, "right": -1}
# name, parent, kind and axis of the joint, its place on the parent, mass; on the left side and on the right
LEG = [
    ("hip yaw", "hip roll", "revolute", (0, 0, 1), (0, 0, -0.07), 1.2),
    ("hip pitch", "hip yaw", "revolute", Y, (0, 0, -0.09), 5.5),
    ("achilles rod", "hip pitch", "spherical", Y, (-0.04, 0.02, -0.02), 0.16),
    ("knee", "hip pitch", "revolute", Y, (0.12, 0, 0.05), 0.8),
    ("shin", "knee", "revolute", Y, (0.06, 0, 0.08), 0.6),
    ("tarsus", "shin", "revolute", Y, (0.43, 0, 0.02), 0.9),
    ("foot crank", "tarsus", "revolute", Y, (0.06, 0.01, -0.03), 0.12),
    ("plantar rod", "foot crank", "revolute", Y, (0.055, 0, 0), 0.12),
    ("foot", "tarsus", "revolute", Y, (0.41, 0, -0.04), 0.15),
]
HALF = {"shin": 0.22, "tarsus": 0.2, "plantar rod": 0.18, "achilles rod": 0.25}  # m, of the long links
ROLL_YAW_PITCH, KNEE_TO_FOOT = (0.05, -0.03, 0.5), (-1.1, 0.05, 1.6, -0.4, 0.5, -1.3)  # rad, in the nominal pose


@cache
def legs(cube: bool = False) -> Mechanism:
    """In each leg a rod on a ball from hip to heel closes the loop over knee and shin, a rod from a crank to the foot
    another one, which is planar and so has dependent rows; the feet are welded to the ground. With a cube, two arms
    hold it by points.
    """
    shop = Workshop("legs with loops" + " and a cube" * cube)
    q = stand(shop, "", (0, 0, 1.0))
    if cube:
        q += two_arms(shop, "")
        shop.add("cube", joint="floating", **CUBE)
        q += [0.35, 0, 1.2, 0, 0, 0, 1]
        for side in SIDES:
            shop.close(f"{side} arm 3", "cube", "point", (0.2, 0, 0))
    return shop.finish(q, reach=0.12)


@cache
def pair() -> Mechanism:
    """Two such robots on their feet hold one box, each hand by three points of it."""
    shop = Workshop("two robots with loops and a box")
    q: list[float] = []
    for robot, x in (("first ", 0.0), ("second ", 0.8)):
        q += stand(shop, robot, (x, 0, 1.0))
        q += two_arms(shop, robot)
    shop.add("box", joint="floating", **CUBE)
    q += [0.55, 0, 1.2, 0, 0, 0, 1]
    for robot in ("first ", "second "):
        for side in SIDES:
            for place in ((0.2, 0, 0), (0.2, 0.03, 0), (0.2, 0, 0.03)):
                shop.close(f"{robot}{side} arm 3", "box", "point", place)
    return shop.finish(q, reach=0.12)


def stand(shop: Workshop, robot: str, place: tuple[float, float, float]) -> list[float]:
    """A pelvis on two legs, names behind the robot's; its coordinates."""
    pelvis = {"mass": 10.0, "com": (0.05, 0, 0.03), "inertia": np.diag([0.1, 0.1, 0.12])}
    shop.add(f"{robot}pelvis", joint="floating", **pelvis)  # type: ignore[arg-type]
    q = [*place, 0, 0, 0, 1]
    for side, y in SIDES.items():
        name = f"{robot}{side}"
        add(shop, f"{name} hip roll", f"{robot}pelvis", "revolute", (1, 0, 0), (0.02, 0.135 * y, 0), 1.8)
        for link, parent, joint, axis, position, mass in LEG:
            add(shop, f"{name} {link}", f"{name} {parent}", joint, axis, position, mass, HALF.get(link, 0.03))
        shop.close(f"{name} achilles rod", f"{name} tarsus", "point", (0.5, 0, 0))
        shop.close(f"{name} plantar rod", f"{name} foot", "point", (0.36, 0, 0.01))
        shop.close(f"{name} foot", None, "weld", (0.05, 0, -0.05))
        q += [*ROLL_YAW_PITCH, *of_matrix(from_rpy((0.1, 0.9, 0.05))).ravel(), *KNEE_TO_FOOT]
    return q


def add(
    shop: Workshop,
    name: str,
    parent: str,
    joint: str,
    axis: ArrayLike,
    position: ArrayLike,
    mass: float,
    half: float = 0.03,
) -> None:
    """A link of a leg, slender along x where it is long."""
    inertia = mass * (1e-3 * np.eye(3) + half**2 / 3 * np.diag([0, 1, 1]))
    shop.add(name, parent, joint, axis, position, mass=mass, com=(half, 0.005, 0.01), inertia=inertia)


def two_arms(shop: Workshop, robot: str) -> list[float]:
    """Arms of four joints on the pelvis; their coordinates."""
    for side, y in SIDES.items():
        axes = ((1, 0, 0), Y, (0, 0, 1), Y)
        parent = f"{robot}pelvis"
        for i, axis in enumerate(axes):
            position = (0.02, 0.2 * y, 0.3) if i == 0 else (0.05 + 0.12 * (i % 2), 0, 0)
            parent = shop.add(f"{robot}{side} arm {i}", parent, axis=axis, position=position)
    return [0.1, 0.2, -0.3, 0.6, -0.1, 0.3, 0.2, 0.5]
