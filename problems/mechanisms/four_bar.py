"""A four-bar linkage: crank and rocker on the ground, the coupler on the crank, all turns about y."""

from functools import cache

import numpy as np

from ...dynamics import Shape
from ...dynamics.algebra.spatial import placement
from .mechanism import Mechanism
from .workshop import Workshop


@cache
def four_bar(
    rows: str = "point",
    crank: float = 0.3,
    coupler: float = 0.7,
    rocker: float = 0.6,
    ground: float = 0.8,
    angle: float = 1.1,
) -> Mechanism:
    """The linkage with these lengths in m, its crank raised by an angle in rad. The plane makes rows dependent.

    A point (rank 2 of 3) or a hinge (2 of 5) joins the coupler's tip to the rocker's; a weld (3 of 6) joins the
    rocker's halves, of which the upper hangs on the coupler.
    """
    shop = Workshop(f"four-bar by {rows}")
    q = four_bar_configuration(crank, coupler, rocker, ground, angle)
    rods = [
        ("crank", "universe", 0.0, crank),
        ("coupler", "crank", crank, coupler),
        ("rocker", "universe", ground, rocker),
    ]
    if rows == "weld":
        rods[2] = ("rocker", "universe", ground, rocker / 2)
        rods.insert(2, ("upper rocker", "coupler", coupler, -rocker / 2))
        q = np.insert(q, 2, q[2] - q[1] - q[0])
    for name, parent, at, length in rods:
        mass, middle = abs(length), (length / 2, 0, 0)
        inertia = abs(length) ** 3 / 12 * np.diag([1e-3, 1.0, 1.0])
        shop.add(name, parent, position=(at, 0, 0), mass=mass, com=middle, inertia=inertia)
        box = Shape("box", (mass, 0.03, 0.03), name, placement(np.eye(3), np.array(middle)))
        shop.builder.shape(box)
    if rows == "weld":
        shop.close("upper rocker", "rocker", rows, (-rocker / 2, 0, 0))
    else:
        shop.close("coupler", "rocker", rows, (coupler, 0, 0))
    return shop.finish(q)


def four_bar_configuration(crank: float, coupler: float, rocker: float, ground: float, angle: float) -> np.ndarray:
    """Angles (crank, coupler relative to it, rocker), rad, of the closed loop, elbow up; turns about y lift x to -z."""
    tip = crank * np.array([np.cos(angle), np.sin(angle)])
    across = np.array([ground, 0.0]) - tip
    d = np.linalg.norm(across)
    bend = np.arccos(np.clip((coupler**2 + d**2 - rocker**2) / (2 * coupler * d), -1, 1))
    absolute = np.arctan2(across[1], across[0]) + bend
    joint = tip + coupler * np.array([np.cos(absolute), np.sin(absolute)])
    return -np.array([angle, absolute - angle, np.arctan2(joint[1], joint[0] - ground)])
