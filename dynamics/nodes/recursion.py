"""Forward dynamics for the core's recursions over bodies (native/src/bodies): robot and constraints as plain tables.

The tables hold what never changes. What the recursions are given at every state are numbers of compiled expressions:
where each joint carries its body (so that the core knows nothing of joints but their axes), velocities, joint forces,
and the demands of the held rows.
"""

from __future__ import annotations

import copyreg
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import casadi as ca
import numpy as np

from ...native import core
from ..algebra.arrays import Array, is_symbolic, rows
from ..constraints.constraint import Constraint
from ..constraints.ground import Site, closes_loop, on_ground, sites
from ..constraints.row_sizes import row_sizes
from ..forward_problem import ForwardProblem
from ..free.rnea import felt_by_joints

if TYPE_CHECKING:
    from ..model import Model

Tables = TypeVar("Tables", core.Tree, core.Held)


def has_tables(model: Model, constraints: Sequence[Constraint]) -> bool:
    """True where the recursions know the problem: rows of numbers on links against the ground."""
    symbolic = model.symbols.numel() or any(is_symbolic(row.K, row.k) for row in constraints)
    return not symbolic and not any(closes_loop(model, row) for row in constraints)


def tree(model: Model, constraints: Sequence[Constraint], soft: bool) -> core.Tree:
    """The tables of a robot held by constraints against the ground."""
    made = core.Tree()
    made.parent, made.axes = list(model.parents), [list(joint.axes) for joint in model.joints]
    made.inertia = [number for body in model.inertias for number in _moments(np.asarray(body.matrix))]
    made.armature, made.gravity = _listed(model.armature), _listed(model.gravity)
    ends = np.cumsum([row.size for row in constraints])[:-1]
    least = np.split(row_sizes(model, constraints).least, ends) if constraints else []
    held = zip(constraints, sites(model, constraints), least)
    made.held = [_held(on_ground(model, row), site, soft, felt) for row, site, felt in held]
    return made


def arguments(problem: ForwardProblem) -> Array:
    """What the recursions are given at a state, as `Tree` in native/src/bodies/tree.hpp has it; forces on the bodies
    are given as what the joints feel of them.
    """
    poses = [part for X in problem.move.X for part in (X.R[:, 0:1], X.R[:, 1:2], X.R[:, 2:3], X.p)]
    tau = problem.tau
    if problem.external is not None:
        pushes = [np.zeros((6, 1)) if push is None else push for push in problem.external]
        tau = tau + felt_by_joints(problem.model, problem.move, pushes)
    stacked = rows([*poses, problem.v, tau, *(row.k for row in problem.constraints)])
    return ca.densify(stacked) if is_symbolic(stacked) else stacked


def tables(made: core.Tree | core.Held) -> dict[str, Any]:
    """The core's tables as plain data."""
    names = [name for name, part in vars(type(made)).items() if isinstance(part, property)]
    plain = {name: getattr(made, name) for name in names}
    return plain if isinstance(made, core.Held) else plain | {"held": [tables(row) for row in made.held]}


def _pickled(made: Tables) -> tuple[Callable[..., Tables], tuple[object, ...]]:
    names = [name for name, part in vars(type(made)).items() if isinstance(part, property)]
    return _made_of, (type(made).__name__, {name: getattr(made, name) for name in names})


def _made_of(kind: str, parts: dict[str, object]) -> Any:
    made = getattr(core, kind)()
    for name, part in parts.items():
        setattr(made, name, part)
    return made


copyreg.pickle(core.Tree, _pickled)
copyreg.pickle(core.Held, _pickled)


def _listed(x: Array) -> list[float]:
    return np.asarray(x, dtype=float).ravel().tolist()


def _moments(I: np.ndarray) -> list[float]:
    first = [I[2, 4], I[0, 5], I[1, 3]]
    return [I[3, 3], *first, I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]


def _held(row: Constraint, site: Site, soft: bool, least: np.ndarray) -> core.Held:
    made = core.Held()
    made.body, made.classical = site.body, row.classical
    made.R, made.p = _listed(site.frame.R), _listed(site.frame.p)
    made.K, made.softness, made.least = _listed(row.K), _listed(row.softness * soft), _listed(least)
    if row.period is not None:
        made.damping = 2 / row.period
        if row.target is not None:
            made.stiffness, made.target_p = 1 / row.period**2, _listed(row.target.p)
            made.target_R = [] if row.classical else _listed(row.target.R)
    return made
