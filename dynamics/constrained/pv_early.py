"""Constrained forward dynamics with early elimination of the forces (Sathya 2024a Sec. VIII), in body frames,
joints of any number of dofs.

At each joint the rows K a + l = 0 carried by its body are turned by reflections (eqs. 65 to 68) into some that its
motion can meet, which are eliminated here, and others with K S = 0, which pass to the parent unchanged: at most six
are ever carried.
- All of the joint's motion is taken: kappa = (K S)^-1 K, qdd = -(kappa a' + c), and the body's cost is seen through
  T = 1 - S kappa. This is eq. 63 with the joint's acceleration put in from the constraint instead of from the cost.
- Some of it is left: eqs. 57 and 61 to 63 as they stand, with Sigma = K S D^-1 S' K'. Which rows meet which dofs is
for symbols a property of the mechanism (`row_pivots`): where a joint then hardly feels a row that it is to meet, the
answer is NaN, though the rows may be independent. For numbers it is chosen at the state, so that a row which does
not feel a joint at all passes it (Remark 8); one that hardly does is refused. a' is the parent's acceleration in the
body's frame.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..algebra.arrays import Array, columns, is_symbolic, pick, put, rows
from ..constraints.ground import Demand
from ..forward_problem import Answer, ForwardProblem
from ..free.articulated_tree import ArticulatedTree
from ..free.tree_motion import base_acceleration
from .row_elimination import Pivots, Reflection, Shared, Taken, left_over, reflect, row_pivots, state_pivots


def pv_early(problem: ForwardProblem) -> Answer:
    """Joint accelerations (nv, 1) and the constraints' forces."""
    model, X, ab, f = problem.model, problem.move.X, problem.move.ab, problem.applied_forces()
    tree = ArticulatedTree(model, X)
    carried = Carried(problem.demands, model.size)
    pivots = pivots_of(problem)

    steps: dict[int, Taken | Shared] = {}
    reflections: dict[int, list[Reflection]] = {}
    for i in tree.inward:
        joint, armature = tree.join(i), model.armature[model.v_slices[i]]
        Z, reflections[i] = reflect(carried.rows(i), pivots[i], joint.axes)
        step = Taken if len(pivots[i]) == len(joint.axes) else Shared
        met = pick(Z, [row for row, _ in pivots[i]])
        steps[i] = step(joint, f[i], problem.joint_forces(i), armature, met, pivots[i])
        if model.parents[i] >= 0:
            H_above, f_above = steps[i].cost()
            tree.hand_on(i, H_above)
            tree.hand_force(i, f, f_above - H_above @ ab[i])
            rest = pick(Z, left_over(Z, pivots[i]))
            K = rest[:, :6]
            carried.push(model.parents[i], i, X[i].force(K.T).T, rest[:, 6:] + K @ ab[i])

    a: list[Array] = []
    qdd: list[Array] = []
    a0 = base_acceleration(model)
    for i in tree.outward:
        joint_acceleration, acceleration, force = steps[i].roll_out(tree.above(i, a, ab[i], a0))
        qdd.append(joint_acceleration)
        a.append(acceleration)
        carried.resolve(i, pivots[i], reflections[i], force)
    return rows(qdd), [carried.forces[c] for c in range(len(problem.constraints))]


def pivots_of(problem: ForwardProblem) -> list[Pivots]:
    """Which rows are met where: at a state of numbers as they are felt there, for symbols once for all states."""
    model, held, state = problem.model, problem.constraints, (problem.q, *(row.K for row in problem.constraints))
    return row_pivots(model, held) if is_symbolic(*state) else state_pivots(model, held, problem.move.X)


class Carried:
    """The rows (K, l) each body carries, those of its own constraints and those its children could not meet."""

    def __init__(self, constraints: Sequence[Demand], bodies: int):
        self.blocks: list[list[Array]] = [[] for _ in range(bodies)]
        self.owners: list[list[tuple[dict[int, Array], int, int]]] = [[] for _ in range(bodies)]
        self.forces: dict[int, Array] = {}
        self.passed: dict[int, Array] = {}
        for index, row in enumerate(constraints):
            self._put(row.body, columns([row.K, -row.k]), self.forces, index)

    def _put(self, body: int, Z: Array, store: dict[int, Array], key: int) -> None:
        if Z.shape[0]:
            self.blocks[body].append(Z)
            self.owners[body].append((store, key, Z.shape[0]))

    def push(self, body: int, child: int, K: Array, l: Array) -> None:
        """Carry the rows that a child could not meet."""
        self._put(body, columns([K, l]), self.passed, child)

    def rows(self, body: int) -> Array:
        """Z = (K, l) of a body, (m, 7)."""
        return rows(self.blocks[body]) if self.blocks[body] else np.zeros((0, 7))

    def resolve(self, body: int, pivots: Pivots, reflections: Sequence[Reflection], met: Array) -> None:
        """Give the forces of a body's rows to their owners: those met here, and those already known further in (eq.
        64).
        """
        size = sum(owner[2] for owner in self.owners[body])
        if not size:
            return
        rest = [row for row in range(size) if row not in {row for row, _ in pivots}]
        force = put(met, [row for row, _ in pivots], size)
        if rest:
            force = force + put(self.passed[body], rest, size)
        for reflection in reversed(reflections):
            force = reflection(force)
        start = 0
        for store, key, rows_owned in self.owners[body]:
            store[key] = force[start : start + rows_owned, :]
            start += rows_owned
