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
from ..algebra.arrays import Array, numbers_only, rows
from ..constraints.ground import Demand
from ..forward_problem import Answer, ForwardProblem
from ..free.aba import applied_forces
from ..free.kinematics import body_poses
from ..free.tree_motion import TreeMotion, base_acceleration

if TYPE_CHECKING:
    from ...riccati import Stage
    from ..model import Model


def gauss(problem: ForwardProblem) -> Answer:
    """Joint accelerations (nv, 1) and the constraints' forces; of redundant rows one valid choice of forces."""
    from ...riccati import LQProblem  # late: of all the methods, this one alone needs the engine

    what = "method 'riccati' ('pv' solves the same problem on symbols)"
    numbers_only(what, problem.q, problem.v, problem.tau)
    model, held = problem.model, problem.demands
    f = applied_forces(model.inertias, problem.move, problem.external)
    tree = LQProblem(stages(model, problem.move, f, problem.tau, held), initial_state=base_acceleration(model).ravel())
    solution = tree.solve()
    if solution.status != "solved":
        links = ", ".join(f"'{constraint.link}'" for constraint in problem.constraints)
        raise ModelError(
            f"constraints on {links}: the problem is {solution.status} at this state, expected rows that can hold"
        )
    return rows([u.reshape(-1, 1) for u in solution.u[1:]]), _forces(held, solution.multipliers)


def stages(model: Model, move: TreeMotion, f: list[Array], tau: Array, held: Sequence[Demand]) -> list[Stage]:
    """The world, which only holds a_0, and a stage for each body: its cost and rows through a = x + B qdd + b."""
    from ...riccati import Stage

    poses = body_poses(model, move.X)
    found = [Stage(np.zeros((6, 6)), np.zeros(6))]
    B: list[np.ndarray] = [np.zeros((6, 0))]
    b: list[np.ndarray] = [np.zeros((6, 1))]
    for i, parent in enumerate(model.parents):
        T, axes, part = np.asarray(poses[i].motion(np.eye(6))), list(model.joints[i].axes), model.v_slices[i]
        B.append(np.asarray(poses[i].inverse_motion(np.eye(6)[:, axes])))
        b.append(np.asarray(poses[i].inverse_motion(move.ab[i])))
        H = T.T @ np.asarray(model.inertias[i].matrix) @ T
        pull = H @ b[-1] - T.T @ np.asarray(f[i])
        here = [row for row in held if row.body == i]
        K = np.concatenate([np.zeros((0, 6)), *(row.K for row in here)])
        k = np.concatenate([np.zeros((0, 1)), *(row.k for row in here)])
        cost = {"Q": H, "q": pull.ravel(), "S": H @ B[-1], "r": (B[-1].T @ pull - np.asarray(tau[part])).ravel()}
        cost["R"] = B[-1].T @ H @ B[-1] + np.diag(model.armature[part])
        # K S and not K T B: a row that does not feel the joint is then exactly zero
        limits = {"Gx": K @ T, "Gu": K[:, axes], "g": (K @ np.asarray(move.ab[i]) - k).ravel()}
        edge = {"A": np.eye(6), "B": B[parent + 1], "b": b[parent + 1].ravel()}
        found.append(Stage(**cost, **limits, parent=parent + 1, **edge))
    return found


def _forces(held: Sequence[Demand], multipliers: Sequence[np.ndarray]) -> list[Array]:
    """The multipliers of each body's stage, handed to its constraints as forces on the robot."""
    used: dict[int, int] = {}
    forces: list[Array] = []
    for row in held:
        start = used.get(row.body, 0)
        used[row.body] = start + row.k.shape[0]
        forces.append(-multipliers[row.body + 1][start : used[row.body]].reshape(-1, 1))
    return forces
