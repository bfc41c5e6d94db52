"""A cart-pole swings up with dry friction in both joints, by complementarity, its gaps paid for.

Variational midpoint rule as in `acrobot_impact`, 100 steps of 0.05 s. Friction of a joint is b1 - b2 with b >= 0:

    v+ + psi = eta1,   -v+ + psi = eta2,   mu N - b1 - b2 = s,   psi s, b1 eta1, b2 eta2 = gaps,   all >= 0

Cost 0.01 h F^2 + sum of gaps, and 200 |v|^2 + 700 |q - (0, pi)|^2 at the end, |F| <= 10. Masses, length and both
friction coefficients are random (from our own seeds), with the source's distributions.
"""

import numpy as np
import trisweep as ts
from casadi import cos, sin, sum1, sumsqr, vertcat

from ..case import Case, Stated

STEPS, STEP, GRAVITY = 100, 0.05, 9.81


def mass_times(q, v, cart, pole, length):
    cross = pole * length * cos(q[1])
    return vertcat((cart + pole) * v[0] + cross * v[1], cross * v[0] + pole * length**2 * v[1])


def bias(q, v, pole, length):
    return pole * length * sin(q[1]) * vertcat(-(v[1] ** 2), GRAVITY)


def build() -> Stated:
    ocp = ts.Problem(steps=STEPS, step=STEP)
    before, q = ocp.state("before", 2), ocp.state("q", 2)
    force, after = ocp.control("force", lower=-10, upper=10), ocp.control("after", 2)
    # Of both joints: friction either way, slip either way, its size, what is left of the cone, the gaps.
    ahead, back, eta1, eta2, psi, left = (
        ocp.control(name, 2, lower=0) for name in ("ahead", "back", "eta1", "eta2", "psi", "left")
    )
    gap = ocp.control("gap", 6, lower=0)
    cart, pole, length = ocp.parameter("cart"), ocp.parameter("pole"), ocp.parameter("length")
    mu = ocp.parameter("mu", 2)
    ocp.next(before=q, q=after)
    old, new = (q - before) / STEP, (after - q) / STEP
    here, there = (before + q) / 2, (q + after) / 2
    drift = (bias(here, old, pole, length) + bias(there, new, pole, length)) / 2
    motion = mass_times(there, new, cart, pole, length) - mass_times(here, old, cart, pole, length)
    most = mu * vertcat((pole + cart) * GRAVITY, pole * GRAVITY * length)
    ocp.constrain("motion", motion + STEP * (drift - vertcat(force, 0) - (ahead - back)), equals=0)
    ocp.constrain("slip", vertcat(new + psi - eta1, psi - new - eta2), equals=0)
    ocp.constrain("cone", most - ahead - back - left, equals=0)
    ocp.constrain("complementarity", vertcat(psi * left, ahead * eta1, back * eta2) - gap, equals=0)
    ocp.minimize(0.01 * STEP * force**2 + sum1(gap), name="effort and gaps")
    ocp.minimize(200 * sumsqr(old) + 700 * sumsqr(q - vertcat(0, np.pi)), at="end", name="upright")
    ocp.constrain("hanging", vertcat(before, q), equals=0, at="start")
    return Stated(ocp, *instance(0))


def instance(i: int) -> tuple[dict, dict]:
    random = np.random.default_rng(i)
    cart, pole, length = 0.9 + 0.2 * random.random(), 0.15 + 0.1 * random.random(), 0.45 + 0.1 * random.random()
    names = ("ahead", "back", "eta1", "eta2", "psi", "left", "gap")
    given = {"cart": cart, "pole": pole, "length": length, "mu": 0.05 + 0.1 * random.random(2)}
    return dict.fromkeys(names, 0.01), given


CASE = Case(build, source="InteriorPointDDP.jl (Xu et al. 2025), cartpole_friction", instances=100, instance=instance)
