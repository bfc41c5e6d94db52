"""The kinds of joint: the only polymorphism of this room.

Every joint moves along coordinate axes of its own frame (angular x y z are 0 1 2, linear x y z are 3 4 5), so its
motion subspace S is a choice of columns of the identity: `axes`. Axes that a file gives otherwise are met by turning
the frame. Coordinates follow Pinocchio: a continuous joint is (cos, sin), a planar one (x, y, cos, sin), a ball (qx,
qy, qz, qw), a floating base (x, y, z, qx, qy, qz, qw); velocities are in the child's frame, linear before angular.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...errors import ModelError
from ..algebra import quaternion
from ..algebra.arrays import Array, arctan2, columns, cos, dot, entry, known_norm, rows, sin, sqrt
from ..algebra.spatial import STILL, Inertia, Rotation, Turn

# How far from 1 the norm of a quaternion or of a (cos, sin) pair may be.
UNIT_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Joint:
    """One joint. `pose(q)` is where it carries its child: a rotation, and a slide before it."""

    name: str
    axis: int = 2

    nq: ClassVar[int] = 1
    unit: ClassVar[slice] = slice(0, 0)
    floats: ClassVar[bool] = False

    @property
    def axes(self) -> tuple[int, ...]:
        raise NotImplementedError

    @property
    def nv(self) -> int:
        return len(self.axes)

    def pose(self, q: Array) -> tuple[Turn | Rotation, Array]:
        raise NotImplementedError

    def unmoved(self, body: Inertia) -> Inertia:
        """The matter of its child that the joint does not move, however it turns or slides."""
        return Inertia.zero()

    def neutral(self) -> np.ndarray:
        return np.zeros((self.nq, 1))

    def integrate(self, q: Array, v: Array) -> Array:
        return q + v

    def difference(self, q0: Array, q1: Array) -> Array:
        return q1 - q0

    def nudge(self, d: Array) -> tuple[Turn | Rotation, Array]:
        """Where an increment d (nv, 1) carries the child from where it is, in its own frame, exact to second order."""
        raise NotImplementedError

    def increment(self, q0: Array, q: Array) -> Array:
        """The increment d (nv, 1) that nudges the child from q0 to q, exact to second order about q0."""
        return q - q0

    def normalise(self, q: Array) -> Array:
        u = q[self.unit, :]
        if u.shape[0] == 0:
            return q
        if known_norm(u) == 0.0:
            raise ModelError(f"joint '{self.name}': {self._unit_name} has norm 0, expected one with a direction")
        return rows([q[: self.unit.start, :], u / sqrt(dot(u, u))])

    @property
    def _unit_name(self) -> str:
        return "(cos, sin)" if self.unit.stop - self.unit.start == 2 else "quaternion"

    def random(self, rng: np.random.Generator, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        return rng.uniform(lower, upper)

    def check(self, q: Array) -> None:
        """Numbers of a wrong norm are refused."""
        u = q[self.unit, :]
        norm = known_norm(u)
        if u.shape[0] and norm is not None and abs(norm - 1.0) > UNIT_TOLERANCE:
            raise ModelError(f"joint '{self.name}': {self._unit_name} has norm {norm:.6g}, expected 1")


class Revolute(Joint):
    """A turn q about an axis."""

    @property
    def axes(self) -> tuple[int, ...]:
        return (self.axis,)

    def pose(self, q: Array) -> tuple[Turn | Rotation, Array]:
        return Turn(self.axis, cos(q), sin(q)), np.zeros((3, 1))

    def nudge(self, d: Array) -> tuple[Turn | Rotation, Array]:
        return Turn(self.axis, cos(d), sin(d)), np.zeros((3, 1))

    def unmoved(self, body: Inertia) -> Inertia:
        on_axis = np.zeros((3, 3))
        on_axis[self.axis, self.axis] = 1.0
        return Inertia(body.m, on_axis @ body.h, on_axis @ body.J @ on_axis)


class Continuous(Revolute):
    """A turn without limits, q = (cos, sin)."""

    nq = 2
    unit = slice(0, 2)

    def pose(self, q: Array) -> tuple[Turn | Rotation, Array]:
        return Turn(self.axis, entry(q, 0, 0), entry(q, 1, 0)), np.zeros((3, 1))

    def neutral(self) -> np.ndarray:
        return np.array([[1.0], [0.0]])

    def integrate(self, q: Array, v: Array) -> Array:
        return Turn(2, cos(v), sin(v)).rotate(rows([q, np.zeros((1, 1))]))[:2, :]

    def difference(self, q0: Array, q1: Array) -> Array:
        turned = Turn(2, entry(q0, 0, 0), -entry(q0, 1, 0)).rotate(rows([q1, np.zeros((1, 1))]))
        return arctan2(entry(turned, 1, 0), entry(turned, 0, 0))

    def increment(self, q0: Array, q: Array) -> Array:
        return sine_between(q0, q)

    def random(self, rng: np.random.Generator, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        angle = rng.uniform(-np.pi, np.pi)
        return np.array([[np.cos(angle)], [np.sin(angle)]])


class Prismatic(Joint):
    """A slide q along an axis."""

    @property
    def axes(self) -> tuple[int, ...]:
        return (3 + self.axis,)

    def pose(self, q: Array) -> tuple[Turn | Rotation, Array]:
        return STILL, np.eye(3)[:, self.axis : self.axis + 1] @ q

    def nudge(self, d: Array) -> tuple[Turn | Rotation, Array]:
        return self.pose(d)


class Spherical(Joint):
    """A ball, q a unit quaternion, v the angular velocity."""

    nq = 4
    unit = slice(0, 4)

    @property
    def axes(self) -> tuple[int, ...]:
        return (0, 1, 2)

    def pose(self, q: Array) -> tuple[Turn | Rotation, Array]:
        return Rotation(quaternion.matrix(q)), np.zeros((3, 1))

    def unmoved(self, body: Inertia) -> Inertia:
        return Inertia(body.m, np.zeros((3, 1)), np.zeros((3, 3)))

    def neutral(self) -> np.ndarray:
        return np.array([[0.0], [0.0], [0.0], [1.0]])

    def integrate(self, q: Array, v: Array) -> Array:
        return quaternion.product(q, quaternion.exp(v))

    def difference(self, q0: Array, q1: Array) -> Array:
        return quaternion.log(quaternion.product(quaternion.conjugate(q0), q1))

    def nudge(self, d: Array) -> tuple[Turn | Rotation, Array]:
        return small_turn(d), np.zeros((3, 1))

    def increment(self, q0: Array, q: Array) -> Array:
        return twice_the_vector_between(q0, q)

    def random(self, rng: np.random.Generator, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        q = rng.standard_normal((4, 1))
        return q / np.linalg.norm(q)


class Planar(Joint):
    """Motion in the plane of x and y, q = (x, y, cos, sin), v = (linear x, linear y, angular z)."""

    nq = 4
    unit = slice(2, 4)

    @property
    def axes(self) -> tuple[int, ...]:
        return (3, 4, 2)

    def pose(self, q: Array) -> tuple[Turn | Rotation, Array]:
        return Turn(2, entry(q, 2, 0), entry(q, 3, 0)), rows([q[:2, :], np.zeros((1, 1))])

    def neutral(self) -> np.ndarray:
        return np.array([[0.0], [0.0], [1.0], [0.0]])

    def integrate(self, q: Array, v: Array) -> Array:
        angle = entry(v, 2, 0)
        a, b = quaternion.sinc(angle * angle), angle * quaternion.versine(angle * angle)
        arc = rows([columns([a, -b]), columns([b, a])]) @ v[:2, :]
        turn, slide = self.pose(q)
        turned = turn.rotate(rows([columns([arc, rows([cos(angle), sin(angle)])]), np.zeros((1, 2))]))
        return rows([slide[:2, :] + turned[:2, 0:1], turned[:2, 1:2]])

    def difference(self, q0: Array, q1: Array) -> Array:
        turn, start = self.pose(q0)
        turned = turn.inverse.rotate(rows([columns([q1[:2, :] - start[:2, :], q1[2:, :]]), np.zeros((1, 2))]))
        angle = arctan2(entry(turned, 1, 1), entry(turned, 0, 1))
        a, b = quaternion.half_cotangent(angle * angle), angle / 2
        return rows([rows([columns([a, b]), columns([-b, a])]) @ turned[:2, 0:1], angle])

    def nudge(self, d: Array) -> tuple[Turn | Rotation, Array]:
        angle = entry(d, 2, 0)
        return Turn(2, cos(angle), sin(angle)), rows([d[:2, :], np.zeros((1, 1))])

    def increment(self, q0: Array, q: Array) -> Array:
        turn, start = self.pose(q0)
        slid = turn.inverse.rotate(rows([q[:2, :] - start[:2, :], np.zeros((1, 1))]))
        return rows([slid[:2, :], sine_between(q0[2:, :], q[2:, :])])

    def random(self, rng: np.random.Generator, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        angle = rng.uniform(-np.pi, np.pi)
        return np.array([*rng.uniform(-1.0, 1.0, 2), np.cos(angle), np.sin(angle)]).reshape(4, 1)


class Floating(Joint):
    """No joint at all: q = (x, y, z, quaternion), v = (linear, angular) in the body's frame."""

    nq = 7
    unit = slice(3, 7)
    floats = True

    @property
    def axes(self) -> tuple[int, ...]:
        return (3, 4, 5, 0, 1, 2)

    def pose(self, q: Array) -> tuple[Turn | Rotation, Array]:
        return Rotation(quaternion.matrix(q[3:, :])), q[:3, :]

    def neutral(self) -> np.ndarray:
        return np.array([[0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [1.0]])

    def integrate(self, q: Array, v: Array) -> Array:
        arc = quaternion.arc(v[3:, :]) @ v[:3, :]
        R = quaternion.matrix(q[3:, :])
        return rows([q[:3, :] + R @ arc, quaternion.product(q[3:, :], quaternion.exp(v[3:, :]))])

    def difference(self, q0: Array, q1: Array) -> Array:
        w = quaternion.log(quaternion.product(quaternion.conjugate(q0[3:, :]), q1[3:, :]))
        chord = quaternion.matrix(q0[3:, :]).T @ (q1[:3, :] - q0[:3, :])
        return rows([quaternion.inverse_arc(w) @ chord, w])

    def nudge(self, d: Array) -> tuple[Turn | Rotation, Array]:
        return small_turn(d[3:, :]), d[:3, :]

    def increment(self, q0: Array, q: Array) -> Array:
        slid = quaternion.matrix(q0[3:, :]).T @ (q[:3, :] - q0[:3, :])
        return rows([slid, twice_the_vector_between(q0[3:, :], q[3:, :])])

    def random(self, rng: np.random.Generator, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        q = rng.standard_normal((4, 1))
        return np.concatenate([rng.uniform(-1.0, 1.0, (3, 1)), q / np.linalg.norm(q)])


def sine_between(q0: Array, q: Array) -> Array:
    """The sine of the angle from one (cos, sin) pair to another."""
    return entry(q0, 0, 0) * entry(q, 1, 0) - entry(q0, 1, 0) * entry(q, 0, 0)


def small_turn(d: Array) -> Rotation:
    """The rotation by the vector d to second order: its quaternion is (d/2, 1 - d'd/8)."""
    return Rotation(quaternion.matrix(rows([d / 2, 1 - dot(d, d) / 8])))


def twice_the_vector_between(q0: Array, q: Array) -> Array:
    """The rotation vector from one quaternion to another to second order: twice the vector part between them."""
    return 2 * quaternion.product(quaternion.conjugate(q0), q)[:3, :]
