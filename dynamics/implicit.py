"""Forward dynamics as an implicit node (004 Sec. 6, eqs. 39 to 43): inverse dynamics is the residual, a sweep solves.

With the constraints' forces among the unknowns y = (a, forces), and R the softness of the soft methods, else 0:

    g = (ID(q, v, a) - J' forces - tau,  k - K a - R forces)        dg/dy = [M -J'; -J -R]

which is symmetric. Without constraints its inverse is that of the mass matrix; with them it is what the solver, which
is linear in them, makes of unit joint forces and unit demands: d(a, forces)/d(tau, -k).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import casadi as ca

from ..adjoint import Derivatives, implicit
from .constraint import Constraint, demands
from .inverse_mass import inverse_mass
from .motion import motion
from .rnea import body_accelerations, newton_euler
from .scalar import Array, rows

if TYPE_CHECKING:
    from .model import Model


def forward_node(
    model: Model,
    q: Array,
    v: Array,
    tau: Array,
    constraints: Sequence[Constraint],
    external: Sequence[Array | None] | None,
    solve: Callable,
    soft: bool,
) -> tuple[ca.SX, list[ca.SX]]:
    """Accelerations (nv, 1) and the constraints' forces, unknowns of a node; `solve` is a method of `forward`."""
    a = ca.SX.sym("a", model.nv)
    forces = [ca.SX.sym(f"force on {constraint.link}", constraint.size) for constraint in constraints]
    y = ca.vertcat(a, *forces)
    g = residual(model, q, v, tau, a, constraints, forces, external, soft)

    def solver(tau: Array, constraints: Sequence[Constraint]) -> ca.SX:
        accelerations, found = solve(model, q, v, tau, constraints, external)
        return ca.vertcat(accelerations, *found)

    derivatives = ForwardDerivatives(y, g, model, q, tau, constraints, solver)
    implicit(f"forward dynamics of '{model.name}'", y, g, solver(tau, constraints), derivatives=derivatives)
    return a, forces


def residual(
    model: Model,
    q: Array,
    v: Array,
    tau: Array,
    a: Array,
    constraints: Sequence[Constraint],
    forces: Sequence[Array],
    external: Sequence[Array | None] | None,
    soft: bool,
) -> Array:
    """g (nv + m, 1), in one forward and one backward sweep."""
    move = motion(model, q, v)
    accelerations = body_accelerations(model, move, a)
    pushes = [None] * model.size if external is None else list(external)
    missing = []
    for row, force in zip(demands(model, constraints, v, move), forces):
        push = row.K.T @ force
        pushes[row.body] = push if pushes[row.body] is None else pushes[row.body] + push
        lag = row.k - row.K @ accelerations[row.body]
        missing.append(lag - row.softness * force if soft else lag)
    joint_forces = newton_euler(model, move, accelerations, pushes) + model.armature.reshape(-1, 1) * a
    return rows([joint_forces - tau, *missing])


class ForwardDerivatives(Derivatives):
    """The derivatives of g; the inverse of dg/dy comes from the sweeps."""

    def __init__(
        self,
        y: ca.SX,
        g: ca.SX,
        model: Model,
        q: Array,
        tau: Array,
        constraints: Sequence[Constraint],
        solver: Callable[[Array, Sequence[Constraint]], ca.SX],
    ):
        super().__init__(y, g)
        self.model, self.q, self.tau, self.constraints, self.solver = model, q, tau, constraints, solver

    @cached_property
    def inverse(self) -> ca.SX:
        if not self.constraints:
            return inverse_mass(self.model, self.q)
        more = ca.SX.sym("more", self.unknowns.numel())
        starts = [0, self.model.nv]
        for constraint in self.constraints:
            starts.append(starts[-1] + constraint.size)
        joint, *demanded = ca.vertsplit(more, starts)
        pairs = zip(self.constraints, demanded)
        shifted = [replace(row, k=row.k - part, softness=row.softness.ravel()) for row, part in pairs]
        y = self.solver(self.tau + joint, shifted)
        lower = ca.tril(ca.jacobian(y, more))
        return ca.tril2symm(ca.substitute(lower, more, ca.SX.zeros(more.shape)))
