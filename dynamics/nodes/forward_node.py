"""Forward dynamics as an implicit node (Sathya 2024c Sec. 6, eqs. 39 to 43): inverse dynamics is the residual, a
sweep solves.

With the constraints' forces among the unknowns y = (a, forces), and R the softness of the soft methods, else 0:

    g = (ID(q, v, a) - J' forces - tau,  k - K a - R forces)        dg/dy = [M -J'; -J -R]

which is symmetric. Without constraints its inverse is that of the mass matrix; with them it is what the solver, which
is linear in them, makes of unit joint forces and unit demands: d(a, forces)/d(tau, -k).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from typing import TypeAlias

import casadi as ca

from ...adjoint import Beside, Derivatives, Recursion, implicit, lower_hessian
from ...cached import cached_property
from ..algebra.arrays import Array, is_symbolic, rows
from ..constraints.ground import closes_loop
from ..constraints.loops import couplings, on_bodies
from ..forward_problem import Answer, ForwardProblem, Method
from ..free.inverse_mass import inverse_mass
from ..free.rnea import body_accelerations, felt_by_joints, newton_euler
from ..free.tree_motion import TreeMotion, tree_motion_along
from ..joints.tangent import increment, nudged

# What solves and differentiates a problem for unknowns y.
Way: TypeAlias = "Callable[[ca.SX, ForwardProblem], ForwardDerivatives]"


def forward_node(problem: ForwardProblem, ways: Sequence[Way]) -> list[ca.SX]:
    """Accelerations (nv, 1) and each constraint's forces, unknowns of a node; of the ways to solve for them the
    cheapest is taken.
    """
    order = sorted(range(len(problem.constraints)), key=lambda i: closes_loop(problem.model, problem.constraints[i]))
    if order != sorted(order):  # the core has loops last
        a, *forces = forward_node(replace(problem, constraints=[problem.constraints[i] for i in order]), ways)
        return [a, *(forces[order.index(i)] for i in range(len(order)))]
    parts = [ca.SX.sym("a", problem.model.nv)]
    parts += [ca.SX.sym(f"force on {constraint.link}", constraint.size) for constraint in problem.constraints]
    y = ca.vertcat(*parts)
    choices = [way(y, problem) for way in ways]
    known = choices[0] if len(choices) == 1 else ForwardDerivatives(y, problem, Cheapest(choices))
    if len(choices) == 1 and (known.recursion is None or known.recursion.beside is None):
        known.solution  # noqa: B018  a method that cannot take these constraints says so here
    name, g = f"forward dynamics of '{problem.model.name}'", residual(problem, y, problem.move, known.soft)
    sources = ca.vertcat(problem.q, problem.v, problem.tau, known.others)
    implicit(name, y, g, known.solved, derivatives=known, sources=sources)
    return parts


@dataclass(frozen=True, eq=False)
class Cheapest:
    """The method with the fewest operations, which is looked for where one is first needed: the core may not."""

    choices: Sequence[ForwardDerivatives]

    def __call__(self, problem: ForwardProblem) -> Answer:
        return self.solve(problem)

    @cached_property
    def solve(self) -> Method:
        return min(self.choices, key=ForwardDerivatives.operations).solve


def split(problem: ForwardProblem, y: ca.SX) -> list[ca.SX]:
    """Accelerations, then each constraint's forces."""
    sizes = [problem.model.nv, *(constraint.size for constraint in problem.constraints)]
    return ca.vertsplit(y, list(accumulate(sizes, initial=0)))


def stacked(problem: ForwardProblem, solve: Method) -> ca.SX:
    """y by a method."""
    a, forces = solve(problem)
    return ca.vertcat(a, *forces)


def residual(problem: ForwardProblem, y: ca.SX, move: TreeMotion, soft: bool) -> ca.SX:
    """g (nv + m, 1), in one forward and one backward sweep."""
    model, (a, *forces) = problem.model, split(problem, y)
    accelerations = body_accelerations(model, move, a)
    pushes: list[Array | None] = list(problem.external or [None] * model.size)
    missing = []
    held = couplings(model, problem.constraints, problem.v, move)
    for constraint, row, force in zip(problem.constraints, held, forces):
        for body, K in row.parts:
            push, known = K.T @ force, pushes[body]
            pushes[body] = push if known is None else known + push
        lag = row.residual(accelerations)
        missing.append(lag - constraint.softness * force if soft else lag)
    joint_forces = newton_euler(model, move, accelerations, pushes) + model.armature.reshape(-1, 1) * a
    return ca.SX(rows([joint_forces - problem.tau, *missing]))


