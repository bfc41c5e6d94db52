"""Keeping a robot away from a scene and from itself, in rows whose numbers are parameters.

Robot and obstacles make far more pairs than come near each other. A stage has a few places on every body; which sphere
of the body and which obstacle a place holds is said in numbers, a `block` and a sphere, with every solve and for
every stage of its own: the nearest ones along a motion. So the scene may change, and grow, without new machine code,
and what is far costs nothing. What the places leave out is for a check to find (`Cloud.nearest`), and for `values` at
the motion that was found to put in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ....cached import cached_property
from ....dynamics import Cloud, Model, Scene
from ....dynamics.algebra.spatial import Transform
from ....dynamics.free.kinematics import body_poses
from ....dynamics.free.tree_motion import transforms
from ....dynamics.shapes.block import BLOCK, FAR_AWAY
from ....dynamics.shapes.cloud import tangent_planes
from ....dynamics.shapes.distance import point_to_block
from ....errors import ProblemError, said
from ....floats import checked_floats

if TYPE_CHECKING:
    from ..problem import Problem

PLACE = BLOCK + 4  # a block, a sphere's centre on its body, and its radius with the margin
TOUCH = 7  # two spheres' centres on their bodies, and their radii with the margin
KEPT = 0.9  # of the clearance that a motion has is asked of the next one
FARTHEST = 1e3  # m: of a margin
CROWD = 0.03  # m: how much nearer a second sphere must be than another obstacle to be put in before it


@dataclass(frozen=True, eq=False)
class Avoidance:
    """What `Problem.avoid` stated: the bodies that its places are on, and the pairs of bodies kept apart."""

    name: str
    scene: Scene
    cloud: Cloud
    margin: float
    places: tuple[int, ...]
    touches: tuple[tuple[int, int], ...]

    def values(self, q: ArrayLike, scene: Scene | None = None, extra: ArrayLike = 0.0) -> dict[str, np.ndarray]:
        """The parameters of a solve: for every stage what is nearest at configurations q (stages, nq).

        scene: another than the one that was stated. extra: m, added to the margin, one for all stages or one for each.
        """
        q, nq = np.atleast_2d(checked_floats("avoid: q", q)), self.cloud.model.nq
        if q.ndim != 2 or not len(q) or q.shape[1] != nq or not np.isfinite(q).all():
            raise ProblemError(f"avoid: q has shape {q.shape}, expected finite numbers (stages, {nq})")
        more = checked_floats("avoid: extra", extra).ravel()
        if len(more) not in (1, len(q)) or not np.isfinite(more).all():
            raise ProblemError(
                f"avoid: extra is {said(extra)}, expected one finite number, or one for each of {len(q)}"
            )
        if scene is not None and not isinstance(scene, Scene):
            raise ProblemError(f"avoid: scene is {said(scene)}, expected a Scene")
        margin = np.broadcast_to(self.margin + more, (len(q),))
        found = {}
        if self.places:
            found[f"{self.name}_places"] = self._places(self.scene if scene is None else scene, q, margin)
        if self.touches:
            found[f"{self.name}_touches"] = self._touches(q, margin)
        return found

    def planes(
        self, q: ArrayLike, scene: Scene, margin: ArrayLike, wanted: np.ndarray | None = None
    ) -> dict[str, np.ndarray]:
        """The same with a half-space in the place of every obstacle, the one that touches it where a sphere is nearest
        at q (stages, nq): a motion that is free stays on its side of thin obstacles.

        margin: m, of each stage (stages,); where q itself has less, `KEPT` of that, so that q meets all rows.
        wanted: (stages, spheres, obstacles), pairs that are put in before others.
        """
        q = np.atleast_2d(np.asarray(q, dtype=float))
        asked = np.broadcast_to(np.asarray(margin, dtype=float), (len(q),))[:, None]
        found = {}
        if self.places:
            numbers, part, apart = self._filled(scene, q, wanted)
            kept = np.where(apart < 0, 0.0, np.minimum(asked, KEPT * apart))
            centres = np.take_along_axis(self.cloud.centres(q), part[..., None], axis=1)
            shape = numbers[..., :BLOCK].shape
            numbers[..., :BLOCK] = tangent_planes(
                centres.reshape(-1, 3), numbers[..., :BLOCK].reshape(-1, BLOCK)
            ).reshape(shape)
            numbers[..., BLOCK + 3] = self.cloud.radii[part] + kept
            found[f"{self.name}_places"] = numbers.reshape(len(q), -1)
        if self.touches:
            found[f"{self.name}_touches"] = self._touches(q, asked[:, 0], KEPT)
        return found

    def _places(self, scene: Scene, q: np.ndarray, margin: np.ndarray) -> np.ndarray:
        numbers, part, _ = self._filled(scene, q, None)
        numbers[..., BLOCK + 3] = self.cloud.radii[part] + margin[:, None]
        return numbers.reshape(len(q), -1)

    def _filled(
        self, scene: Scene, q: np.ndarray, wanted: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The places of every stage with the nearest pairs in them, without radii yet; their spheres and distances."""
        numbers = np.zeros((len(q), len(self.places), PLACE))
        numbers[..., :BLOCK] = FAR_AWAY
        part = np.array([[np.flatnonzero(self.cloud.bodies == body)[0] for body in self.places]] * len(q))
        near_by = np.full(part.shape, 1.0)
        if not len(scene):
            return numbers, part, near_by
        blocks, apart = scene.blocks(), self.cloud.distances(q, scene)
        first = apart if wanted is None else apart - wanted
        at = 0
        for body in dict.fromkeys(self.places):
            spheres = np.flatnonzero(self.cloud.bodies == body)
            near = first[:, spheres]
            crowded = (near + CROWD * near.argsort(axis=1).argsort(axis=1)).reshape(len(q), -1)
            count = self.places.count(body)
            chosen = crowded.argsort(axis=1)[:, :count]
            filled = slice(at, at + chosen.shape[1])
            part[:, filled] = spheres[chosen // len(scene)]
            near_by[:, filled] = np.take_along_axis(apart[:, spheres].reshape(len(q), -1), chosen, axis=1)
            numbers[:, filled, :BLOCK] = blocks[chosen % len(scene)]
            at += count
        numbers[..., BLOCK : BLOCK + 3] = self._centres[part]
        return numbers, part, near_by

    def _touches(self, q: np.ndarray, margin: np.ndarray, share: float = np.inf) -> np.ndarray:
        apart, (first, second) = self.cloud.self_distances(q), self.cloud.sphere_pairs.T
        numbers = np.zeros((len(q), len(self.touches), TOUCH))
        bodies = np.sort(self.cloud.bodies[self.cloud.sphere_pairs], axis=1)
        for row, pair in enumerate(self.touches):
            between = np.flatnonzero((bodies == pair).all(axis=1))
            nearest = between[apart[:, between].argmin(axis=1)]
            ends = np.column_stack([first[nearest], second[nearest]])
            turned = self.cloud.bodies[ends[:, 0]] != pair[0]
            ends[turned] = ends[turned][:, ::-1]
            numbers[:, row, :6] = self._centres[ends].reshape(-1, 6)
            least = apart[np.arange(len(q)), nearest]
            kept = np.where(least < 0, 0.0, np.minimum(margin, share * least)) if share < np.inf else margin
            numbers[:, row, 6] = self.cloud.radii[ends].sum(axis=1) + kept
        return numbers.reshape(len(q), -1)

    @cached_property
    def _centres(self) -> np.ndarray:
        return np.array([part.a.ravel() for part in self.cloud.parts])


def avoid(problem: Problem, scene: Scene, robot: Model | Cloud, q: ca.SX, margin: float, name: str) -> Avoidance:
    """What `Problem.avoid` does."""
    if not isinstance(scene, Scene):
        raise ProblemError(f"avoid: scene is a {type(scene).__name__}, expected a Scene")
    if not isinstance(robot, (Model, Cloud)):
        raise ProblemError(f"avoid: robot is {said(robot)}, expected a Model")
    if not (isinstance(margin, (int, float)) and 0 <= margin <= FARTHEST):
        raise ProblemError(f"avoid: margin is {said(margin)}, expected a distance in m from 0 to {FARTHEST:g}")
    if not isinstance(name, str):
        raise ProblemError(f"avoid: name is {said(name)}, expected a text that messages can call it by")
    cloud = robot if isinstance(robot, Cloud) else Cloud(robot)
    at = cloud.model.configuration(problem.expression("avoid: q", q))
    spheres = {int(body): int((cloud.bodies == body).sum()) for body in sorted(set(cloud.bodies)) if body >= 0}
    places = tuple(body for body, count in spheres.items() for _ in range(places_on(count)))
    bodies = np.sort(cloud.bodies[cloud.sphere_pairs], axis=1)
    touches = tuple((int(i), int(j)) for i, j in sorted({(i, j) for i, j in bodies}))
    poses = body_poses(cloud.model, transforms(cloud.model, at))
    if places:
        numbers = ca.reshape(problem.parameter(f"{name}_places", PLACE * len(places), per_stage=True), PLACE, -1)
        rows = [_to_block(poses[body], numbers[:, k]) for k, body in enumerate(places)]
        problem.constrain(name, ca.vertcat(*rows), lower=0)
    if touches:
        numbers = ca.reshape(problem.parameter(f"{name}_touches", TOUCH * len(touches), per_stage=True), TOUCH, -1)
        rows = [_between(poses, pair, numbers[:, k]) for k, pair in enumerate(touches)]
        problem.constrain(f"{name} itself", ca.vertcat(*rows), lower=0)
    return Avoidance(name, scene, cloud, float(margin), places, touches)


def places_on(spheres: int) -> int:
    """How many places a body of so many spheres has."""
    return int(np.clip(np.ceil(spheres / 3), 3, 8))


def _to_block(pose: Transform, numbers: ca.SX) -> ca.SX:
    centre = pose.p + pose.inward(numbers[BLOCK : BLOCK + 3])
    return ca.SX(point_to_block(centre, numbers[:BLOCK])) - numbers[BLOCK + 3]


def _between(poses: list[Transform], pair: tuple[int, int], numbers: ca.SX) -> ca.SX:
    ends = []
    for body, centre in zip(pair, (numbers[0:3], numbers[3:6])):
        ends.append(centre if body < 0 else poses[body].p + poses[body].inward(centre))
    return ca.norm_2(ends[0] - ends[1]) - numbers[6]
