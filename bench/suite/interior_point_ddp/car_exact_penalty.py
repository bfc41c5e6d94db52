"""A car parks among four round obstacles, which it may cut at a price: 50 times each slack (an exact penalty).

    p' = v (cos theta, sin theta),   theta' = u2,   v' = u1

Midpoint rule, 100 steps of 0.05 s; each obstacle has a row d^2 + s - t = (r + 0.02)^2 with slacks s, t >= 0.
Cost 0.05 (5 u1^2 + u2^2) + 50 sum s, and 200 |x - (1, 1, pi/4, 0)|^2 at the end. Limits of the controls, obstacles and
the first heading are random (from our own seeds), with the source's distributions.
"""

import numpy as np
import trisweep as ts
from casadi import cos, reshape, sin, sum1, sumsqr, vertcat

from ..case import Case, Stated

STEPS, STEP, CAR, OBSTACLES = 100, 0.05, 0.02, 4
GOAL = (1.0, 1.0, np.pi / 4, 0.0)


def rates(x, force, turn):
    return vertcat(x[3] * cos(x[2]), x[3] * sin(x[2]), turn, force)


def state(price) -> ts.Problem:
    """The problem, with `price` of the slacks."""
    ocp = ts.Problem(steps=STEPS, step=STEP)
    x = ocp.state("x", 4)
    share = ocp.control("share", 2, lower=-1, upper=1)  # of the limits
    cut, clear = ocp.control("cut", OBSTACLES, lower=0), ocp.control("clear", OBSTACLES, lower=0)
    limit, start = ocp.parameter("limit", 2), ocp.parameter("begin", 4)
    obstacles = reshape(ocp.parameter("obstacles", 3 * OBSTACLES), 3, OBSTACLES)  # centre and radius, a column each
    force, turn = limit[0] * share[0], limit[1] * share[1]
    middle = x + STEP / 2 * rates(x, force, turn)
    ocp.next(x=x + STEP * rates(middle, force, turn))
    ocp.minimize(STEP * (5 * force**2 + turn**2) + price(cut), name="effort and cuts")
    ocp.minimize(200 * sumsqr(x - vertcat(*GOAL)), at="end", name="goal")
    apart = [(obstacles[2, i] + CAR) ** 2 - sumsqr(x[:2] - obstacles[:2, i]) for i in range(OBSTACLES)]
    ocp.constrain("obstacles", vertcat(*apart) - cut + clear, equals=0)
    ocp.constrain("start", x, equals=start, at="start")
    return ocp


def instance(i: int) -> tuple[dict, dict]:
    random = np.random.default_rng(i)
    limit = [1.5 + random.random(), 3 + 2 * random.random()]
    corners = np.array([[0.25, 0.25], [0.75, 0.75], [0.25, 0.75], [0.75, 0.25]])
    centres = corners + 0.2 * (random.random((OBSTACLES, 2)) - 0.5)
    radii = 0.05 + 0.15 * random.random(OBSTACLES)
    start = np.array([0, 0, np.pi / 8 + np.pi / 4 * random.random(), 0])
    given = {"limit": limit, "begin": start, "obstacles": np.column_stack([centres, radii]).ravel()}
    return {"x": start, "cut": 0.01, "clear": 0.01}, given


def build() -> Stated:
    return Stated(state(lambda cut: 50 * sum1(cut)), *instance(0))


CASE = Case(build, source="InteriorPointDDP.jl (Xu et al. 2025), concar", instances=100, instance=instance)
