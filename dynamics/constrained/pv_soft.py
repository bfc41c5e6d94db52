"""Constrained forward dynamics with MuJoCo's soft Gauss principle (Sathya 2024a Sec. VI, eqs. 50 to 52): ABA with
heavier links.

A constraint K a = k becomes the cost 1/2 (K a - k)' R^-1 (K a - k); its force is R^-1 (k - K a). Always solvable.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..algebra.arrays import Array, symmetric
from ..constraints.constraint import Constraint
from ..constraints.ground import demands
from ..free.aba import applied_forces, sweeps
from ..free.tree_motion import tree_motion

if TYPE_CHECKING:
    from ..model import Model


def pv_soft(
    model: Model,
    q: Array,
    v: Array,
    tau: Array,
    constraints: Sequence[Constraint],
    external: Sequence[Array | None] | None = None,
) -> tuple[Array, list[Array]]:
    """Joint accelerations (nv, 1) and the constraints' forces, R the diagonal of the constraints' softness."""
    move = tree_motion(model, q, v)
    soft = demands(model, constraints, v, move)
    H, f = [body.matrix for body in model.lumped], applied_forces(model.lumped, move, external)
    for row in soft:
        weighted = row.K / row.softness
        H[row.body] = H[row.body] + symmetric(row.K.T @ weighted)  # eq. 52
        f[row.body] = f[row.body] + weighted.T @ row.k
    qdd, a = sweeps(model, move, H, f, tau)
    return qdd, [(row.k - row.K @ a[row.body]) / row.softness for row in soft]
