"""Integrators: from the states' derivatives to the next state, on expressions.

x' = f(x) with the control held over a step h. The derivatives may rest on implicit nodes (forward dynamics); where a
method needs f at another state than x, `relocate` lays the nodes out again there, and an
implicit step is a node of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca

from ..adjoint import implicit, relocate, solved
from ..riccati import ProblemError

if TYPE_CHECKING:
    from .problem import Problem

# Newton's iterations of an implicit step, from an explicit guess. Each about doubles the correct digits; what is left
# after the last is below 1e-12 for steps on which the method makes sense.
NEWTON_ITERATIONS = 5


def step(problem: Problem) -> ca.SX:
    """The next state (nx), by the problem's integrator; the duration, where it is free, stays."""
    x = ca.vertcat(*(v.symbol for v in problem.states))
    rates = [ca.SX(1, 1) if v.name in problem.held else problem.dynamics[v.name] for v in problem.states]
    return METHODS[problem.integrator](problem, ca.vertcat(*rates), x, problem.time_step)


def euler(problem: Problem, f: ca.SX, x: ca.SX, h: ca.SX | float) -> ca.SX:
    """x + h f(x): explicit, first order."""
    return x + h * f


def semi_implicit_euler(problem: Problem, f: ca.SX, x: ca.SX, h: ca.SX | float) -> ca.SX:
    """Euler in the order in which states depend on each other: what has taken its step is used by those that follow.

    With q' = v and v' = a(q, v, u): v+ = v + h a, then q+ = q + h v+. States whose derivative is another come last.
    """
    names = [v.name for v in problem.states]
    places = {v.name: v for v in problem.states}
    follows = {
        name: [other for other in names if other != name and _is(problem.dynamics[name], places[other].symbol)]
        for name in names
    }
    if not any(follows.values()):
        raise ProblemError(
            "integrator 'semi-implicit euler': no derivative is another state, as in q' = v; use 'euler'"
        )
    at, rates = 0, {}
    for v in problem.states:
        rates[v.name] = f[at : at + v.size]
        at += v.size
    first = {name: places[name].symbol + h * rates[name] for name in names if not follows[name]}
    return ca.vertcat(
        *(
            first[name] if name in first else places[name].symbol + h * first.get(follows[name][0], rates[name])
            for name in names
        )
    )


def rk4(problem: Problem, f: ca.SX, x: ca.SX, h: ca.SX | float) -> ca.SX:
    """The classical Runge-Kutta method: explicit, fourth order."""
    k1 = f
    k2 = relocate(f, x, x + h / 2 * k1)
    k3 = relocate(f, x, x + h / 2 * k2)
    k4 = relocate(f, x, x + h * k3)
    return x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def implicit_midpoint(problem: Problem, f: ca.SX, x: ca.SX, h: ca.SX | float) -> ca.SX:
    """y = x + h f((x + y) / 2): implicit, second order, keeps quadratic invariants. Solved by Newton's method."""
    y = ca.SX.sym("next", x.numel())
    middle = relocate(f, x, (x + y) / 2)
    residual = y - x - h * middle
    explicit = solved(residual)
    slope = ca.jacobian(explicit, y)
    guess = x + h * solved(f)
    for _ in range(NEWTON_ITERATIONS):
        r, J = ca.substitute([explicit, slope], [y], [guess])
        guess = guess - ca.solve(J, r)
    return implicit("midpoint", y, residual, guess)


def _is(expression: ca.SX, symbol: ca.SX) -> bool:
    return expression.shape == symbol.shape and ca.is_equal(expression, symbol, 1)


METHODS = {
    "euler": euler,
    "semi-implicit euler": semi_implicit_euler,
    "rk4": rk4,
    "implicit midpoint": implicit_midpoint,
}
