"""The derivatives of forward dynamics by a proximal method, whose constraints' rows may depend on each other.

With G = J M^-1 J', E = (1 + mu G)^-1 and P the projector on what no acceleration can change, J' P = 0, n plain
iterations from zero forces give

    forces = mu (E + ... + E^n - n E^n) b -> G^+ b,   E^n -> P,   b = k - J a_free,

the forces of least norm, without what rounding adds to them along P in every iteration. There dg/dy = [M -J'; -J 0] is
singular where rows depend on each other. In its place stands [M -J'; -J -P], which is regular; its inverse is

    [M^-1 - M^-1 J' T J M^-1   -M^-1 J' T]
    [-T J M^-1                  -(T + P) ],    T = mu (E + ... + E^n - n E^n) -> G^+.

With P frozen, M a + h = tau + J' f, J a = k - P f has, near the point, as long as the rank of J stays and k is within
its range, the same accelerations and the same joint forces J' f as the mechanism: J a - k is in the range of J, P f is
not, so both vanish. Derivatives of accelerations are therefore exact, of any order. Forces are differentiated within
the directions that act on the mechanism at the point, which is exact too where those do not turn with the configuration
(in planar loops, for constraints said twice), and else leaves out what has no effect.
"""

from __future__ import annotations

from functools import partial

import casadi as ca
import numpy as np

from ...adjoint import Recursion
from ...cached import cached_property
from ..algebra.arrays import symmetric
from ..algebra.ldl import Factor
from ..constraints.ground import closes_loop
from ..constraints.loops import constraint_jacobian
from ..forward_problem import Answer, ForwardProblem
from ..free.inverse_mass import inverse_mass
from ..proximal.default_mu import weight
from ..proximal.factorization import ProximalFactorization
from ..proximal.iteration import Iterate
from ..proximal.prox_ltl import ProxLTL
from .forward_node import ForwardDerivatives

# Plain iterations of the solution: what the rows miss has shrunk to rounding where eigenvalues of G are above 1e-7 of
# the largest. The inverse is refined, so that n = 2^2 will do there.
ITERATIONS, DOUBLINGS = 8, 2

# mu times the largest eigenvalue of G, for the inverse and for "prox-ltl", which bears it.
STIFFNESS = 1e9


class ProximalDerivatives(ForwardDerivatives):
    """`kind` is the factorization of a proximal method."""

    def __init__(self, y: ca.SX, problem: ForwardProblem, kind: type[ProximalFactorization]):
        super().__init__(y, problem, partial(self._iterated, kind))
        self.mu = weight(problem.model, problem.constraints, STIFFNESS)
        self.solve_mu = weight(problem.model, problem.constraints, STIFFNESS if kind is ProxLTL else kind.stiffness)

    @cached_property
    def recursion(self) -> Recursion | None:
        """By the core where there are loops: a row that depends on those before it has no force there. None where all
        rows are against the ground: the core's recursion for these needs independent rows.
        """
        from .recursion import of_numbers

        p = self.problem
        loops = any(closes_loop(p.model, row) for row in p.constraints)
        if not loops or p.external is not None or not of_numbers(p.model, p.constraints):
            return None
        return self._recursion(self._loops_beside)

    def _iterated(self, kind: type[ProximalFactorization], problem: ForwardProblem) -> Answer:
        """Accelerations and forces after n plain iterations."""
        n = ITERATIONS
        iterate = Iterate(kind, problem, self.solve_mu, steps="plain")
        while iterate.count < n:
            iterate.advance()
        return iterate.a, iterate.split(iterate.force - n * self.solve_mu * iterate.residual)

    @cached_property
    def inverse(self) -> ca.SX:
        p = self.problem
        W = inverse_mass(p.model, p.q)
        J = constraint_jacobian(p.model, p.q, p.constraints)
        WJ = W @ J.T
        one, G = np.eye(J.shape[0]), symmetric(J @ WJ)
        E = symmetric(Factor(G + one / self.mu).solve(one)) / self.mu
        total, power = E, E
        for _ in range(DOUBLINGS):
            total, power = total + symmetric(total @ power), symmetric(power @ power)
        # Newton's steps towards a projector and towards a pseudo-inverse undo what 1/mu has made of rounding.
        square = symmetric(power @ power)
        P = 3 * square - 2 * symmetric(square @ power)
        T = self.mu * (total - 2**DOUBLINGS * power)
        T = 2 * T - symmetric(T @ G @ T)
        T = symmetric((one - P) @ T @ (one - P))
        B = WJ @ T
        below = ca.vertcat(ca.horzcat(W - B @ WJ.T, -B), ca.horzcat(-B.T, -(T + P)))
        return ca.tril2symm(ca.tril(ca.densify(below)))
