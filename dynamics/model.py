"""A robot as plain, immutable data; what it can compute are the methods of `Doors`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from ..errors import ModelError
from .algebra.spatial import Inertia, Transform
from .doors import Doors
from .joints.joints import Joint

if TYPE_CHECKING:
    from .constraints.constraint import Constraint


@dataclass(frozen=True)
class Frame:
    """A named frame on a body: every link of the file is one. Body -1 is the world."""

    name: str
    body: int
    placement: Transform


@dataclass(frozen=True)
class Shape:
    """Something to draw. Sizes in metres: box (x, y, z), sphere (r,), cylinder and capsule (r, length), mesh scale
    (x, y, z).
    """

    kind: str
    size: tuple[float, ...]
    link: str
    placement: Transform
    mesh: str | None = None
    colour: tuple[float, ...] | None = None


@dataclass(frozen=True, eq=False)
class Model(Doors):
    """A kinematic tree of bodies, parents before children (from files: depth first): body i hangs by joint i on body
    parents[i] (-1: the world).

    placements[i] is where joint i sits on its parent, inertias[i] the moments of body i's mass, both in the bodies'
    own frames, in which the joint moves along coordinate axes; a link's frame as the file has it is frames[link].
    Limits are per coordinate (q_lower, q_upper: (nq,)) and per velocity (v_limit, effort_limit, armature, damping:
    (nv,)). `damping` (N m s) is data as the file gives it: the algorithms leave it out, as Pinocchio does; a damped
    joint feels tau - damping * v. `constraints` are those the file states (MJCF equalities); the algorithms take only
    what they are given. `shapes` are drawn, `collision_shapes` are kept apart from others.
    """

    name: str
    joints: tuple[Joint, ...]
    parents: tuple[int, ...]
    placements: tuple[Transform, ...]
    inertias: tuple[Inertia, ...]
    frames: Mapping[str, Frame]
    q_lower: np.ndarray
    q_upper: np.ndarray
    v_limit: np.ndarray
    effort_limit: np.ndarray
    armature: np.ndarray
    damping: np.ndarray
    gravity: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, -9.81]))
    shapes: tuple[Shape, ...] = ()
    collision_shapes: tuple[Shape, ...] = ()
    constraints: tuple[Constraint, ...] = ()

    def __repr__(self) -> str:
        return f"Model('{self.name}', {len(self.joints)} joints, nq={self.nq}, nv={self.nv})"

    def __getstate__(self) -> dict:
        """The data alone, for pickle and copy; machine code and what else was derived is made again."""
        return {part.name: getattr(self, part.name) for part in fields(self)} | {"frames": dict(self.frames)}

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state | {"frames": MappingProxyType(state["frames"])})

    @property
    def size(self) -> int:
        """The number of bodies."""
        return len(self.joints)

    @cached_property
    def q_slices(self) -> tuple[slice, ...]:
        return _slices([joint.nq for joint in self.joints])

    @cached_property
    def v_slices(self) -> tuple[slice, ...]:
        return _slices([joint.nv for joint in self.joints])

    @property
    def q_units(self) -> tuple[tuple[int, int], ...]:
        """Where q has unit quaternions and (cos, sin) pairs: from, to."""
        parts = [range(part.start, part.stop)[joint.unit] for joint, part in zip(self.joints, self.q_slices)]
        return tuple((part.start, part.stop) for part in parts if part)

    @cached_property
    def nq(self) -> int:
        """The number of coordinates."""
        return sum(joint.nq for joint in self.joints)

    @cached_property
    def nv(self) -> int:
        """The number of velocities."""
        return sum(joint.nv for joint in self.joints)

    @property
    def has_floating_base(self) -> bool:
        """True if all bodies hang on one that floats."""
        return self.joints[0].floats and -1 not in self.parents[1:]

    @property
    def joint_names(self) -> tuple[str, ...]:
        return tuple(joint.name for joint in self.joints)

    def massless_joints(self) -> list[str]:
        """The names of joints with no mass on all that they move."""
        loads = [body.m + np.trace(body.J) for body in self.inertias]
        for i in reversed(range(self.size)):
            if self.parents[i] >= 0:
                loads[self.parents[i]] += loads[i]
        return [joint.name for joint, load in zip(self.joints, loads) if load <= 0.0]

    def support(self, body: int) -> list[int]:
        """The body and its ancestors, from the body to the root."""
        path = []
        while body >= 0:
            path.append(body)
            body = self.parents[body]
        return path

    def frame(self, name: str) -> Frame:
        """The frame of that name; an unknown one is answered with those there are."""
        if name not in self.frames:
            raise ModelError(f"model '{self.name}' has no link '{name}', expected one of {', '.join(self.frames)}")
        return self.frames[name]

    @cached_property
    def lumped(self) -> tuple[Inertia, ...]:
        """The inertias with all matter that lies on a joint's axis moved to the parent: the same dynamics for less
        arithmetic.

        Turning about axis k leaves alone the mass, the k-th first moment and the kk-th second moment (Khalil and
        Gautier's regrouping); a ball leaves alone the mass.
        """
        inertias = list(self.inertias)
        for i in reversed(range(self.size)):
            unmoved = self.joints[i].unmoved(inertias[i])
            inertias[i] = inertias[i] - unmoved
            if self.parents[i] >= 0:
                inertias[self.parents[i]] += unmoved.seen(self.placements[i])
        return tuple(inertias)


def _slices(sizes: list[int]) -> tuple[slice, ...]:
    ends = np.cumsum(sizes)
    return tuple(slice(int(end - size), int(end)) for end, size in zip(ends, sizes))
