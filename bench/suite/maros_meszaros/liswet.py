"""LISWET1 ... LISWET12: the convex sequence nearest to a noisy one (Li and Swetits 1993).

    minimise  1/2 sum (x_i - c_i)^2   with   x_i - 2 x_(i+1) + x_(i+2) >= 0,   c_i = g(t_i) + 0.1 sin(i)

i = 1 ... 10002, t_i = (i - 1) / 10001; g differs between the twelve. The state is x_i and its slope to the next, the
control the curvature, which is not negative: in these units a violation of 1e-8 stays one. (With the rows as published
10,000 of them add up, and the best objective within the tolerance is far below the optimum.)
"""

import numpy as np
import trisweep as ts

from ..case import Case, Stated

COUNT = 10002
PI = np.pi
SHAPES = (
    np.sqrt, lambda t: t, lambda t: t**2, lambda t: t**3, np.exp, lambda t: np.exp(-t),
    lambda t: np.sin(PI * t), lambda t: np.sin(2 * PI * t), lambda t: np.sin(4 * PI * t),
    lambda t: np.cos(PI * t), lambda t: np.cos(2 * PI * t), lambda t: np.cos(4 * PI * t),
)  # fmt: skip


def build() -> Stated:
    return Stated(convex(COUNT), *instance(0))


def convex(count: int) -> ts.Problem:
    """The convex sequence of that length nearest to the parameter "c": of every stage, its value and the next."""
    ocp = ts.Problem(steps=count - 2, step=1 / (count - 1))
    x, slope = ocp.state("x"), ocp.state("slope")
    curvature, c = ocp.control("curvature", lower=0), ocp.parameter("c", 2, per_stage=True)
    later = x + slope / (count - 1)
    ocp.next(x=later, slope=slope + curvature / (count - 1))
    ocp.minimize((x - c[0]) ** 2 / 2, at="all")
    ocp.minimize((later - c[1]) ** 2 / 2, at="end")
    return ocp


def pairs(values: np.ndarray) -> np.ndarray:
    return np.column_stack([values[:-1], values[1:]])


def instance(i: int) -> tuple[dict, dict]:
    c = SHAPES[i](np.linspace(0, 1, COUNT)) + 0.1 * np.sin(np.arange(1, COUNT + 1))
    return {}, {"c": pairs(c)}


OPTIMA = (
    36.1224021, 24.9980761, 25.0012200, 25.0001121, 25.0342533, 24.9957476, 498.840891, 714.470057, 1963.25126,
    49.4857849, 49.5239570, 1736.92743,
)  # fmt: skip
CASE = Case(
    build, source="Maros and Meszaros (1999), LISWET*", optimum=OPTIMA, tolerance=2e-4, instances=12, instance=instance
)
