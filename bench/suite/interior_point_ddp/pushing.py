"""A block on a table is pushed around an obstacle by a finger that may slide along its side.

State (place, heading theta, contact angle phi), Euler's method, 100 steps of 0.04 s:

    (p, theta)' = R(theta) L J(phi)' f,   phi' = a - b,   J = [1 0 zx/2 tan(phi); 0 1 -zx/2],   L = diag(1, 1, c^-2)
    mu fn - ft = l1,   mu fn + ft = l2,   l1 a = gap1,   l2 b = gap2,   all >= 0,   |phi| <= 0.9

Cost 0.01 |f|^2 + 2 (gaps and cuts of the obstacle), and 20 |x - (0.3, 0.4, 3 pi/2, 0)|^2 at the end. The block,
friction and obstacle are random (from our own seeds), with the source's distributions.
"""

import numpy as np
import trisweep as ts
from casadi import cos, fmax, sin, sum1, sumsqr, tan, vertcat

from ..case import Case, Stated

STEPS, STEP, FINGER = 100, 0.04, 0.01
GOAL = (0.3, 0.4, 1.5 * np.pi, 0.0)
# Sides and the ratio c of the ellipsoid that limits friction with the table.
BLOCKS = (
    (0.07, 0.12, 0.03711), (0.06, 0.12, 0.0355938), (0.08, 0.12, 0.0387237), (0.07, 0.13, 0.0393039),
    (0.06, 0.13, 0.0378424), (0.08, 0.13, 0.0366212), (0.07, 0.11, 0.0349493), (0.06, 0.11, 0.0333738),
    (0.08, 0.11, 0.0408633),
)  # fmt: skip


def build() -> Stated:
    ocp = ts.Problem(steps=STEPS, step=STEP)
    x = ocp.state("x", 4)
    f = ocp.control("f", 2, lower=[0, -0.3], upper=0.3)
    slide = ocp.control("slide", 2, lower=0, upper=3)
    left, gap = ocp.control("left", 2, lower=0), ocp.control("gap", 2, lower=0)
    angle = ocp.control("angle", lower=-0.9, upper=0.9)
    clear, cut = ocp.control("clear", lower=0), ocp.control("cut", lower=0)
    block, mu, obstacle = ocp.parameter("block", 3), ocp.parameter("mu"), ocp.parameter("obstacle", 3)
    half, theta = block[0] / 2, x[2]
    spin = (half * tan(x[3]) * f[0] - half * f[1]) / block[2] ** 2
    way = vertcat(cos(theta) * f[0] - sin(theta) * f[1], sin(theta) * f[0] + cos(theta) * f[1], spin)
    ocp.next(x=x + STEP * vertcat(way, slide[0] - slide[1]))
    ocp.constrain("cone", vertcat(mu * f[0] - f[1], mu * f[0] + f[1]) - left, equals=0)
    ocp.constrain("complementarity", left * slide - gap, equals=0)
    ocp.constrain("contact angle", x[3] - angle, equals=0)
    reach = obstacle[2] + fmax(block[0], block[1]) + FINGER
    ocp.constrain("obstacle", reach**2 - sumsqr(x[:2] - obstacle[:2]) + clear - cut, equals=0)
    ocp.minimize(1e-2 * sumsqr(f) + 2 * sum1(gap) + 2 * cut, name="effort and gaps")
    ocp.minimize(20 * sumsqr(x - vertcat(*GOAL)), at="end", name="goal")
    ocp.constrain("start", x, equals=0, at="start")
    return Stated(ocp, *instance(0))


def instance(i: int) -> tuple[dict, dict]:
    random = np.random.default_rng(i)
    block = BLOCKS[random.integers(len(BLOCKS))]
    obstacle = [0.2, 0.2, 0.05] + np.array([0.3, 0.1, 0.02]) * (random.random(3) - 0.5)
    names = ("f", "slide", "left", "gap", "angle", "clear", "cut")
    given = {"block": block, "mu": 0.2 + 0.1 * (random.random() - 0.5), "obstacle": obstacle}
    return dict.fromkeys(names, 0.01), given


CASE = Case(build, source="InteriorPointDDP.jl (Xu et al. 2025), pushing_1_obs", instances=100, instance=instance)
