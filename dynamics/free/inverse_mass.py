"""The inverse of the mass matrix from the articulated-body sweep (Sathya 2024a eqs. 19 and 25, a unit force at each
joint in turn).

Body frames. Under a unit force at joint k a force F passes inward from its body, every joint on the way takes the
share D^-1 S' F, and the accelerations roll out again; they are asked only of joints i <= k, the rest is the mirror
image.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..algebra.arrays import Array, grid, pick, symmetric
from .articulated_tree import articulate, reaction
from .tree_motion import transforms

if TYPE_CHECKING:
    from ..model import Model


def inverse_mass(model: Model, q: Array) -> Array:
    """M^-1 (nv, nv)."""
    X = transforms(model, q)
    joints, n = articulate(model, X), model.size
    size = [joint.nv for joint in model.joints]
    F: list[dict[int, Array]] = [{} for _ in range(n)]
    share: list[dict[int, Array]] = [{} for _ in range(n)]
    for i in reversed(range(n)):
        joint, parent, unit = joints[i], model.parents[i], np.eye(size[i])
        share[i] = {k: joint.D.solve(pick(f, joint.axes)) for k, f in F[i].items()}
        share[i][i] = joint.D.solve(unit)
        if parent >= 0:
            F[parent] |= {k: X[i].force(joint.force(f)) for k, f in F[i].items()}
            F[parent][i] = X[i].force(reaction(joint, np.zeros((6, size[i])), unit, unit))

    a: list[dict[int, Array]] = [{} for _ in range(n)]
    inverse: dict[tuple[int, int], Array] = {}
    for i, parent in enumerate(model.parents):
        for k in range(i, n):
            own = share[i].get(k, np.zeros((size[i], size[k])))
            above = np.zeros((6, size[k])) if parent < 0 else X[i].motion(a[parent][k])
            block, a[i][k] = joints[i].accelerate(above, own)
            inverse[i, k] = symmetric(block) if i == k else block
            inverse[k, i] = inverse[i, k].T
    return grid([[inverse[i, k] for k in range(n)] for i in range(n)])
