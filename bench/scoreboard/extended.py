"""Random small problems with slopes over ten decades, and a Newton solve of their KKT conditions in 60 digits.

    minimise    sum_k r u_k^2 + p(x_k), k < STEPS,  + p(x_STEPS)      p = a (x - c)^2 + shape(x)
    subject to  x_{k+1} = x_k + s u_k + e x_k / (1 + x_k^2)
                [x_0 = first],   [x_STEPS (1 + d x_STEPS) = goal],   [|u| <= limit]

shape: b (x - c)^4, b exp(g x) or b / (h^2 + x^2). A statement is built once for each shape and set of rows; its
coefficients are parameters, drawn over ten decades. The same formulas run on CasADi's symbols and on mpmath's numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import casadi as ca
import mpmath as mp
import numpy as np
import trisweep as ts

STEPS, DIGITS, STEP = 2, 60, "1e-20"
NAMES = ("a", "b", "c", "d", "e", "g", "h", "r", "s", "first", "goal", "limit")
SAME = 1e-6  # share of the cost's terms by which an objective may differ
SHAPES: dict[str, Callable[[Any, dict[str, Any], Any], Any]] = {
    "polynomial": lambda x, q, _: q["b"] * (x - q["c"]) ** 4,
    "exponential": lambda x, q, exp: q["b"] * exp(q["g"] * x),
    "rational": lambda x, q, _: q["b"] / (q["h"] ** 2 + x**2),
}


class Form(NamedTuple):
    """What a problem is made of: its shape, and which of the rows in brackets it has."""

    shape: str
    start: bool
    goal: bool
    limit: bool


class Drawn(NamedTuple):
    """A problem: its form, the values of its coefficients, and a guess."""

    form: Form
    values: dict[str, float]
    guess: dict[str, float]


FORMS = [Form(*each) for each in product(SHAPES, (False, True), (False, True), (False, True))]


def draw(count: int, seed: int) -> Iterator[Drawn]:
    """So many random problems."""
    rng = np.random.default_rng(seed)

    def size(low: float, high: float) -> float:
        return float(10.0 ** rng.uniform(low, high))

    for i in range(count):
        values = {name: size(-5, 5) for name in ("a", "b", "r")}
        values |= {
            "s": size(-1, 1),
            "h": size(-2, 1),
            "e": float(rng.uniform(-0.5, 0.5)),
            "d": float(rng.uniform(0, 0.5)),
        }
        values |= {"g": float(rng.uniform(-5, 5)), "limit": size(-2, 2)}
        values |= {name: float(rng.choice([-1, 1])) * size(-2, 1) for name in ("c", "first")}
        values["goal"] = size(-2, 1)
        yield Drawn(FORMS[i % len(FORMS)], values, {name: float(rng.choice([-1, 1])) * size(-2, 1) for name in "xu"})


@cache
def solver(form: Form) -> ts.Solver:
    """What solves the problems of a form."""
    ocp = ts.Problem(steps=STEPS)
    q = {name: ocp.parameter(name) for name in NAMES}
    x = ocp.state("x")
    u = ocp.control("u", lower=-q["limit"], upper=q["limit"]) if form.limit else ocp.control("u")
    ocp.next(x=_next(x, u, q))
    ocp.minimize(q["r"] * u**2 + _cost(x, q, form, ca.exp))
    ocp.minimize(_cost(x, q, form, ca.exp), at="end")
    if form.start:
        ocp.constrain("start", x - q["first"], equals=0, at="start")
    if form.goal:
        ocp.constrain("goal", _goal(x, q), equals=0, at="end")
    return ocp.build()


def solve(drawn: Drawn, settings: ts.Settings | None = None) -> ts.Solution:
    """The answer to a drawn problem."""
    return solver(drawn.form).solve(drawn.guess, settings=settings, **drawn.values)


def _next(x: Any, u: Any, q: dict[str, Any]) -> Any:
    return x + q["s"] * u + q["e"] * x / (1 + x**2)


def _cost(x: Any, q: dict[str, Any], form: Form, exp: Callable[[Any], Any]) -> Any:
    return q["a"] * (x - q["c"]) ** 2 + SHAPES[form.shape](x, q, exp)


def _goal(x: Any, q: dict[str, Any]) -> Any:
    return x * (1 + q["d"] * x) - q["goal"]


class Confirmed(NamedTuple):
    """Where Newton's method ends from an answer: whether it does, the objective, and the answer's distance from it."""

    ended: bool
    objective: float
    apart: float


def confirm(drawn: Drawn, solution: ts.Solution) -> Confirmed:
    """Newton's method on the KKT conditions, in DIGITS digits, from the answer; limits that it leaves are then held.

    apart: of the objectives, as a share of the terms of the cost.
    """
    with mp.workdps(DIGITS):
        q = {name: mp.mpf(value) for name, value in drawn.values.items()}
        form, limit = drawn.form, q["limit"]
        u = [mp.mpf(float(value)) for value in solution.u[:, 0]]
        x = [mp.mpf(float(value)) for value in solution.x[:, 0]]
        active = [form.limit and abs(float(limit) - abs(float(value))) < 1e-5 * float(limit) for value in u]
        held = [limit * mp.sign(value) for value in u]

        def unpack(z: Sequence[Any]) -> tuple[Sequence[Any], list[Any]]:
            free = iter(z[STEPS + 1 :])
            return z[: STEPS + 1], [held[k] if active[k] else next(free) for k in range(STEPS)]

        def terms(z: Sequence[Any]) -> list[Any]:
            xs, us = unpack(z)
            return [*(q["r"] * each**2 for each in us), *(_cost(each, q, form, mp.exp) for each in xs)]

        def rows(z: Sequence[Any]) -> list[Any]:
            xs, us = unpack(z)
            found = [_next(xs[k], us[k], q) - xs[k + 1] for k in range(STEPS)]
            found += [xs[0] - q["first"]] if form.start else []
            return found + ([_goal(xs[-1], q)] if form.goal else [])

        for _ in range(STEPS + 1):
            z = [*x, *(u[k] for k in range(STEPS) if not active[k])]
            found, ended = _newton(lambda v: mp.fsum(terms(v)), rows, z)
            beyond = [form.limit and abs(each) > limit for each in unpack(found)[1]]
            if not any(beyond):
                break
            active = [left or past for left, past in zip(active, beyond)]
        here = mp.fsum([*(q["r"] * each**2 for each in u), *(_cost(each, q, form, mp.exp) for each in x)])
        there = mp.fsum(terms(found))
        size = mp.fsum(abs(term) for term in terms(found))
        return Confirmed(ended, float(there), float(abs(there - here) / size) if size else 0.0)


def _newton(
    f: Callable[[Sequence[Any]], Any], rows: Callable[[Sequence[Any]], list[Any]], z: list[Any]
) -> tuple[list[Any], bool]:
    """A point that meets the first-order conditions, and whether one was found; multipliers by least squares."""
    h, n = mp.mpf(STEP), len(z)

    def moved(at: Sequence[Any], *steps: tuple[int, Any]) -> list[Any]:
        other = list(at)
        for i, step in steps:
            other[i] += step
        return other

    def slopes(function: Callable[[Sequence[Any]], Any], at: Sequence[Any]) -> list[Any]:
        return [(function(moved(at, (i, h))) - function(moved(at, (i, -h)))) / (2 * h) for i in range(n)]

    def jacobian(at: Sequence[Any]) -> mp.matrix:
        count = len(rows(at))
        pairs = [(rows(moved(at, (i, h))), rows(moved(at, (i, -h)))) for i in range(n)]
        return mp.matrix([[(pairs[i][0][r] - pairs[i][1][r]) / (2 * h) for i in range(n)] for r in range(count)])

    J = jacobian(z)
    m = J.rows
    y = mp.lu_solve(J * J.T, -(J * mp.matrix(slopes(f, z))))
    for _ in range(30):

        def lagrangian(at: Sequence[Any]) -> Any:
            return f(at) + mp.fsum(y[i] * row for i, row in enumerate(rows(at)))

        J, g, r = jacobian(z), slopes(lagrangian, z), rows(z)
        K, right = mp.zeros(n + m), mp.matrix([*(-each for each in g), *(-each for each in r)])
        for i in range(n):
            for j in range(i + 1):
                K[i, j] = K[j, i] = (
                    lagrangian(moved(z, (i, h), (j, h))) - lagrangian(moved(z, (i, h), (j, -h)))
                    - lagrangian(moved(z, (i, -h), (j, h))) + lagrangian(moved(z, (i, -h), (j, -h)))
                ) / (4 * h * h)  # fmt: skip
            for k in range(m):
                K[n + k, i] = K[i, n + k] = J[k, i]
        try:
            step = mp.lu_solve(K, right)
        except ZeroDivisionError:
            return z, False
        z = [z[i] + step[i] for i in range(n)]
        y += step[n:]
        if max(abs(step[i]) for i in range(n)) <= mp.mpf("1e-15") * max(abs(each) for each in z):
            return z, True
    return z, False
