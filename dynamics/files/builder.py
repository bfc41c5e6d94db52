"""Models in Python, link by link."""

from __future__ import annotations

import warnings
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ...errors import ModelError
from ..algebra.arrays import given_numbers
from ..algebra.spatial import Inertia, Transform, moments_text, placement
from ..free.aba import aba
from ..free.passive import Passive, checked
from ..joints.joints import Joint
from ..kinematic_tree import Frame, Shape
from ..model import Model
from .attachment import attach
from .link_values import KINDS, LIMITS, finite, joint_axis, joint_limits, link_inertia, rotation

if TYPE_CHECKING:
    from ..constraints.constraint import Constraint


class ModelBuilder:
    """Builds a `Model` link by link, each on one already there; "universe" is there from the start.

    >>> arm = ModelBuilder("pendulum")
    >>> arm.add("rod", joint="revolute", axis=(0, 1, 0), mass=1.0, com=(0, 0, -0.5))
    >>> model = arm.build()
    """

    def __init__(self, name: str, gravity: ArrayLike = (0.0, 0.0, -9.81)):
        self.name, self.gravity = name, given_numbers(f"model '{name}': gravity", gravity, (3,))
        self.joints: list[Joint] = []
        self.parents: list[int] = []
        self.placements: list[Transform] = []
        self.inertias: list[Inertia] = []
        self.frames = {"universe": Frame("universe", -1, placement(np.eye(3), np.zeros(3)))}
        self.shapes: list[Shape] = []
        self.collision_shapes: list[Shape] = []
        self.constraints: list[Constraint] = []
        self.passive: list[Passive] = []
        self.limits: dict[str, list[np.ndarray]] = {key: [] for key in LIMITS}
        self.impossible: list[str] = []  # sentences about links

    def add(
        self,
        link: str,
        parent: str = "universe",
        joint: str = "fixed",
        *,
        name: str | None = None,
        axis: ArrayLike = (0.0, 0.0, 1.0),
        position: ArrayLike = (0.0, 0.0, 0.0),
        rpy: ArrayLike = (0.0, 0.0, 0.0),
        rotation_matrix: np.ndarray | None = None,
        mass: float = 0.0,
        com: ArrayLike = (0.0, 0.0, 0.0),
        inertia: ArrayLike | None = None,
        lower: ArrayLike = -np.inf,
        upper: ArrayLike = np.inf,
        velocity: ArrayLike = np.inf,
        effort: ArrayLike = np.inf,
        armature: ArrayLike = 0.0,
        damping: ArrayLike = 0.0,
    ) -> ModelBuilder:
        """Hang a link (mass in kg, com in m, inertia about the com (3, 3) in kg m^2, both along the link's axes) on a
        parent link.

        `position` and `rpy` place the joint on the parent link; `axis` is in the link's frame. A fixed joint makes
        the link part of its parent's body and keeps it as a frame. Limits are scalars or a value per coordinate of
        the joint.
        """
        name = name or f"{link}_joint"
        self._check(link, parent, joint, name)
        what = f"link '{link}'"
        where = placement(rotation(what, rpy, rotation_matrix), finite(f"{what}: position", position, (3,)))
        matter = link_inertia(what, mass, com, inertia)
        on_body = where.after(self.frames[parent].placement)
        body, on_body = self.frames[parent].body, placement(on_body.R, on_body.p)
        if joint == "fixed":
            frame = Frame(link, body, on_body)
        else:
            k, A = joint_axis(name, joint, axis)
            made = KINDS[joint](name, k)
            limits = dict(lower=lower, upper=upper, velocity=velocity, effort=effort)
            for key, value in joint_limits(made, **limits, armature=armature, damping=damping).items():
                self.limits[key].append(value)
            self.joints.append(made)
            self.parents.append(body)
            self.placements.append(placement(on_body.fixed @ A, on_body.p))
            self.inertias.append(Inertia.zero())
            frame = Frame(link, len(self.joints) - 1, placement(A.T, np.zeros(3)))
        self.frames[link] = frame
        if frame.body >= 0:
            self.inertias[frame.body] += matter.seen(frame.placement)
            if not matter.possible:
                moments = moments_text(matter.principal_moments)
                self.impossible.append(f"{what} has principal moments of inertia {moments}, expected none below 0")
        return self

    def frame(
        self, name: str, link: str, position: ArrayLike = (0.0, 0.0, 0.0), rpy: ArrayLike = (0.0, 0.0, 0.0)
    ) -> ModelBuilder:
        """Name a frame on a link."""
        return self.add(name, link, position=position, rpy=rpy)

    def attach(
        self,
        model: Model,
        parent: str = "universe",
        prefix: str = "",
        position: ArrayLike = (0.0, 0.0, 0.0),
        rpy: ArrayLike = (0.0, 0.0, 0.0),
    ) -> ModelBuilder:
        """Hang a whole model on a parent link, its world placed there; its links, joints and constraints come along,
        their names behind the prefix.

        Links that were fixed to the model's world bring no mass: a model keeps none of it.

        >>> builder.attach(hand, "wrist", prefix="left/", position=(0, 0, 0.1))
        """
        attach(self, model, parent, prefix, position, rpy)
        return self

    def shape(self, shape: Shape) -> ModelBuilder:
        """Give a link something to draw."""
        self.shapes.append(shape)
        return self

    def collision_shape(self, shape: Shape) -> ModelBuilder:
        """Give a link something to be kept apart from others by."""
        self.collision_shapes.append(shape)
        return self

    def build(self) -> Model:
        """The model; its arrays are read-only."""
        if not self.joints:
            raise ModelError(f"model '{self.name}' has no moving joint, expected at least one")
        limits = {field: np.concatenate(self.limits[key]) for key, field in LIMITS.items()}
        model = Model(
            self.name,
            tuple(self.joints),
            tuple(self.parents),
            tuple(self.placements),
            tuple(self.inertias),
            MappingProxyType(dict(self.frames)),
            gravity=self.gravity,
            shapes=tuple(self.shapes),
            collision_shapes=tuple(self.collision_shapes),
            constraints=tuple(self.constraints),
            passive=tuple(self.passive),
            **limits,
        )
        checked(model, model.passive)
        for array in (*limits.values(), model.gravity):
            array.flags.writeable = False
        self._check_motion(model)
        return model

    def _check_motion(self, model: Model) -> None:
        """Moments of inertia that no body has are borne where every joint moves a positive inertia all the same."""
        if not self.impossible:
            return
        rest = np.zeros((model.nv, 1))
        for q in (model.neutral(), *(model.random_configuration(seed) for seed in range(4))):
            try:
                aba(model, q.reshape(-1, 1), rest, rest)
            except ZeroDivisionError:
                if not model.massless_joints():
                    raise ModelError("; ".join(self.impossible)) from None
        for sentence in self.impossible:
            warnings.warn(f"model '{self.name}': {sentence}; it is read as it is", stacklevel=3)

    def _check(self, link: str, parent: str, joint: str, name: str) -> None:
        for what, given in (("link", link), ("parent", parent), ("joint", joint), ("name", name)):
            if not isinstance(given, str) or not given:
                raise ModelError(f"add: {what} is {given!r}, expected a text")
        if link in self.frames:
            raise ModelError(f"link '{link}' is there already, expected a new name")
        if parent not in self.frames:
            raise ModelError(f"link '{link}': parent '{parent}' is not there, expected one of {', '.join(self.frames)}")
        if joint != "fixed" and joint not in KINDS:
            raise ModelError(f"joint '{name}': kind is '{joint}', expected fixed, {', '.join(KINDS)}")
