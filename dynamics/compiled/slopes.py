"""First derivatives of dynamics, by increments d of the configuration at d = 0 and by (v, tau) or (v, a).

Forward dynamics is an implicit node, differentiated by the adjoint method (Sathya 2024c Sec. 2.4); inverse dynamics is
differentiated as it stands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca

from ..algebra.arrays import Array
from ..constraints.constraint import Constraint
from ..free.passive import passive_forces
from ..free.rnea import body_accelerations, newton_euler
from ..free.tree_motion import tree_motion_along
from ..joints.configuration import integrate
from ..joints.tangent import nudged

if TYPE_CHECKING:
    from ..model import Model


def of_forward_dynamics(
    model: Model, q: ca.SX, v: ca.SX, tau: ca.SX, constraints: tuple[Constraint, ...]
) -> list[Array]:
    """Slopes of the accelerations by d, v and tau, then those of all constraint forces."""
    from ...adjoint import expand

    d = ca.SX.sym("d", model.nv)
    at = ca.SX(model.integrate(q, d))
    if constraints:
        a, forces = model.forward_dynamics(at, v, tau, constraints)
        outputs = ca.vertcat(a, *forces)
    else:
        outputs = model.forward_dynamics(at, v, tau)
    jacobian = expand(ca.vertcat(d, v, tau), outputs).jacobian
    at_rest = ca.substitute(jacobian, d, ca.SX.zeros(d.shape))
    parts = [ca.horzsplit(part, model.nv) for part in ca.vertsplit(at_rest, [0, model.nv, outputs.numel()])]
    return [*parts[0], *parts[1]] if constraints else list(parts[0])


def of_inverse_dynamics(model: Model, q: ca.SX, v: ca.SX, a: ca.SX) -> list[Array]:
    """Slopes of the joint forces by d, v and a."""
    d = ca.SX.sym("d", model.nv)
    move = tree_motion_along(model, nudged(model, q, d), v)
    tau = newton_euler(model, move, body_accelerations(model, move, a)) + model.armature.reshape(-1, 1) * a
    if model.passive:
        tau = tau - passive_forces(model, integrate(model, q, d), v)
    by_motion = ca.jtimes(ca.SX(tau), ca.vertcat(d, v), ca.SX.eye(model.nv), True).T  # fewer operations than forward
    at_rest = ca.substitute(ca.densify(by_motion), d, ca.SX.zeros(d.shape))
    return [*ca.horzsplit(at_rest, model.nv), model.mass_matrix(q)]
