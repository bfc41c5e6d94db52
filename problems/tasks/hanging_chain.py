"""The shape of a chain that hangs between two points (COPS 3.0, problem 4): time is the place along the ground.

    minimise  integral of y sqrt(1 + u^2)   with   y' = u,   integral of sqrt(1 + u^2) = L

State x = (height y, energy, length up to here), without units as in COPS; y = 1 on the left, 3 on the right, 1 apart,
L = 4.
Without discretisation the answer is a catenary: see `catenary_energy`.
"""

from __future__ import annotations

import numpy as np
from casadi import sqrt, vertcat

from ...ocp import Problem
from ..ready import Task
from .trapezoidal import trapezoidal

LEFT, RIGHT, LENGTH = 1.0, 3.0, 4.0


def hanging_chain(steps: int = 200) -> Task:
    """The chain's least energy by the trapezoidal rule, in `steps` pieces.

    COPS publishes 5.06891 at 200; the catenary has 5.06848.
    Guess, as COPS: a parabola with its lowest point at a quarter, energy and length consistent with even growth.
    """
    ocp = Problem(steps=steps, duration=1.0)
    x = ocp.state("x", 3)
    u = ocp.state("u")
    trapezoidal(ocp, lambda x, u: vertcat(u, x[0] * sqrt(1 + u**2), sqrt(1 + u**2)), x, u)
    ocp.minimize(x[1], at="end")
    ocp.constrain("left end", x, equals=[LEFT, 0.0, 0.0], at="start")
    ocp.constrain("right end", vertcat(x[0], x[2]), equals=[RIGHT, LENGTH], at="end")
    t = np.linspace(0, 1, steps + 1)
    slope = 4 * (RIGHT - LEFT) * (t - 0.25)
    height = LEFT + 4 * (RIGHT - LEFT) * t * (t / 2 - 0.25)
    shape = np.column_stack([height, LENGTH * height * t, LENGTH * t])
    guess = {"x": shape, "x_next": shape[1:], "u": slope, "u_next": slope[1:]}
    return Task("hanging_chain", ocp, guess, published=5.06891 if steps == 200 else None)


def catenary_energy() -> float:
    """The energy of y = s cosh((t - m) / s) + d through both ends with the right length."""
    from scipy.optimize import brentq

    # length^2 - drop^2 = (2 s sinh(1 / 2s))^2 fixes the scale s; the drop, then, the middle m.
    drop = RIGHT - LEFT
    s = brentq(lambda s: 2 * s * np.sinh(1 / (2 * s)) - np.sqrt(LENGTH**2 - drop**2), 0.05, 10.0, xtol=1e-15)
    m = 0.5 - s * np.arctanh(drop / LENGTH)
    d = LEFT - s * np.cosh(m / s)
    hyperbolic = (1 + s / 2 * (np.sinh(2 * (1 - m) / s) + np.sinh(2 * m / s))) / 2  # integral of cosh^2
    return s * hyperbolic + d * LENGTH
