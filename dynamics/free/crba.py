"""Mass matrix by the composite-rigid-body algorithm (Walker and Orin 1982; Featherstone 2008, Table 6.2).

Body frames.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..algebra.arrays import Array, grid, pick
from ..algebra.spatial import Transform
from .tree_motion import transforms

if TYPE_CHECKING:
    from ..model import Model


def blocks(model: Model, X: list[Transform]) -> dict[tuple[int, int], Array]:
    """The blocks M[i, j] of joint i with each ancestor j (and itself): all that is not zero or mirrored."""
    composite = list(model.lumped)
    M = {}
    for i in reversed(range(model.size)):
        axes, armature = model.joints[i].axes, np.diag(model.armature[model.v_slices[i]])
        F = composite[i].matrix[:, list(axes)]
        M[i, i] = pick(F, axes) + armature
        j = i
        while model.parents[j] >= 0:
            F = X[j].force(F)
            j = model.parents[j]
            M[i, j] = pick(F, model.joints[j].axes).T
        if model.parents[i] >= 0:
            composite[model.parents[i]] += composite[i].seen(X[i])
    return M


def crba(model: Model, q: Array) -> Array:
    """The mass matrix (nv, nv)."""
    M = blocks(model, transforms(model, q))
    for (i, j), block in list(M.items()):
        M[j, i] = block.T
    size = [joint.nv for joint in model.joints]
    n = range(model.size)
    return grid([[M.get((i, j), np.zeros((size[i], size[j]))) for j in n] for i in n])
