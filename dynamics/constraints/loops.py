"""Constraints between the links of a mechanism: loops, grasps, rows over several links (Sathya 2025 eqs. 1c and 36).

A coupling is a constraint at a state, sum_j K_j a_j = k over the bodies it holds together, for accelerations as the
sweeps have them (body frames, linear part classical, without gravity). The relative acceleration of a loop is that of
the frame on `link` less that of the other link, in the frame on `link`: its spatial form is the rate of the relative
velocity there, a1 - X a2 + v1 x X v2, as in Pinocchio's 6D constraints; its classical form is the difference of the
two points' accelerations, as in Pinocchio's 3D ones. Forces: K' lambda on `link`, the reaction on the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...errors import ModelError
from ..algebra.arrays import Array, add, columns, rows
from ..algebra.spatial import Rotation, Transform, cross
from ..free.kinematics import body_velocities
from ..free.tree_motion import TreeMotion, tree_motion
from .constraint import HERE, Constraint
from .ground import baumgarte, closes_loop, demands

if TYPE_CHECKING:
    from ..kinematic_tree import Frame
    from ..model import Model


class Part(NamedTuple):
    """Rows K (m, 6) on the acceleration of one body, in its frame."""

    body: int
    K: Array


@dataclass(frozen=True)
class Coupling:
    """sum K a = k over the parts, one for each body. With `relative` the rows feel no motion that all bodies share."""

    parts: tuple[Part, ...]
    k: Array
    relative: bool = False

    @property
    def size(self) -> int:
        """The number of rows."""
        return self.k.shape[0]

    def felt(self, accelerations: Sequence[Array]) -> Array:
        """sum K a (m, 1) for accelerations (6, 1) of the bodies."""
        return add([K @ accelerations[body] for body, K in self.parts])

    def residual(self, accelerations: Sequence[Array]) -> Array:
        """k - sum K a."""
        return self.k - self.felt(accelerations)


def bodies_of(model: Model, constraint: Constraint) -> tuple[int, ...]:
    """The moving bodies that a constraint holds, each once."""
    links = [constraint.link, constraint.other, *(more.link for more in constraint.more)]
    bodies = [model.frame(link).body for link in links if link is not None]
    return tuple(dict.fromkeys(body for body in bodies if body >= 0))


def couplings(model: Model, constraints: Sequence[Constraint], v: Array, move: TreeMotion) -> list[Coupling]:
    """The constraints at a state, ready for the sweeps of the methods that take loops."""
    statements = [_statements(constraint) for constraint in constraints]
    ground = [each for group in statements for each in group if not closes_loop(model, each)]
    held = iter(demands(model, ground, v, move))
    velocities = body_velocities(model, move, v) if constraints else []
    found = []
    for group in statements:
        pieces = []
        for each in group:
            if closes_loop(model, each):
                pieces.append(_loop(model, each, model.frame(str(each.other)), velocities, move))
            else:
                row = next(held)
                pieces.append(Coupling((Part(row.body, row.K),), row.k))
        found.append(pieces[0] if len(pieces) == 1 else _sum(pieces))
    return found


def _statements(constraint: Constraint) -> list[Constraint]:
    """The constraint on its link and the other, and what it adds of further links, as constraints of their own."""
    classical, period = constraint.classical, constraint.period
    further = [Constraint(each.link, each.K, 0.0, classical, each.frame, None, period) for each in constraint.more]
    return [replace(constraint, more=()), *further]


def _sum(pieces: Sequence[Coupling]) -> Coupling:
    """Several couplings added row by row."""
    K: dict[int, list[Array]] = {}
    for piece in pieces:
        for part in piece.parts:
            K.setdefault(part.body, []).append(part.K)
    return Coupling(tuple(Part(body, add(each)) for body, each in K.items()), add([piece.k for piece in pieces]))


def _loop(model: Model, constraint: Constraint, two: Frame, velocities: Sequence[Array], move: TreeMotion) -> Coupling:
    """Rows on the acceleration of a frame on `link` relative to the other link, whose own frame is given."""
    one = model.frame(constraint.link)
    if one.body < 0 or one.body == two.body:
        why = "the first is fixed to the world" if one.body < 0 else "both are parts of one body"
        raise ModelError(
            f"constraint on '{constraint.link}' and '{constraint.other}': {why}, expected two links that move apart"
        )
    frame = constraint.frame.after(one.placement)
    target = None if constraint.target is None else constraint.target.after(two.placement)
    seen = relative_pose(model, move.X, one.body, two.body, frame)
    at = Transform(np.eye(3), target.p, seen.rotation) if constraint.classical and target is not None else seen
    v1, v2 = frame.motion(velocities[one.body]), at.motion(velocities[two.body])
    if constraint.classical:
        turn: Array = np.zeros((3, 1))
        drift = frame.outward(move.W[one.body] @ frame.p) - at.outward(move.W[two.body] @ at.p)
    else:
        turn = cross(v1[:3, :], v2[:3, :])
        drift = cross(v1[:3, :], v2[3:, :]) + cross(v1[3:, :], v2[:3, :])
        drift = drift + at.outward(_whirl(velocities[two.body])) - frame.outward(_whirl(velocities[one.body]))
    aim = replace(constraint, target=target)
    k = constraint.k - constraint.K @ rows([turn, drift]) + baumgarte(aim, v1 - v2, seen)
    parts = Part(one.body, frame.force(constraint.K.T).T), Part(two.body, -at.force(constraint.K.T).T)
    return Coupling(parts, k, relative=at is seen)


def _whirl(velocity: Array) -> Array:
    """omega x v: what the classical acceleration of an origin is more than the spatial one."""
    return cross(velocity[:3, :], velocity[3:, :])


def on_bodies(f: Sequence[Array], held: Sequence[Coupling], forces: Sequence[Array]) -> list[Array]:
    """Forces on the bodies with K' lambda of the constraints added."""
    f = list(f)
    for row, force in zip(held, forces):
        for body, K in row.parts:
            f[body] = f[body] + K.T @ force
    return f


