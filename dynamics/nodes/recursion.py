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
from ..constraints.loops import bodies_of
from ..constraints.row_sizes import row_sizes
from ..forward_problem import ForwardProblem
from ..free.rnea import felt_by_joints

if TYPE_CHECKING:
    from ..model import Model

Tables = TypeVar("Tables", core.Tree, core.Held, core.ClosedLoop)


def has_tables(model: Model, constraints: Sequence[Constraint]) -> bool:
    """True where the recursions know the problem: rows of numbers on links against the ground."""
    return of_numbers(model, constraints) and not any(closes_loop(model, row) for row in constraints)


def of_numbers(model: Model, constraints: Sequence[Constraint]) -> bool:
    """True where neither the robot nor the rows are made of symbols."""
    stated = [part for row in constraints for part in (row.K, row.k, *(more.K for more in row.more))]
    return not model.symbols.numel() and not is_symbolic(*stated)


def tree(model: Model, constraints: Sequence[Constraint], soft: bool, loops: bool = False) -> core.Tree:
    """The tables of a robot held by constraints against the ground; with `loops` these may follow, else they are
    refused.
    """
    ground = [row for row in constraints if not closes_loop(model, row)] if loops else constraints
    made = core.Tree()
    made.parent, made.axes = list(model.parents), [list(joint.axes) for joint in model.joints]
    made.inertia = [number for body in model.inertias for number in _moments(np.asarray(body.matrix))]
    made.armature, made.gravity = _listed(model.armature), _listed(model.gravity)
    ends = np.cumsum([row.size for row in constraints])[:-1]
    least = np.split(row_sizes(model, constraints).least, ends) if constraints else []
    held = zip(ground, sites(model, ground), least)
    made.held = [_held(on_ground(model, row), site, soft, felt) for row, site, felt in held]
    made.loops = [_loop(model, row, felt) for row, felt in zip(constraints[len(ground) :], least[len(ground) :])]
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
    ground = [row for row in problem.constraints if not closes_loop(problem.model, row)]
    stacked = rows([*poses, problem.v, tau, *(row.k for row in ground)])
    return ca.densify(stacked) if is_symbolic(stacked) else stacked


def tables(made: core.Tree | core.Held | core.ClosedLoop) -> dict[str, Any]:
    """The core's tables as plain data."""
    names = [name for name, part in vars(type(made)).items() if isinstance(part, property)]
    plain = {name: getattr(made, name) for name in names}
    if not isinstance(made, core.Tree):
        return plain
    return plain | {"held": [tables(row) for row in made.held], "loops": [tables(row) for row in made.loops]}


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
copyreg.pickle(core.ClosedLoop, _pickled)


def _listed(x: Array) -> list[float]:
    return np.asarray(x, dtype=float).ravel().tolist()


def _moments(I: np.ndarray) -> list[float]:
    first = [I[2, 4], I[0, 5], I[1, 3]]
    return [I[3, 3], *first, I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]


def loop_dofs(model: Model, row: Constraint) -> list[int]:
    """The dofs that move the bodies of a loop, the furthest from the root first."""
    bodies = {i for body in bodies_of(model, row) for i in model.support(body)}
    return sorted((k for i in bodies for k in range(*model.v_slices[i].indices(model.nv))), reverse=True)


def _loop(model: Model, row: Constraint, least: np.ndarray) -> core.ClosedLoop:
    made = core.ClosedLoop()
    made.dofs, made.least = loop_dofs(model, row), _listed(least)
    return made


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
