"""The iiwa's explicit Euler step q + h v, v + h a for the benches of `adjoint`, free and with its flange welded."""

import casadi as ca
from trisweep.adjoint import expand, solved
from trisweep.dynamics import weld
from trisweep.problems.robot import robot

STEP = 0.05
SETTINGS = {"unconstrained": (), "constrained": (weld("iiwa_flange", period=None),)}
# Automatic differentiation goes through the solver, and which is best for it is another question.
METHODS = {"unconstrained": ("aba",), "constrained": ("pv-early", "ltl")}


class IiwaStep:
    """Symbols x = (tau, q, v), the unknowns a and forces of the dynamics' node, and the step they make."""

    def __init__(self, setting: str, method: str | None = None):
        self.model, constraints = robot("iiwa14"), SETTINGS[setting]
        self.tau, self.q, self.v = (ca.SX.sym(name, 7) for name in ("tau", "q", "v"))
        self.x = ca.vertcat(self.tau, self.q, self.v)
        found = self.model.forward_dynamics(self.q, self.v, self.tau, constraints, method)
        self.a, self.forces = found if constraints else (found, ())
        self.y = ca.vertcat(self.a, *self.forces)
        self.next = ca.vertcat(self.q + STEP * self.v, self.v + STEP * self.a)
        self.eta = ca.SX.sym("eta", 14)

    def by_adjoint(self) -> ca.Function:
        """Jacobian and lower half of the Hessian of the step, fused."""
        e = expand(self.x, self.next, self.eta)
        return ca.Function("adjoint", [self.x, self.eta], [e.jacobian, ca.tril(e.hessian)])

    def by_casadi(self) -> ca.Function:
        """The same by automatic differentiation through the solver."""
        f = solved(self.next)
        hessian, _ = ca.hessian(self.eta.T @ f, self.x)
        both = ca.cse([ca.jacobian(f, self.x), ca.tril(hessian)])
        return ca.Function("casadi", [self.x, self.eta], both)
