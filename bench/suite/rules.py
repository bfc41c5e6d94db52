"""Rules of discretisation that the collections use and `Problem` has not: trapezoidal and Gauss' collocation.

Both are equalities between a stage and the next; the next values are controls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import casadi as ca
import numpy as np
from trisweep import Problem


def trapezoidal(
    ocp: Problem,
    rates: Callable[..., ca.SX],
    x: ca.SX,
    u: ca.SX,
    integrand: Callable[..., ca.SX] | None = None,
    data: Sequence[ca.SX] = (),
) -> tuple[ca.SX, ca.SX]:
    """x' = rates(x, u) of the states "x" and "u", and the cost's integral, if any; returns the next values' symbols.

    data: a third argument of both functions, of a stage and of the next one, as `by_stages` makes it.
    """
    x_next, u_next = ocp.control("x_next", x.numel()), ocp.control("u_next", u.numel())
    ocp.next(x=x_next, u=u_next)
    here, there = (x, u, *data[:1]), (x_next, u_next, *data[1:])
    half = ocp.time_step / 2
    ocp.constrain("trapezoidal rule", x_next - x - half * (rates(*here) + rates(*there)), equals=0)
    if integrand is not None:
        ocp.minimize(half * (integrand(*here) + integrand(*there)), name="integral")
    return x_next, u_next


def by_stages(ocp: Problem, name: str, values: np.ndarray) -> tuple[tuple[ca.SX, ca.SX], dict[str, np.ndarray]]:
    """Symbols of a number that every stage has, here and at the next stage, and the parameter to solve with."""
    symbol = ocp.parameter(name, 2, per_stage=True)
    return (symbol[0], symbol[1]), {name: np.column_stack([values, np.append(values[1:], values[-1])])}


def with_next(guess: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """A guess of "x" and "u", a row a stage or one value, with that of the next values."""
    later = {f"{name}_next": value[1:] if np.ndim(value) > 1 else value for name, value in guess.items()}
    return {**guess, **later}


def line(start, end, steps: int) -> np.ndarray:
    """(steps + 1, size): from one value to another, evenly."""
    return np.linspace(np.atleast_1d(start), np.atleast_1d(end), steps + 1).astype(float)


def collocation(ocp: Problem, rates: Callable[[ca.SX], ca.SX], x: ca.SX, points: int) -> Callable[[ca.SX], ca.SX]:
    """x' = rates(x) of the state "x" by Gauss-Legendre collocation: the slopes at the points are the control "slopes".

    Returns the polynomial of a step: its value at a fraction of the step.
    """
    size, h = x.numel(), ocp.time_step
    place = (np.polynomial.legendre.leggauss(points)[0] + 1) / 2
    slopes = ca.reshape(ocp.control("slopes", size * points), size, points)
    # Integrals of Lagrange's polynomials through the points, as coefficients of powers of the fraction of a step.
    bases = [np.poly1d(np.poly(np.delete(place, j)) / np.prod(place[j] - np.delete(place, j))) for j in range(points)]
    integrals = [basis.integ() for basis in bases]

    def value(fraction):
        powers = [sum(c * fraction**k for k, c in enumerate(basis.c[::-1])) for basis in integrals]
        return x + h * ca.mtimes(slopes, ca.vertcat(*powers))

    ocp.next(x=value(1.0))
    rows = [slopes[:, j] - rates(value(float(place[j]))) for j in range(points)]
    ocp.constrain("collocation", ca.vertcat(*rows), equals=0)
    return value


def integral(ocp: Problem, expression: ca.SX) -> None:
    """Minimise the integral of an expression by the problem's own integrator, as a state that grows from zero."""
    total = ocp.state("total")
    ocp.derivative(total=expression)
    ocp.constrain("integral from zero", total, equals=0, at="start")
    ocp.minimize(total, at="end", name="integral")
