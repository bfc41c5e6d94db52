"""A Stewart platform: a plate on six legs that lengthen, each on a cross joint below and a ball above."""

from functools import cache

import numpy as np

from .mechanism import Mechanism
from .workshop import Workshop

HEIGHT, BELOW, ABOVE, SPREAD = 0.8, 0.7, 0.4, 0.25  # m: of the plate, of the circles of feet and heads; rad


@cache
def stewart_platform() -> Mechanism:
    """24 velocities and 18 rows; the legs' heads are pinned to the plate."""
    shop = Workshop("Stewart platform")
    q: list[float] = []
    shop.add("plate", joint="floating", mass=20.0, com=(0, 0, 0.03), inertia=np.diag([0.9, 0.9, 1.7]))
    q += [0, 0, HEIGHT, 0, 0, 0, 1]
    for leg in range(6):
        side = 1 if leg % 2 else -1
        foot = BELOW * around(2 * np.pi * (leg // 2) / 3 + side * SPREAD)
        head = ABOVE * around(2 * np.pi * (leg // 2) / 3 + side * (np.pi / 3 - SPREAD)) + [0, 0, HEIGHT]
        shop.add(f"cross {leg}", axis=(1, 0, 0), position=foot, mass=0.2, inertia=1e-3 * np.eye(3))
        inertia = np.diag([0.03, 0.03, 2e-3])
        shop.add(f"tube {leg}", f"cross {leg}", axis=(0, 1, 0), mass=2.0, com=(0, 0, 0.2), inertia=inertia)
        up = (0, 0, 1)
        shop.add(f"rod {leg}", f"tube {leg}", "prismatic", up, mass=1.0, com=(0, 0, -0.2), inertia=inertia / 2)
        x, y, z = head - foot
        q += [float(np.arctan2(-y, z)), float(np.arctan2(x, np.hypot(y, z))), float(np.linalg.norm(head - foot))]
        shop.close(f"rod {leg}", "plate", "point")
    return shop.finish(q, reach=0.1)


def around(angle: float) -> np.ndarray:
    """A point of the unit circle on the ground."""
    return np.array([np.cos(angle), np.sin(angle), 0.0])
