"""A robot as plain, immutable data: its bodies, joints, frames and limits, and what is counted of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any

import casadi as ca
import numpy as np

from ..cached import cached_property
from ..errors import ModelError
from .algebra.spatial import Inertia, Transform
from .constraints.constraint import HERE, Constraint
from .free.passive import Passive
from .joints.joints import Joint

# Of the axes of joints, as `joints` counts them.
MOTIONS = ("about x", "about y", "about z", "along x", "along y", "along z")


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
    placement: Transform = HERE
    mesh: str | None = None
    colour: tuple[float, ...] | None = None


@dataclass(frozen=True, eq=False)
class KinematicTree:
    """A kinematic tree of bodies, parents before children (from files: depth first): body i hangs by joint i on body
    parents[i] (-1: the world).

    placements[i] is where joint i sits on its parent, inertias[i] the moments of body i's mass, both in the bodies'
    own frames, in which the joint moves along coordinate axes; a link's frame as the file has it is frames[link].
    Limits are per coordinate (q_lower, q_upper: (nq,)) and per velocity (v_limit, effort_limit, armature, damping:
    (nv,)). `damping` (N m s) is data as the file gives it: the algorithms leave it out, as Pinocchio does. `passive`
    are the springs, dampers, cords and carried weights whose forces are in the dynamics: those of an MJCF, its damping
    among them, and what `with_passive` adds. `constraints` are those the file states (MJCF equalities); the algorithms
    take only what they are given. `shapes` are drawn, `collision_shapes` are kept apart from others.
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
    passive: tuple[Passive, ...] = ()

    @cached_property
    def symbols(self) -> ca.SX:
        """The symbols of the inertias, a column; empty where these are numbers."""
        stated = [part for body in self.inertias for part in (body.m, body.h, body.J) if isinstance(part, ca.SX)]
        return ca.vertcat(ca.SX(0, 1), *ca.symvar(ca.veccat(ca.SX(0, 1), *stated)))

    def numbers_only(self, what: str) -> None:
        """Refuse a robot with symbols in it."""
        if self.symbols.numel():
            names = ", ".join(str(symbol) for symbol in ca.vertsplit(self.symbols))
            raise ModelError(f"{what}: the inertias of '{self.name}' have the symbols {names}, expected numbers")

    def __getstate__(self) -> dict[str, object]:
        """The data alone, for pickle and copy; machine code and what else was derived is made again."""
        return {part.name: getattr(self, part.name) for part in fields(self)} | {"frames": dict(self.frames)}

    def __setstate__(self, state: dict[str, Any]) -> None:
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

    @property
    def velocity_names(self) -> tuple[str, ...]:
        """What each of the nv motions is called: its joint, and where that has several, along or about which axis."""
        pairs = [(joint, axis) for joint in self.joints for axis in joint.axes]
        return tuple(joint.name if joint.nv == 1 else f"{joint.name} {MOTIONS[axis]}" for joint, axis in pairs)

    def massless_joints(self) -> list[str]:
        """The names of joints with no mass on all that they move."""
        loads = [body.m + np.trace(body.J) for body in self.inertias]
        for i in reversed(range(self.size)):
            if self.parents[i] >= 0:
                loads[self.parents[i]] += loads[i]
        return [joint.name for joint, load in zip(self.joints, loads) if load <= 0.0]

    def impossible_bodies(self) -> dict[str, np.ndarray]:
        """The principal moments of inertia (3,), kg m^2, of bodies that have a negative one, by their joints' names."""
        return {
            joint.name: body.principal_moments for joint, body in zip(self.joints, self.inertias) if not body.possible
        }

    def support(self, body: int) -> list[int]:
        """The body and its ancestors, from the body to the root."""
        path = []
        while body >= 0:
            path.append(body)
            body = self.parents[body]
        return path

    def frame(self, name: str) -> Frame:
        """The frame of that name; an unknown one is answered with those there are."""
        if not isinstance(name, str) or name not in self.frames:
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
