"""Forces that a mechanism has of itself: springs, dampers and friction of joints, cords over links, carried weights.

    M a + h = tau + p(q, v) + J' lambda          p (nv, 1) is the sum of all of `model.passive`

Springs act by their length, dampers by its rate, and friction, a force F against the motion, by F tanh(rate / SMOOTH):
smooth, so that it has derivatives, and full a few times SMOOTH away from rest, where it only creeps. Joints and links
are named, so that what is made of a robot keeps them. Conventions are MuJoCo's (`mj_passive`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from ...errors import ModelError
from ..algebra.arrays import Array, add, at_least, at_most, columns, dot, put, sqrt, tanh
from ..algebra.spatial import Transform, skew
from .kinematics import body_poses, row_jacobian
from .tree_motion import transforms

if TYPE_CHECKING:
    from ..model import Model

# The speed, rad/s or m/s, within which friction is smoothed.
SMOOTH = 1e-2


class Point(NamedTuple):
    """A place (3,), m, on a link."""

    link: str
    place: tuple[float, float, float]


class Stretch(NamedTuple):
    """A straight piece of a cord between two points; behind a pulley it counts divided."""

    start: Point
    end: Point
    divisor: float = 1.0


# What a robot's point is on another robot of which it has become a part.
Place: TypeAlias = Callable[[Point], Point]


@dataclass(frozen=True)
class PassiveJoint:
    """A spring (N m/rad or N/m) at rest where the joint is at `rest` (nq of the joint), a damper (N m s/rad, N s/m) and
    friction (N m, N), the same for all motions of the joint.
    """

    joint: str
    stiffness: float = 0.0
    rest: tuple[float, ...] = (0.0,)
    damping: float = 0.0
    friction: float = 0.0

    def moved(self, prefix: str, place: Place) -> PassiveJoint:
        """The same on another robot."""
        return replace(self, joint=prefix + self.joint)

    def check(self, model: Model) -> None:
        """Joint and numbers make sense."""
        what, joint = f"passive joint '{self.joint}'", model.joints[joint_index(model, self.joint)]
        check_numbers(what, stiffness=self.stiffness, damping=self.damping, friction=self.friction)
        if self.stiffness and (len(self.rest) != joint.nq or not np.isfinite(self.rest).all()):
            raise ModelError(f"{what}: rest is {self.rest}, expected {joint.nq} numbers")
        if joint.floats and (self.stiffness or self.friction):
            raise ModelError(f"{what}: the joint floats, expected neither stiffness nor friction")

    def force(self, model: Model, at: PassiveState) -> Array:
        i = joint_index(model, self.joint)
        joint, part = model.joints[i], model.v_slices[i]
        rate = at.v[part, :]
        total = -self.damping * rate
        if self.stiffness:
            rest = np.array(self.rest).reshape(-1, 1)
            total = total - self.stiffness * joint.difference(rest, at.q[model.q_slices[i], :])
        if self.friction:
            total = total - self.friction * tanh(rate / SMOOTH)
        return put(total, range(part.start, part.stop), model.nv)

    def locked(self, joints: Mapping[str, np.ndarray]) -> PassiveJoint | None:
        """What is left of it where joints are held."""
        return None if self.joint in joints else self


@dataclass(frozen=True)
class Tendon:
    """A cord. Its length is the offset, the coordinates of joints (turning or sliding) by their coefficients, and
    straight stretches between points. Between the two lengths of `rest` its spring is slack.
    """

    name: str
    joints: tuple[tuple[str, float], ...] = ()
    stretches: tuple[Stretch, ...] = ()
    stiffness: float = 0.0
    rest: tuple[float, float] = (0.0, 0.0)
    damping: float = 0.0
    friction: float = 0.0
    offset: float = 0.0

    def moved(self, prefix: str, place: Place) -> Tendon:
        """The same on another robot."""
        joints = tuple((prefix + joint, share) for joint, share in self.joints)
        stretches = tuple(Stretch(place(start), place(end), divisor) for start, end, divisor in self.stretches)
        return replace(self, name=prefix + self.name, joints=joints, stretches=stretches)

    def check(self, model: Model) -> None:
        """Joints, links and numbers make sense."""
        what = f"tendon '{self.name}'"
        check_numbers(what, stiffness=self.stiffness, damping=self.damping, friction=self.friction)
        for name, _ in self.joints:
            joint = model.joints[joint_index(model, name)]
            if joint.nq != 1:
                raise ModelError(f"{what}: joint '{name}' has {joint.nq} coordinates, expected one")
        for stretch in self.stretches:
            for end in (stretch.start, stretch.end):
                model.frame(end.link)
        if not self.rest[0] <= self.rest[1]:
            raise ModelError(f"{what}: rest is {self.rest}, expected two lengths, the shorter first")

    def force(self, model: Model, at: PassiveState) -> Array:
        length, J = self.length(model, at)
        rate = J @ at.v
        beyond = at_least(length - self.rest[1], 0.0) + at_most(length - self.rest[0], 0.0)
        return J.T @ -(self.stiffness * beyond + self.damping * rate + self.friction * tanh(rate / SMOOTH))

    def length(self, model: Model, at: PassiveState) -> tuple[Array, Array]:
        """Its length (1, 1) and the slope of that (1, nv) by motions of the joints."""
        length: Array = np.full((1, 1), self.offset)
        J: Array = np.zeros((1, model.nv))
        for name, share in self.joints:
            i = joint_index(model, name)
            length = length + share * at.q[model.q_slices[i], :]
            J = J + share * np.eye(model.nv)[model.v_slices[i], :]
        for stretch in self.stretches:
            (start, J_start), (end, J_end) = (at.point(model, each) for each in (stretch.start, stretch.end))
            straight = end - start
            reach = sqrt(dot(straight, straight))
            length = length + reach / stretch.divisor
            if model.frame(stretch.start.link).body != model.frame(stretch.end.link).body:
                J = J + straight.T @ (J_end - J_start) / (reach * stretch.divisor)
        return length, J

    def locked(self, joints: Mapping[str, np.ndarray]) -> Tendon:
        """What is left of it where joints are held."""
        held = [share * float(joints[name][0, 0]) for name, share in self.joints if name in joints]
        kept = tuple((name, share) for name, share in self.joints if name not in joints)
        return replace(self, joints=kept, offset=self.offset + sum(held))


@dataclass(frozen=True)
class CarriedWeight:
    """A mass, kg, at a point whose weight something that is not modelled carries: gravity compensation."""

    at: Point
    mass: float

    def moved(self, prefix: str, place: Place) -> CarriedWeight:
        """The same on another robot."""
        return replace(self, at=place(self.at))

    def check(self, model: Model) -> None:
        """The link is there, and the mass is a number."""
        model.frame(self.at.link)
        if not np.isfinite(self.mass):
            raise ModelError(f"carried weight of '{self.at.link}': mass is {self.mass}, expected a number")

    def force(self, model: Model, at: PassiveState) -> Array:
        return at.point(model, self.at)[1].T @ (-self.mass * model.gravity.reshape(3, 1))

    def locked(self, joints: Mapping[str, np.ndarray]) -> CarriedWeight:
        """All of it, where joints are held: its link keeps its name."""
        return self


Passive: TypeAlias = PassiveJoint | Tendon | CarriedWeight


class PassiveState:
    """Where the bodies are, once for all forces."""

    def __init__(self, model: Model, q: Array, v: Array):
        self.q, self.v = q, v
        self.X = transforms(model, q)
        self.poses = body_poses(model, self.X)

    def point(self, model: Model, point: Point) -> tuple[Array, Array]:
        """A point (3, 1) in the world, and its Jacobian (3, nv) there."""
        frame, place = model.frame(point.link), np.array(point.place).reshape(3, 1)
        pose: Transform = frame.placement if frame.body < 0 else frame.placement.after(self.poses[frame.body])
        K = columns([-pose.R @ skew(place), pose.R])
        blocks = row_jacobian(model, self.X, frame.body, frame.placement, K)
        J = columns([blocks.get(i, np.zeros((3, joint.nv))) for i, joint in enumerate(model.joints)])
        return pose.p + pose.R @ place, J


def passive_forces(model: Model, q: Array, v: Array) -> Array:
    """p (nv, 1) of all that the model has."""
    if not model.passive:
        return np.zeros((model.nv, 1))
    at = PassiveState(model, q, v)
    return add([each.force(model, at) for each in model.passive])


def checked(model: Model, passive: Sequence[Passive]) -> None:
    """Refuse what is no passive force, or of joints and links that are not there."""
    for each in passive:
        if not isinstance(each, Passive):
            raise ModelError(f"passive holds {each!r}, expected PassiveJoint, Tendon or CarriedWeight")
        each.check(model)


def joint_index(model: Model, name: str) -> int:
    """The joint of that name; an unknown one is answered with those there are."""
    if name not in model.joint_names:
        raise ModelError(f"model '{model.name}' has no joint '{name}', expected one of {', '.join(model.joint_names)}")
    return model.joint_names.index(name)


def check_numbers(what: str, **numbers: float) -> None:
    """Finite, and none below 0."""
    for key, number in numbers.items():
        if not (np.isfinite(number) and number >= 0):
            raise ModelError(f"{what}: {key} is {number}, expected a finite number >= 0")
