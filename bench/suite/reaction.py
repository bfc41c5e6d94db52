"""Rates of a reaction from measured shares: what COPS' methanol, pinene and gas oil problems have in common."""

from collections.abc import Callable

import casadi as ca
import trisweep as ts

from .case import Stated
from .measurements import held, least_squares
from .rules import collocation


def fitted(
    times, shares, feed: list[float], count: int, rates: Callable[[ca.SX, ca.SX], ca.SX], points: int = 3, **guess
) -> Stated:
    """x' = rates(theta, x) from x = feed on, with `count` constants theta >= 0 for the least squared error."""
    ocp = ts.Problem(steps=100, duration=times[-1])
    x, theta = ocp.state("x", len(feed)), ocp.state("theta", count)
    value = collocation(ocp, lambda y: rates(theta, y), x, points=points)
    ocp.next(theta=theta)
    ocp.constrain("rates are not negative", theta, lower=0, at="start")
    ocp.constrain("feed", x, equals=feed, at="start")
    given = least_squares(ocp, value, times, shares, times[-1])
    return Stated(ocp, {"x": held(times, shares, times[-1], ocp.steps), **guess}, given)
