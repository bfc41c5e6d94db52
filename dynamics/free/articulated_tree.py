"""The articulated-body sweeps, body by body, that ABA and the solvers built on it share (Featherstone 1983; Sathya
2024a eqs. 19 to 25).

    inward    H_parent += X Ha X'       u = tau + S' f        f_parent += X (f - Ha a_b - G u)
    outward   a' = X a_parent + a_b     qdd = D^-1 u - G' a'  a = a' + S qdd

Letters of Sathya 2024a: H articulated inertia, Ha what the parent feels of it, U D G of `articulation`. Body frames.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..algebra.arrays import Array, pick, put
from ..algebra.spatial import Transform
from .articulation import Articulation

if TYPE_CHECKING:
    from ..model import Model


class ArticulatedTree:
    """The bodies of a model carried to X, with their own inertias H to begin with; `joints` and `Ha` grow from the tips
    to the root as bodies are articulated.
    """

    def __init__(self, model: Model, X: Sequence[Transform]):
        self.model, self.X = model, X
        self.H: list[Array] = [body.matrix for body in model.lumped]
        self.joints: dict[int, Articulation] = {}
        self.Ha: dict[int, Array] = {}

    @property
    def inward(self) -> Sequence[int]:
        """The bodies from the tips to the root."""
        return range(self.model.size)[::-1]

    @property
    def outward(self) -> Sequence[int]:
        """The bodies from the root to the tips."""
        return range(self.model.size)

    def articulate(self, i: int) -> Articulation:
        """Body i with its joint, its inertia handed on to its parent."""
        joint = self.join(i)
        if self.model.parents[i] >= 0:
            self.hand_on(i, joint.inertia())
        return joint

    def join(self, i: int) -> Articulation:
        """Body i, with the inertia it has by now, and its joint."""
        model = self.model
        self.joints[i] = Articulation(model.joints[i].axes, self.H[i], model.armature[model.v_slices[i]])
        return self.joints[i]

    def hand_on(self, i: int, Ha: Array) -> None:
        """The parent of body i feels Ha of its inertia."""
        parent = self.model.parents[i]
        self.Ha[i] = Ha
        self.H[parent] = self.H[parent] + self.X[i].inertia(Ha)

    def hand_force(self, i: int, f: list[Array], force: Array) -> None:
        """The parent of body i feels a force of it, in the body's frame, beside its own in f."""
        parent = self.model.parents[i]
        f[parent] = f[parent] + self.X[i].force(force)

    def push(self, i: int, f: list[Array], tau: Array, ab: Array) -> Array:
        """D^-1 u of body i under its force f[i], which is handed on to its parent; tau of its joint, a_b its bias."""
        joint, parent = self.joints[i], self.model.parents[i]
        u = tau + pick(f[i], joint.axes)
        if parent >= 0:
            self.hand_force(i, f, reaction(joint, f[i] - self.Ha[i] @ ab, u, tau))
        return joint.D.solve(u)

    def pull(self, i: int, a: list[Array], Du: Array, ab: Array, a0: Array) -> Array:
        """The acceleration of body i's joint for D^-1 u; its own is put behind those a of the bodies before it. a_0 is
        the world's.
        """
        qdd, acceleration = self.joints[i].accelerate(self.above(i, a, ab, a0), Du)
        a.append(acceleration)
        return qdd

    def above(self, i: int, a: Sequence[Array] | Mapping[int, Array], ab: Array, a0: Array) -> Array:
        """a' of body i: what its parent's acceleration, or the world's, gives it, and a_b."""
        parent = self.model.parents[i]
        return self.X[i].motion(a0 if parent < 0 else a[parent]) + ab


def articulate(model: Model, X: Sequence[Transform]) -> list[Articulation]:
    """The backward sweep without forces (Sathya 2024b Algorithm 1, 7 to 10): the joints with their articulated
    inertias.
    """
    tree = ArticulatedTree(model, X)
    for i in tree.inward:
        tree.articulate(i)
    return [tree.joints[i] for i in tree.outward]


def reaction(joint: Articulation, f: Array, u: Array, tau: Array) -> Array:
    """What the parent feels of a body's force f and the joint's own: f - G u, which along the axes is -tau."""
    if not joint.free:
        return f - joint.G @ u
    return joint.clear(f - joint.G @ u) - put(tau, joint.axes, 6)
