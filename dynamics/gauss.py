"""Constrained forward dynamics as a linear-quadratic problem on a tree, given to the shared Riccati engine (004 Sec.
5, eqs. 37, 38).

Gauss' principle of least constraint: minimize sum 1/2 a_i' H_i a_i - f_i' a_i subject to a_i = X_i a_parent + S_i
qdd_i + a_bi and K_i a_i = k_i. Stage i has the acceleration of body i's parent for its state and qdd_i for its
control, all in the world's frame, so that A = 1. Numbers only: the engine decides ranks as it goes, and so takes
singular configurations and redundant rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..riccati import LQProblem, Stage
from .constraint import Constraint, demands
from .errors import ModelError
from .kinematics import body_poses
from .motion import base_acceleration, motion
from .scalar import Array, numbers_only, rows

if TYPE_CHECKING:
    from .model import Model


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
    move = motion(model, q, v)
    f = [-body.spin_force(W) for body, W in zip(model.inertias, move.W)]
    if external is not None:
        f = [force if more is None else force + more for force, more in zip(f, external)]
    prepared = demands(model, constraints, v, move)
    poses = body_poses(model, move.X)
    stages = [Stage(np.zeros((6, 6)), np.zeros(6))]
    step: list[tuple[Array, Array]] = [(np.zeros((6, 0)), np.zeros(6))]
    for i, parent in enumerate(model.parents):
        T, part = poses[i].motion(np.eye(6)), model.v_slices[i]
        B = poses[i].inverse_motion(np.eye(6)[:, list(model.joints[i].axes)])
        b = poses[i].inverse_motion(move.ab[i])
        H = T.T @ model.inertias[i].matrix @ T
        pull = H @ b - T.T @ f[i]
        here = [row for row in prepared if row.body == i]
        K = np.concatenate([np.zeros((0, 6)), *(row.K for row in here)])
        k = np.concatenate([np.zeros((0, 1)), *(row.k for row in here)])
        stages.append(
            Stage(
                Q=H,
                q=pull.ravel(),
                R=B.T @ H @ B + np.diag(model.armature[part]),
                S=H @ B,
                r=(B.T @ pull - tau[part]).ravel(),
                Gx=K @ T,
                Gu=K[:, list(model.joints[i].axes)],
                g=(K @ move.ab[i] - k).ravel(),
                parent=parent + 1,
                A=np.eye(6),
                B=step[parent + 1][0],
                b=step[parent + 1][1],
            )
        )
        step.append((B, b.ravel()))
    solution = LQProblem(stages, initial_state=base_acceleration(model).ravel()).solve()
    if solution.status != "solved":
        links = ", ".join(f"'{constraint.link}'" for constraint in constraints)
        raise ModelError(
            f"constraints on {links}: the problem is {solution.status} at this state, expected rows that can hold"
        )
    qdd = rows([u.reshape(-1, 1) for u in solution.u[1:]])
    return qdd, _forces(prepared, solution.multipliers)


def _forces(prepared, multipliers) -> list[Array]:
    """The multipliers of each body's stage, handed to its constraints as forces on the robot."""
    used: dict[int, int] = {}
    forces = []
    for row in prepared:
        start = used.get(row.body, 0)
        used[row.body] = start + row.k.shape[0]
        forces.append(-multipliers[row.body + 1][start : used[row.body]].reshape(-1, 1))
    return forces
