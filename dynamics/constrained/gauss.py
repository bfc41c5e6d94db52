"""Constrained forward dynamics as a linear-quadratic problem on a tree, given to the shared Riccati engine (Sathya
2024c Sec. 5, eqs. 37, 38).

Gauss' principle of least constraint: minimize sum 1/2 a_i' H_i a_i - f_i' a_i subject to a_i = X_i a_parent + S_i
qdd_i + a_bi and K_i a_i = k_i. Stage i has the acceleration of body i's parent for its state and qdd_i for its
control, all in the world's frame, so that A = 1. Numbers only: the engine decides ranks as it goes, and so takes
singular configurations and redundant rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...errors import ModelError
from ...riccati import LQProblem, Stage
from ..algebra.arrays import Array, numbers_only, rows
from ..constraints.constraint import Constraint
from ..constraints.ground import Demand, demands
from ..free.aba import applied_forces
from ..free.kinematics import body_poses
from ..free.tree_motion import TreeMotion, base_acceleration, tree_motion

if TYPE_CHECKING:
    from ..model import Model


def gauss(
    model: Model,
    q: Array,
    v: Array,
    tau: Array,
    constraints: Sequence[Constraint],
    external: Sequence[Array | None] | None = None,
) -> tuple[Array, list[Array]]:
    """Joint accelerations (nv, 1) and the constraints' forces; of redundant rows one valid choice of forces."""
    numbers_only("method 'riccati' ('pv-early' solves the same problem on symbols)", q, v, tau)
    move = tree_motion(model, q, v)
    held = demands(model, constraints, v, move)
    f = applied_forces(model.inertias, move, external)
    problem = LQProblem(stages(model, move, f, tau, held), initial_state=base_acceleration(model).ravel())
    solution = problem.solve()
    if solution.status != "solved":
        links = ", ".join(f"'{constraint.link}'" for constraint in constraints)
        raise ModelError(
            f"constraints on {links}: the problem is {solution.status} at this state, expected rows that can hold"
        )
    return rows([u.reshape(-1, 1) for u in solution.u[1:]]), _forces(held, solution.multipliers)


def stages(model: Model, move: TreeMotion, f: list[Array], tau: Array, held: Sequence[Demand]) -> list[Stage]:
    """The world, which only holds a_0, and a stage for each body: its cost and rows through a = x + B qdd + b."""
    poses = body_poses(model, move.X)
    found = [Stage(np.zeros((6, 6)), np.zeros(6))]
    B, b = [np.zeros((6, 0))], [np.zeros((6, 1))]
    for i, parent in enumerate(model.parents):
        T, axes, part = poses[i].motion(np.eye(6)), list(model.joints[i].axes), model.v_slices[i]
        B.append(poses[i].inverse_motion(np.eye(6)[:, axes]))
        b.append(poses[i].inverse_motion(move.ab[i]))
        H = T.T @ model.inertias[i].matrix @ T
        pull = H @ b[-1] - T.T @ f[i]
        here = [row for row in held if row.body == i]
        K = np.concatenate([np.zeros((0, 6)), *(row.K for row in here)])
        k = np.concatenate([np.zeros((0, 1)), *(row.k for row in here)])
        cost = {"Q": H, "q": pull.ravel(), "S": H @ B[-1], "r": (B[-1].T @ pull - tau[part]).ravel()}
        cost["R"] = B[-1].T @ H @ B[-1] + np.diag(model.armature[part])
        # K S and not K T B: a row that does not feel the joint is then exactly zero
        limits = {"Gx": K @ T, "Gu": K[:, axes], "g": (K @ move.ab[i] - k).ravel()}
        edge = {"A": np.eye(6), "B": B[parent + 1], "b": b[parent + 1].ravel()}
        found.append(Stage(**cost, **limits, parent=parent + 1, **edge))
    return found


def _forces(held: Sequence[Demand], multipliers) -> list[Array]:
    """The multipliers of each body's stage, handed to its constraints as forces on the robot."""
    used: dict[int, int] = {}
    forces = []
    for row in held:
        start = used.get(row.body, 0)
        used[row.body] = start + row.k.shape[0]
        forces.append(-multipliers[row.body + 1][start : used[row.body]].reshape(-1, 1))
    return forces
