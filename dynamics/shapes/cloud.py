"""A robot as a cloud of spheres: where they are in many configurations at once, and how near to what.

This is the arithmetic of checks: numbers only, by whole arrays or in the core (`native/src/paths/clearance.hpp`),
written apart from the expressions that the solver is given (`distance`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from ...cached import cached_property
from ..algebra.arrays import rows
from ..free.kinematics import body_poses
from ..free.tree_motion import transforms
from .block import HALF_SPACE
from .clearance import Pair
from .rounds import Round, spheres_of
from .scene import Scene

if TYPE_CHECKING:
    from ...native import CompiledFunction
    from ..model import Model

SAMPLES = 2000  # random configurations that tell which links can touch
ALWAYS = 0.95  # links that touch in more than this share of them are neighbours,
BESIDE = 0.01  # and so are those that are nearer than this, m, where no joint is moved


@dataclass(frozen=True, eq=False)
class Nearest:
    """The smallest distance (count,), m, of each configuration, and whose it is."""

    distance: np.ndarray
    pairs: list[Pair | None]


@dataclass(frozen=True, eq=False)
class Cloud:
    """The spheres of a model, those that never move included."""

    model: Model

    @cached_property
    def parts(self) -> list[Round]:
        return spheres_of(self.model)

    @cached_property
    def radii(self) -> np.ndarray:
        return np.array([part.radius for part in self.parts])

    @cached_property
    def bodies(self) -> np.ndarray:
        return np.array([part.body for part in self.parts])

    @cached_property
    def centres_function(self) -> CompiledFunction:
        """q (nq,) to the centres (3 n,) in the world, sphere after sphere."""
        from ...native import compile_function

        q = ca.SX.sym("q", self.model.nq)
        poses = body_poses(self.model, transforms(self.model, q))
        centres = rows([part.ends(poses)[0] for part in self.parts])
        return compile_function(ca.Function("centres", [q], [ca.densify(ca.SX(centres))]))

    def centres(self, q: np.ndarray) -> np.ndarray:
        """Where the spheres are (count, n, 3) in configurations (count, nq)."""
        return np.asarray(self.centres_function.batch(np.atleast_2d(q))).reshape(-1, len(self.parts), 3)

    @cached_property
    def link_pairs(self) -> list[tuple[str, str]]:
        """The links that can touch each other: those on bodies that do not share a joint, that touch in some of many
        random configurations, not in nearly all of them, and are not side by side where no joint is moved (much as
        MoveIt's setup assistant does).
        """
        rng = np.random.default_rng(0)
        unmoved = np.clip(self.model.neutral(), self.model.q_lower, self.model.q_upper)
        q = np.array([unmoved, *(self.model.random_configuration(rng) for _ in range(SAMPLES))])
        centres = self.centres(q)
        links = list(dict.fromkeys(part.link for part in self.parts))
        of = {link: np.array([k for k, part in enumerate(self.parts) if part.link == link]) for link in links}
        kept = []
        for i, first in enumerate(links):
            for second in links[i + 1 :]:
                bodies = self.bodies[of[first][0]], self.bodies[of[second][0]]
                if bodies[0] == bodies[1] or self._joined(*bodies):
                    continue
                apart = np.linalg.norm(centres[:, of[first], None] - centres[:, None, of[second]], axis=3)
                apart = (apart - self.radii[of[first], None] - self.radii[of[second]]).min(axis=(1, 2))
                if apart[0] > BESIDE and 0 < (apart < 0).mean() < ALWAYS:
                    kept.append((first, second))
        return kept

    @cached_property
    def sphere_pairs(self) -> np.ndarray:
        """The spheres of links that can touch (count, 2)."""
        wanted = set(self.link_pairs)
        count = range(len(self.parts))
        found = [(i, j) for i in count for j in count if (self.parts[i].link, self.parts[j].link) in wanted]
        return np.array(found, dtype=int).reshape(-1, 2)

    def self_distances(self, q: np.ndarray) -> np.ndarray:
        """The distances (count, pairs), m, between the spheres of `sphere_pairs`."""
        centres = self.centres(q)
        i, j = self.sphere_pairs.T
        return np.linalg.norm(centres[:, i] - centres[:, j], axis=2) - self.radii[i] - self.radii[j]

    def distances(self, q: np.ndarray, scene: Scene) -> np.ndarray:
        """The distances (count, n, obstacles), m, of the spheres to the obstacles; those that never move are far."""
        return np.asarray(self.clearance(scene).distances(np.ascontiguousarray(np.atleast_2d(q), dtype=float)))

    def nearest(self, q: np.ndarray, scene: Scene) -> Nearest:
        """How near each configuration (count, nq) comes to the scene or to itself, and where."""
        found = self.clearance(scene).nearest(np.ascontiguousarray(np.atleast_2d(q), dtype=float))
        names = list(scene)

        def pair(sphere: int, other: int, itself: int) -> Pair | None:
            if sphere < 0:
                return None
            return Pair(self.parts[sphere].link, self.parts[other].link if itself else names[other])

        return Nearest(found[:, 0].copy(), [pair(*row) for row in found[:, 1:].astype(int).tolist()])

    def clearance(self, scene: Scene) -> Any:
        """The core's `Clearance` of this robot in a scene; the code it calls lives as long as this cloud."""
        from ...native import core

        code = self.centres_function
        made = core.Clearance(self.model.nq, code.lanes, code.address, code.sizes.work, *self._listed)
        made.set_scene(np.ascontiguousarray(scene.blocks()))
        return made

    @cached_property
    def _listed(self) -> tuple[list[float], list[int], list[tuple[int, int]]]:
        """Radii, whether a sphere moves, and pairs, as the core takes them."""
        pairs = [(int(i), int(j)) for i, j in self.sphere_pairs]
        return self.radii.tolist(), (self.bodies >= 0).astype(int).tolist(), pairs

    def _joined(self, first: int, second: int) -> bool:
        parents = (*self.model.parents, -2)  # so that parents[-1], that of the world, is nobody
        return parents[first] == second or parents[second] == first


def tangent_planes(points: np.ndarray, blocks: np.ndarray) -> np.ndarray:
    """Half-spaces (count, 17) that hold blocks (count, 17) and touch them where points (count, 3) are nearest."""
    R, half, cylinder = blocks[:, :9].reshape(-1, 3, 3), blocks[:, 12:15], blocks[:, 16] > 0
    local = np.einsum("kij,ki->kj", R, points - blocks[:, 9:12])
    away = np.where(local < 0, -1.0, 1.0)[:, :, None] * np.eye(3)  # how each of the reaches grows
    reach = np.abs(local)
    radial = np.hypot(local[:, 0], local[:, 1])
    outward = np.where(radial[:, None] > 0, local[:, :2] / np.where(radial > 0, radial, 1.0)[:, None], [1.0, 0.0])
    away[cylinder, 0, :2], reach[cylinder, 0], reach[cylinder, 1] = outward[cylinder], radial[cylinder], -np.inf
    over = reach - half
    weights = over.clip(min=0.0)
    inside = ~(weights > 0).any(axis=1)
    weights[inside] = np.eye(3)[over[inside].argmax(axis=1)]
    normal = np.einsum("ka,kax->kx", weights, away)
    length = np.linalg.norm(normal, axis=1)
    depth = np.where(inside, over.max(axis=1), length) - blocks[:, 15]
    normal = np.einsum("kij,kj->ki", R, normal / length[:, None])
    other = np.eye(3)[np.abs(normal).argmin(axis=1)]
    x = np.cross(other, normal)
    x /= np.linalg.norm(x, axis=1)[:, None]
    planes = np.zeros_like(blocks)
    planes[:, :9] = np.stack([x, np.cross(normal, x), normal], axis=2).reshape(-1, 9)
    planes[:, 9:12] = points - (depth + HALF_SPACE)[:, None] * normal
    planes[:, 12:15] = HALF_SPACE
    return planes
