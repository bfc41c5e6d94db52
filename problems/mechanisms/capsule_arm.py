"""A small arm of six joints whose links are capsules: for tests of distances and plans."""

from __future__ import annotations

import numpy as np

from ...dynamics import Model, ModelBuilder, Shape
from ...dynamics.algebra.spatial import placement

AXES = ((0, 0, 1), (0, 1, 0), (0, 0, 1), (0, 1, 0), (0, 0, 1), (0, 1, 0))
LENGTHS = (0.3, 0.2, 0.2, 0.15, 0.15, 0.1)  # m


def capsule_arm() -> Model:
    """Turning about z and y by turns, 1.1 m tall where no joint is moved; "tool" is the frame at its end."""
    builder, above, height = ModelBuilder("capsule arm"), "universe", 0.0
    for k, (axis, length) in enumerate(zip(AXES, LENGTHS)):
        link, mass = f"link {k + 1}", 3.0 - 0.4 * k
        builder.add(
            link,
            above,
            "revolute",
            axis=axis,
            position=(0, 0, height),
            mass=mass,
            com=(0, 0, length / 2),
            inertia=mass * length**2 / 12 * np.eye(3),
            lower=-2.6,
            upper=2.6,
            velocity=2.0,
            effort=60.0,
        )
        middle = placement(np.eye(3), np.array([0, 0, length / 2]))
        builder.collision_shape(Shape("capsule", (0.04, length - 0.04), link, middle))
        above, height = link, length
    return builder.frame("tool", above, position=(0, 0, height)).build()
