"""The proximal iteration that all methods for loops share (Sathya 2025 Sec. III-D, Carpentier 2021 eqs. 4 and 5).

With G = J M^-1 J', and forces lambda on the robot, iteration k solves

    [M  -J'  ] [a     ]   [tau - h        ]
    [J  1/mu ] [lambda] = [k + lambda_k/mu]

whose matrix is regular whatever the rank of J. The residual of the rows, r = k - J a, then shrinks in each
eigenvector of G, of eigenvalue s, by 1 / (1 + mu s), and lambda_{k+1} = lambda_k + mu r. The limit from lambda_0 = 0 is
the solution with the forces of least norm; rows that contradict each other are met in the least-squares sense: r tends
to what no force can change, and adds mu r to the forces in every iteration, which is taken off them in the end.

A method is a `ProximalFactorization`: `first` is a whole solve, `again` an iteration on the same factorization.
Iterations stop when the error that is left (`error_estimate`) is within `tolerance` of the largest acceleration.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..algebra.arrays import Array, dot, is_symbolic, largest, nonzero, rows, where
from ..constraints.ground import LOOP_METHODS, sites
from ..constraints.loops import on_bodies
from ..forward_problem import ForwardProblem
from ..free.rnea import body_accelerations, newton_euler
from .default_mu import weight
from .error_estimate import NEGLIGIBLE, Measures, error_estimate
from .factorization import ProximalFactorization
from .settings import DEFAULT, NUMERIC, SYMBOLIC, Proximal, ProximalReport


def solve(
    method: type[ProximalFactorization],
    problem: ForwardProblem,
    settings: Proximal = DEFAULT,
    forces: Sequence[Array] | None = None,
) -> tuple[Array, list[Array], ProximalReport | None]:
    """Accelerations (nv, 1), forces and, of numbers, the report."""
    mu = settings.mu or weight(problem.model, problem.constraints, method.stiffness)
    iterate = Iterate(method, problem, mu, forces, settings.steps)
    if is_symbolic(iterate.w):
        if problem.constraints:
            for _ in range((settings.iterations or SYMBOLIC) - 1):
                iterate.advance()
            iterate.refine()
        return iterate.a, iterate.split(iterate.force), None
    report = run(iterate, settings)
    return iterate.a, iterate.split(iterate.settled() if report.converged else iterate.force), report


def run(iterate: Iterate, settings: Proximal) -> ProximalReport:
    """Iterations on numbers until they have converged, or are as many as the settings allow."""
    method, mu = iterate.factorization.name, iterate.mu
    if not iterate.problem.constraints:
        return ProximalReport(method, mu, 1, 0.0, 0.0, True, 0.0)
    error = np.inf
    while not error <= settings.tolerance and iterate.count < (settings.iterations or NUMERIC):
        iterate.advance()
        error = iterate.error()
    iterate.refine()
    return ProximalReport(
        method,
        mu,
        iterate.count,
        float(np.asarray(iterate.largest_residual()).item()),
        iterate.error(),
        error <= settings.tolerance,
        float(np.asarray(iterate.missed()).item()),
    )


class Iterate:
    """Accelerations, forces and the residual of the rows, from one iteration to the next.

    With E = (1 + mu G)^-1, an iteration takes r to E r = r - B r. A plain one goes that far; a conjugate one goes, by
    the same sweep, to the least |r| that the directions so far can reach (conjugate residuals on B, which is singular
    where rows depend on each other, and which cares for no part of r that no force can change). `unmeetable` counts, in
    plain iterations, how often such a part has been added to the forces.
    """

    def __init__(
        self,
        method: type[ProximalFactorization],
        problem: ForwardProblem,
        mu: float,
        forces: Sequence[Array] | None = None,
        steps: str = "conjugate",
    ):
        self.problem, self.mu, self.steps, self.count = problem, mu, steps, 1
        if method.name not in LOOP_METHODS:
            sites(problem.model, problem.constraints)  # refuses loops
        self.factorization = method(problem, mu)
        start = [np.zeros((row.size, 1)) for row in problem.couplings] if forces is None else list(forces)
        self.w, residual = self.factorization.first(start)
        self.residual = rows([np.zeros((0, 1)), *residual])
        self.force = rows([np.zeros((0, 1)), *start]) + mu * self.residual
        self.unmeetable: Array = np.ones((1, 1))
        self.direction: Direction | None = None
        self.change: Array = np.full((1, 1), np.inf)
        self.rr: Array = np.ones((1, 1))
        self.rB: Array = np.ones((1, 1))
        self.BB: Array = np.ones((1, 1))

    def advance(self) -> None:
        """An iteration on the factorization there is."""
        r = self.residual
        step, after = self.factorization.again(self.split(r))
        left = rows(after)
        self.rr, self.rB, self.BB = dot(r, r), dot(r, r - left), dot(r - left, r - left)
        self.change = largest(step)
        d = Direction(step, self.mu * left, r - left, np.ones((1, 1)), self.rB)
        alpha: Array = np.ones((1, 1))
        if self.steps == "conjugate":
            significant = self.rB > NEGLIGIBLE * self.rr
            if self.direction is not None:
                d = d.beside(self.direction, where(significant, self.rB / nonzero(self.direction.rB), 0.0))
            alpha = where(significant, self.rB / nonzero(dot(d.B, d.B)), 1.0)
        self.w, self.force = self.w + alpha * d.w, self.force + alpha * d.force
        self.residual, self.unmeetable = r - alpha * d.B, self.unmeetable + alpha * d.unmeetable
        self.direction, self.count = d, self.count + 1

    def refine(self) -> None:
        """Take off the rounding of a method that has mu in its inertias: solve again for what is left of M a + h = tau
        + J' lambda.
        """
        if not self.factorization.refines:
            return
        problem, model, a = self.problem, self.problem.model, self.a
        external = [np.zeros((6, 1)) if f is None else f for f in problem.external or [None] * model.size]
        pushes = on_bodies(external, problem.couplings, self.split(self._forces_met(NEGLIGIBLE)))
        carried = newton_euler(model, problem.move, body_accelerations(model, problem.move, a), pushes)
        step, felt = self.factorization.response(problem.tau - carried - model.armature.reshape(-1, 1) * a)
        all_felt = rows([np.zeros((0, 1)), *felt])
        self.w, self.force = self.w + step, self.force - self.mu * all_felt
        self.residual = self.residual - all_felt

    @property
    def a(self) -> Array:
        """The accelerations (nv, 1)."""
        return self.factorization.accelerations(self.w)

    def split(self, stacked: Array) -> list[Array]:
        """The part of each constraint."""
        held = self.problem.couplings
        ends = np.cumsum([row.size for row in held])
        return [stacked[end - row.size : end, :] for end, row in zip(ends.tolist(), held)]

    def settled(self) -> Array:
        """The forces, stacked, without what contradictory rows have added to them in every iteration."""
        return self._forces_met(0.5)

    def _forces_met(self, share: float) -> Array:
        """The forces without what they owe to rows that cannot be met, if no more than a share of the residual can."""
        if self.direction is None:
            return self.force
        return self.force - where(self.rB < share * self.rr, self.unmeetable * self.mu, 0.0) * self.residual

    def measures(self) -> Measures:
        """What the error is estimated from."""
        size = np.ones((1, 1)) if self.direction is None else largest(self.a)
        return Measures(self.change, self.rr, self.rB, self.BB, size, largest(self.residual))

    def error(self) -> float:
        """Of numbers, an estimate of the accelerations' relative error."""
        return float(np.asarray(error_estimate(*(np.asarray(part) for part in self.measures()))).item())

    def largest_residual(self) -> Array:
        """max |k - J a|, from the accelerations alone."""
        accelerations = body_accelerations(self.problem.model, self.problem.move, self.a)
        return largest(rows([row.residual(accelerations) for row in self.problem.couplings]))

    def missed(self) -> Array:
        """The same beside the largest acceleration or demand or 1."""
        return self.largest_residual() / largest(
            rows([np.ones((1, 1)), self.a, *(row.k for row in self.problem.couplings)])
        )


class Direction(NamedTuple):
    """What a step adds to w and to the forces, and takes off the residual; its part along rows that no force can meet;
    r' B r.
    """

    w: Array
    force: Array
    B: Array
    unmeetable: Array
    rB: Array

    def beside(self, before: Direction, beta: Array) -> Direction:
        """This direction made conjugate to the one before."""
        w, force, B, unmeetable = (new + beta * old for new, old in zip(self[:4], before[:4]))
        return Direction(w, force, B, unmeetable, self.rB)
