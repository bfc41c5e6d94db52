"""Distances between the round parts of a robot and the obstacles of a scene, on numbers or SX."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...errors import ModelError, said
from ..algebra.arrays import Array, rows
from ..algebra.spatial import Transform
from ..free.kinematics import body_poses
from ..free.tree_motion import transforms
from .distance import point_to_block, segment_to_block
from .rounds import Round, rounds_of
from .scene import Scene

if TYPE_CHECKING:
    from ..model import Model


class Pair(NamedTuple):
    """Two things that are kept apart: a link, and an obstacle or another link."""

    link: str
    other: str

    def __str__(self) -> str:
        return f"link '{self.link}' and '{self.other}'"


def distances(model: Model, q: Array, scene: Scene) -> Array:
    """The distances (count, 1), m, of the robot's moving round parts to the obstacles: in the order of `pairs`."""
    if not isinstance(scene, Scene):
        raise ModelError(f"distances: scene is {said(scene)}, expected a Scene")
    poses = body_poses(model, transforms(model, q))
    blocks = [numbers.reshape(-1, 1) for numbers in scene.blocks()]
    found = [distance(part, poses, block) for part in _moving(model) for block in blocks]
    return rows(found) if found else np.zeros((0, 1))


def pairs(model: Model, scene: Scene) -> list[Pair]:
    """Whose distances they are, one for each row of `distances`."""
    return [Pair(part.link, name) for part in _moving(model) for name in scene]


def distance(part: Round, poses: list[Transform], block: Array) -> Array:
    """The distance (1, 1) of one round part to a block."""
    a, b = part.ends(poses)
    return (point_to_block(a, block) if b is None else segment_to_block(a, b, block)) - part.radius


def _moving(model: Model) -> list[Round]:
    return [part for part in rounds_of(model) if part.body >= 0]
