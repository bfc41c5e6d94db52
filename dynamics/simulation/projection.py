"""Drift taken back: a state is brought onto its constraints by the smallest motion, measured by the kinetic energy.

    min |d|_M^2  with  J d = -K e         q+ = q (+) d          e: the displacement from the targets
    min |u|_M^2  with  J u = -J v         v+ = v + u

are Gauss' principle for a robot at rest without weight: what solves for accelerations solves for d and u as well, rows
that depend on each other included. One step of Newton's method a time step leaves the square of what has drifted in it
(Hairer, Lubich and Wanner 2006, Sec. IV.4). Rows that demand an acceleration are moved, and so left alone; rows without
a target, or over further links, are held in velocity alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..algebra.arrays import Array, rows
from ..constraints.closure_error import displacement, target_pose
from ..constraints.constraint import Constraint
from ..constraints.loops import constraint_jacobian
from ..forward_problem import ForwardProblem
from ..free.rnea import rnea
from ..joints.configuration import integrate, normalise

if TYPE_CHECKING:
    from ..model import Model

# How far, m, rad and per s, a state may be from its constraints and still be said to meet them.
MET = 1e-6


def projected(
    model: Model, constraints: Sequence[Constraint], q: Array, v: Array, solve: Callable[[ForwardProblem], Array]
) -> tuple[Array, Array]:
    """The state (q, v) on the constraints; `solve` finds the accelerations of a problem."""
    rest = np.zeros((model.nv, 1))
    weight = rnea(model, q, rest, rest)

    def least(wanted: list[Array]) -> Array:
        held = [replace(row, k=-part, period=None) for row, part in zip(constraints, wanted)]
        return solve(ForwardProblem(model, q, rest, weight, held))

    away, speeds = apart(model, constraints, q, v)
    return normalise(model, integrate(model, q, least(away))), v + least(speeds)


def apart(model: Model, constraints: Sequence[Constraint], q: Array, v: Array) -> tuple[list[Array], list[Array]]:
    """How far the rows of each constraint are from being met, in position and in velocity; 0 where nothing is asked."""
    J = constraint_jacobian(model, q, constraints)
    away: list[Array] = []
    speeds: list[Array] = []
    end = 0
    for row in constraints:
        end += row.size
        none, target = np.zeros((row.size, 1)), target_pose(model, row)
        moved = bool(np.any(row.k))
        known = target is not None and not row.more and not moved
        away.append(row.K @ displacement(model, q, row, target) if known and target is not None else none)
        speeds.append(none if moved else J[end - row.size : end, :] @ v)
    return away, speeds


def met(model: Model, constraints: Sequence[Constraint], q: np.ndarray, v: np.ndarray) -> bool:
    """True where a state is on its constraints."""
    away, speeds = (rows(part) for part in apart(model, constraints, q, v))
    return bool(np.abs(away).max() <= MET and np.abs(speeds).max() <= MET * max(1.0, np.abs(v).max(initial=0.0)))
