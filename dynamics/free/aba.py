"""Forward dynamics by the articulated-body algorithm (Featherstone 1983; Sathya 2024a Algorithm 1 without constraints).

Letters of Sathya 2024a, as in `articulated_tree`: f is the force on a body that is not a constraint's. Body frames;
a_0 = -gravity.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..algebra.arrays import Array, rows
from ..algebra.spatial import Inertia
from .articulated_tree import ArticulatedTree
from .tree_motion import TreeMotion, base_acceleration, tree_motion

if TYPE_CHECKING:
    from ..model import Model


def aba(model: Model, q: Array, v: Array, tau: Array, external: Sequence[Array | None] | None = None) -> Array:
    """Joint accelerations (nv, 1); `external` holds a force (6, 1) on each body in its frame, or None."""
    move = tree_motion(model, q, v)
    f = applied_forces(model.lumped, move, external)
    return sweeps(ArticulatedTree(model, move.X), move, f, tau)[0]


def applied_forces(
    inertias: Sequence[Inertia], move: TreeMotion, external: Sequence[Array | None] | None
) -> list[Array]:
    """f of every body before the sweeps: external forces less those that keep it turning."""
    f = [-body.spin_force(W) for body, W in zip(inertias, move.W)]
    if external is None:
        return f
    return [force if more is None else force + more for force, more in zip(f, external)]


def sweeps(tree: ArticulatedTree, move: TreeMotion, f: list[Array], tau: Array) -> tuple[Array, list[Array]]:
    """The backward sweep and the roll-out for forces f of the bodies: joint and body accelerations."""
    model, Du = tree.model, {}
    for i in tree.inward:
        tree.articulate(i)
        Du[i] = tree.push(i, f, tau[model.v_slices[i], :], move.ab[i])
    a: list[Array] = []
    a0 = base_acceleration(model)
    return rows([tree.pull(i, a, Du[i], move.ab[i], a0) for i in tree.outward]), a
