"""Exact derivatives of a cost on the force that holds an arm's flange, without differentiating a solver.

python examples/exact_derivatives.py
"""

import casadi as ca
import numpy as np
import trisweep as ts
from trisweep.adjoint import check, expand, solved
from trisweep.native import compile_function

arm = ts.robot("iiwa14")
q, v, tau = (ca.SX.sym(name, arm.nv) for name in ("q", "v", "tau"))
a, (force,) = arm.forward_dynamics(q, v, tau, constraints=[ts.weld("iiwa_flange")])

x = ca.vertcat(tau, q, v)
outputs = ca.vertcat(1e-3 * ca.sumsqr(force) + ca.sumsqr(a), v + 0.05 * a)  # a cost, and the next velocity
eta = ca.SX.sym("eta", outputs.numel())
e = expand(x, outputs, multipliers=eta)

at = np.concatenate([np.ones(7), arm.random_configuration(1), np.linspace(-1, 1, 7)])
result = check(x, outputs, at)
print("relative errors against automatic differentiation through the solver:")
print("  " + ", ".join(f"{name} {error:.0e}" for name, error in result.automatic.items()))

f = solved(outputs)
hessian, gradient = ca.hessian(eta.T @ f, x)
ours = ca.Function("ours", [x, eta], [e.values, e.jacobian, e.gradient, e.hessian])
theirs = ca.Function("theirs", [x, eta], [f, ca.jacobian(f, x), gradient, hessian])
print(f"instructions: {ours.n_instructions():,}, by automatic differentiation {theirs.n_instructions():,}")

horizon = compile_function(ours).batch(np.tile(at, (50, 1)), np.ones((1, eta.numel())))
print("compiled, for 50 stages:", ", ".join(f"{part.shape}" for part in horizon))
