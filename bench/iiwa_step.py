"""The iiwa's explicit Euler step q + h v, v + h a for the benches of `adjoint`, free and with its flange welded."""

import casadi as ca
from trisweep.adjoint import expand, solved
from trisweep.dynamics import weld
from trisweep.problems.robot import robot

STEP = 0.05
SETTINGS = {"unconstrained": (), "constrained": (weld("iiwa_flange", period=None),)}


class IiwaStep:
    """Symbols x = (tau, q, v), unknowns y = (a, forces) of the dynamics' node, multipliers of the step and of y."""

    def __init__(self, setting: str):
        self.model, constraints = robot("iiwa14"), SETTINGS[setting]
        self.tau, self.q, self.v = (ca.SX.sym(name, 7) for name in ("tau", "q", "v"))
        self.x = ca.vertcat(self.tau, self.q, self.v)
        found = self.model.forward_dynamics(self.q, self.v, self.tau, constraints)
        self.a, self.forces = found if constraints else (found, ())
        self.y = ca.vertcat(self.a, *self.forces)
        self.next = ca.vertcat(self.q + STEP * self.v, self.v + STEP * self.a)
        self.eta_next, self.eta = ca.SX.sym("eta_next", 14), ca.SX.sym("eta", self.y.numel())

    def function(self, *outputs: ca.SX) -> ca.Function:
        """The outputs as a function of x and the multipliers of the step."""
        return ca.Function("step", [self.x, self.eta_next], list(outputs))

    def by_adjoint(self) -> ca.Function:
        """Jacobian and lower half of the Hessian of the step, fused."""
        e = expand(self.x, self.next, self.eta_next)
        return self.function(e.jacobian, ca.tril(e.hessian))

    def by_casadi(self) -> ca.Function:
        """The same by automatic differentiation through the solver."""
        f = solved(self.next)
        hessian, _ = ca.hessian(self.eta_next.T @ f, self.x)
        return self.function(*ca.cse([ca.jacobian(f, self.x), ca.tril(hessian)]))