class ForwardDerivatives(Derivatives):
    """The derivatives of g, taken in increments d of the configuration at d = 0.

    The inputs are (d, v, tau) and whatever symbols the demands, the rows and the external forces are made of; d and v
    run from the tip to the base, which leaves the fewest operations below the curvature's diagonal. While g is
    differentiated, symbols of its own stand for q, v and tau, whatever expressions those are.
    """

    def __init__(self, y: ca.SX, problem: ForwardProblem, solve: Method, soft: bool = False):
        self.unknowns, self.problem, self.solve, self.soft = y, problem, solve, soft
        model = problem.model
        self.d, self.q0 = ca.SX.sym("d", model.nv), ca.SX.sym("q0", model.nq)
        self.own = {name: ca.SX.sym(name, getattr(problem, name).shape) for name in ("q", "v", "tau")}
        self.anchors = ((self.q0, ca.SX(problem.q)),)

    @cached_property
    def solution(self) -> ca.SX:
        """y by the method."""
        return stacked(self.problem, self.solve)

    def solved(self) -> ca.SX:
        """The same, for who asks later."""
        return self.solution

    def operations(self) -> int:
        """The instructions of the solution and the inverse together."""
        both = ca.cse([self.solution, ca.tril(self.inverse)])
        return ca.Function("both", ca.symvar(ca.veccat(*both)), both).n_instructions()

    @cached_property
    def others(self) -> ca.SX:
        """The symbols of the constraints, of the external forces and of the inertias."""
        stated = [part for row in self.problem.constraints for part in (row.K, row.k, *(each.K for each in row.more))]
        rows_and_demands = [part for part in stated if is_symbolic(part)]
        pushes = [push for push in self.problem.external or () if isinstance(push, ca.SX)]
        return ca.vertcat(ca.SX(0, 1), *ca.symvar(ca.veccat(self.problem.model.symbols, *rows_and_demands, *pushes)))

    @cached_property
    def inputs(self) -> ca.SX:
        problem = self.problem
        d = increment(problem.model, self.q0, ca.SX(problem.q))
        return ca.vertcat(d[::-1], problem.v[::-1], problem.tau, self.others)

    @cached_property
    def recursion(self) -> Recursion | None:
        """By the core, where it knows the constraints; the inputs are (d, v, tau)."""
        from .recursion import has_tables

        if self.problem.external is not None or not has_tables(self.problem.model, self.problem.constraints):
            return None
        return self._recursion(None)

    def _recursion(self, beside: Callable[[], Beside] | None) -> Recursion:
        from .recursion import arguments, tree

        problem, soft = self.problem, self.soft
        d = increment(problem.model, self.q0, ca.SX(problem.q))
        inputs = ca.vertcat(d, problem.v, problem.tau)
        tables = partial(tree, problem.model, problem.constraints, soft, loops=beside is not None)
        return Recursion(tables, ca.SX(arguments(problem)), inputs, beside)

    def _loops_beside(self) -> Beside:
        """What the loops add to g: -J' forces, and k - J a below; by CasADi, for the joints of loops are few."""
        from .recursion import loop_dofs

        problem, own, y = self.problem, self.own, self.unknowns
        model, (a, *forces) = problem.model, split(problem, y)
        move = tree_motion_along(model, nudged(model, own["q"], self.d), own["v"])
        first = sum(not closes_loop(model, row) for row in problem.constraints)
        loops, forces = problem.constraints[first:], forces[first:]
        held = couplings(model, loops, own["v"], move)
        pushes = on_bodies([ca.SX.zeros(6, 1)] * model.size, held, forces)
        accelerations = body_accelerations(model, move, a)
        lacking = [ca.SX(row.residual(accelerations)) for row in held]
        ground = sum(row.size for row in problem.constraints[:first])
        g = ca.vertcat(-felt_by_joints(model, move, pushes), ca.SX(ground, 1), *lacking)
        w, mu = ca.vertcat(self.d, own["v"]), ca.SX.sym("mu", y.numel())
        J = [-ca.jacobian(row, a)[:, loop_dofs(model, loop)] for row, loop in zip(lacking, loops)]
        at_rest = ca.substitute(ca.vertcat(*lacking), a, ca.SX.zeros(a.shape))
        matrix = ca.vertcat(*(ca.vec(ca.densify(rows_of.T)) for rows_of in J), at_rest)
        curvature = lower_hessian(g, mu, ca.vertcat(w, y))
        return Beside(self._here(matrix), self._here(ca.jacobian(g, w)), self._here(curvature), mu)

    @cached_property
    def _residual(self) -> ca.SX:
        """g in d, the own symbols, the other symbols and y."""
        model, own = self.problem.model, self.own
        move = tree_motion_along(model, nudged(model, own["q"], self.d), own["v"])
        problem = replace(self.problem, q=own["q"], v=own["v"], tau=own["tau"])
        return residual(problem, self.unknowns, move, self.soft)

    @cached_property
    def jacobian(self) -> ca.SX:
        """In reverse mode, row by row, which needs the fewest operations where it is alone."""
        return self._here(ca.jtimes(self._residual, self._w, ca.SX.eye(self.unknowns.numel()), True).T)

    @cached_property
    def jacobian_beside_curvature(self) -> ca.SX:
        """In forward mode, column by column: the curvature needs the same tangents."""
        return self._here(ca.jtimes(self._residual, self._w, ca.SX.eye(self._w.numel())))

    def curvature(self, mu: ca.SX) -> ca.SX:
        return self._here(lower_hessian(self._residual, mu, ca.vertcat(self._w, self.unknowns)))

    @property
    def _w(self) -> ca.SX:
        return ca.vertcat(self.d[::-1], self.own["v"][::-1], self.own["tau"], self.others)

    def _here(self, expression: ca.SX) -> ca.SX:
        """The expression at d = 0, the own symbols replaced by what they stand for."""
        state = [ca.densify(ca.SX(getattr(self.problem, name))) for name in self.own]
        at_rest = ca.substitute(expression, self.d, ca.SX.zeros(self.d.shape))
        return ca.substitute([ca.sparsify(at_rest)], list(self.own.values()), state)[0]

    @cached_property
    def inverse(self) -> ca.SX:
        problem = self.problem
        if not problem.constraints:
            return ca.SX(inverse_mass(problem.model, problem.q))
        more = ca.SX.sym("more", self.unknowns.numel())
        joint, *demanded = split(problem, more)
        pairs = zip(problem.constraints, demanded)
        shifted = [replace(row, k=row.k - part) for row, part in pairs]
        y = stacked(replace(problem, tau=problem.tau + joint, constraints=shifted), self.solve)
        lower = ca.tril(ca.jacobian(y, more))
        return ca.tril2symm(ca.substitute(lower, more, ca.SX.zeros(more.shape)))