def relative_pose(model: Model, X: Sequence[Transform], body: int, base: int, frame: Transform = HERE) -> Transform:
    """Where a frame on one body is in another body's frame, by way of the nearest body that carries both."""
    shared = set(model.support(body)) & set(model.support(base))
    for i in model.support(body):
        if i in shared:
            break
        frame = frame.after(X[i])
    root = HERE
    for i in model.support(base):
        if i in shared:
            break
        root = X[i] if root is HERE else root.after(X[i])
    if root is HERE:
        return frame
    return Transform(np.eye(3), root.outward(frame.p - root.p), Rotation(root.outward(frame.R)))


def jacobian(model: Model, X: Sequence[Transform], row: Coupling) -> dict[int, Array]:
    """J (m, nv) of a coupling's rows: blocks (m, nv_i) of the joints that carry its bodies."""
    shared = set.intersection(*(set(model.support(body)) for body, _ in row.parts)) if row.relative else set()
    blocks: dict[int, Array] = {i: np.zeros((row.size, model.joints[i].nv)) for i in shared}
    for body, K in row.parts:
        for i in model.support(body):
            if i in shared:
                break
            block = K[:, list(model.joints[i].axes)]
            blocks[i] = blocks[i] + block if i in blocks else block
            K = X[i].force(K.T).T
    return blocks


def constraint_jacobian(model: Model, q: Array, constraints: Sequence[Constraint]) -> Array:
    """J (m, nv) of all rows, in the order of the constraints."""
    rest = np.zeros((model.nv, 1))
    move = tree_motion(model, q, rest)
    lines: list[Array] = [np.zeros((0, model.nv))]
    for row in couplings(model, constraints, rest, move):
        blocks = jacobian(model, move.X, row)
        lines.append(columns([blocks.get(i, np.zeros((row.size, j.nv))) for i, j in enumerate(model.joints)]))
    return rows(lines)


def pushed_bodies(
    model: Model,
    bodies: list[Array | None] | None,
    constraints: Sequence[Constraint],
    forces: Sequence[Array],
    q: Array,
) -> list[Array | None] | None:
    """Forces on the bodies, with those of the constraints added."""
    if not constraints:
        return bodies
    total = [np.zeros((6, 1)) if push is None else push for push in bodies or [None] * model.size]
    rest = np.zeros((model.nv, 1))
    return [*on_bodies(total, couplings(model, constraints, rest, tree_motion(model, q, rest)), forces)]
