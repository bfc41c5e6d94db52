"""Fourteen families of parametric problems for warm starts: receding horizons and goals that move.

Every family is a statement, the numbers that change from solve to solve and how large a change of 100 % is. Where a
horizon recedes, the numbers are the measured first state.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import trisweep as ts
from trisweep.problems.tasks.iiwa_reach import iiwa_reach


@dataclass(frozen=True)
class Family:
    """`changed`: names of parameters, or of states that `start` gives where it recedes; base and size of each."""

    name: str
    problem: ts.Problem
    base: dict[str, np.ndarray]
    size: dict[str, np.ndarray]
    recedes: bool = False
    guess: dict[str, Any] = field(default_factory=dict)
    others: dict[str, Any] = field(default_factory=dict)  # parameters that stay


def _numbers(**given: Any) -> dict[str, np.ndarray]:
    return {name: np.atleast_1d(np.asarray(value, float)) for name, value in given.items()}


def box_integrator() -> Family:
    ocp = ts.Problem(steps=30, step=0.1)
    x, v = ocp.state("x"), ocp.state("v", lower=-0.8, upper=0.8)
    u = ocp.control("u", lower=-1.0, upper=1.0)
    ocp.next(x=x + 0.1 * v, v=v + 0.1 * u)
    ocp.minimize(x**2 + 0.1 * v**2 + 0.01 * u**2)
    ocp.minimize(10 * x**2 + v**2, at="end")
    ocp.start("x", "v")
    return Family("box_integrator", ocp, _numbers(x=2.0, v=0.0), _numbers(x=2.0, v=0.3), recedes=True)


def random_lq() -> Family:
    random = np.random.default_rng(5)
    A = random.standard_normal((8, 8))
    A *= 1.02 / np.abs(np.linalg.eigvals(A)).max()
    B = random.standard_normal((8, 3))
    ocp = ts.Problem(steps=25, step=1.0)
    x, u = ocp.state("x", 8, lower=-8.0, upper=8.0), ocp.control("u", 3, lower=-0.4, upper=0.4)
    ocp.next(x=A @ x + B @ u)
    ocp.minimize(ts.sumsqr(x) + 0.1 * ts.sumsqr(u))
    ocp.minimize(5 * ts.sumsqr(x), at="end")
    ocp.start("x")
    return Family("random_lq", ocp, _numbers(x=np.ones(8)), _numbers(x=np.ones(8)), recedes=True)


def oscillating_masses() -> Family:
    """Six masses between walls, springs of 1, three forces (Wang and Boyd 2010, Sec. V)."""
    masses, step = 6, 0.5
    K = 2 * np.eye(masses) - np.eye(masses, k=1) - np.eye(masses, k=-1)
    F = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, 0, 1], [0, -1, 0], [0, 0, -1]], float)
    ocp = ts.Problem(steps=30, step=step, integrator="rk4")
    p, v = ocp.state("p", masses, lower=-4.0, upper=4.0), ocp.state("v", masses, lower=-4.0, upper=4.0)
    u = ocp.control("u", 3, lower=-0.5, upper=0.5)
    ocp.derivative(p=v, v=F @ u - K @ p)
    ocp.minimize(ts.sumsqr(p) + ts.sumsqr(v) + ts.sumsqr(u))
    ocp.start("p", "v")
    base = _numbers(p=[1.0, -0.5, 0.8, -0.8, 0.3, 0.6], v=np.zeros(masses))
    return Family("oscillating_masses", ocp, base, _numbers(p=np.ones(6), v=np.ones(6)), recedes=True)


def cart_pole() -> Family:
    ocp = ts.Problem(steps=40, step=0.05, integrator="rk4")
    x, angle = ocp.state("x", lower=-2.0, upper=2.0), ocp.state("angle")
    v, rate = ocp.state("v"), ocp.state("rate")
    force = ocp.control("force", lower=-20.0, upper=20.0)
    s, c = ts.sin(angle), ts.cos(angle)
    a = (force + 0.3 * s * (0.5 * rate**2 + 9.81 * c)) / (1.0 + 0.3 * s**2)
    ocp.derivative(x=v, angle=rate, v=a, rate=-(a * c + 9.81 * s) / 0.5)
    ocp.minimize(x**2 + 5 * (1 + c) + 0.05 * v**2 + 0.05 * rate**2 + 1e-3 * force**2)
    ocp.minimize(10 * x**2 + 50 * (1 + c) + v**2 + rate**2, at="end")
    ocp.start("x", "angle", "v", "rate")
    base = _numbers(x=0.3, angle=2.6, v=0.0, rate=0.0)
    size = _numbers(x=0.5, angle=1.0, v=1.0, rate=2.0)
    return Family("cart_pole", ocp, base, size, recedes=True, guess={"angle": np.pi})


def pendulum() -> Family:
    ocp = ts.Problem(steps=40, step=0.05, integrator="rk4")
    angle, rate = ocp.state("angle"), ocp.state("rate", lower=-8.0, upper=8.0)
    torque = ocp.control("torque", lower=-3.0, upper=3.0)
    ocp.derivative(angle=rate, rate=torque - 9.81 * ts.sin(angle) - 0.1 * rate)
    ocp.minimize(5 * (1 + ts.cos(angle)) + 0.1 * rate**2 + 0.01 * torque**2)
    ocp.minimize(50 * (1 + ts.cos(angle)) + rate**2, at="end")
    ocp.start("angle", "rate")
    base, size = _numbers(angle=2.8, rate=0.0), _numbers(angle=1.0, rate=2.0)
    return Family("pendulum", ocp, base, size, recedes=True, guess={"angle": np.pi})


def two_link_arm() -> Family:
    ocp = ts.Problem(steps=40, duration=1.5, integrator="rk4")
    q = ocp.state("q", 2, lower=-2.8, upper=2.8)
    v = ocp.state("v", 2, lower=-3.0, upper=3.0)
    tau = ocp.control("tau", 2, lower=-4.0, upper=4.0)
    goal = ocp.parameter("goal", 2)
    c, s = ts.cos(q[1]), ts.sin(q[1])
    m11, m12, m22 = 1.6 + 0.8 * c, 0.4 + 0.4 * c, 0.4
    b1 = tau[0] + 0.4 * s * (2 * v[0] * v[1] + v[1] ** 2) - 0.1 * v[0]
    b2 = tau[1] - 0.4 * s * v[0] ** 2 - 0.1 * v[1]
    det = m11 * m22 - m12**2
    ocp.derivative(q=v, v=ts.vertcat((m22 * b1 - m12 * b2) / det, (m11 * b2 - m12 * b1) / det))
    ocp.minimize(ts.sumsqr(tau) + 0.01 * ts.sumsqr(v))
    ocp.constrain("from", ts.vertcat(q, v), equals=0, at="start")
    ocp.constrain("to", ts.vertcat(q - goal, v), equals=0, at="end")
    return Family("two_link_arm", ocp, _numbers(goal=[0.9, 0.7]), _numbers(goal=[0.5, 0.5]))


def among_discs() -> Family:
    ocp = ts.Problem(steps=40, duration=4.0)
    p, v = ocp.state("p", 2), ocp.state("v", 2, lower=-2.0, upper=2.0)
    u = ocp.control("u", 2, lower=-2.0, upper=2.0)
    disc = ocp.parameter("disc", 2)
    ocp.derivative(p=v, v=u)
    ocp.minimize(ts.sumsqr(u))
    ocp.constrain("disc", ts.sumsqr(p - disc), lower=0.64)
    ocp.constrain("other disc", ts.sumsqr(p - np.array([3.6, 0.9])), lower=0.36)
    ocp.constrain("from", ts.vertcat(p, v), equals=0, at="start")
    ocp.constrain("to", ts.vertcat(p - np.array([5.0, 0.0]), v), equals=0, at="end")
    guess = {"p": np.column_stack([np.linspace(0, 5, 41), -0.8 * np.sin(np.linspace(0, np.pi, 41))])}
    return Family("among_discs", ocp, _numbers(disc=[2.0, 0.4]), _numbers(disc=[0.5, 0.4]), guess=guess)


def minimum_time() -> Family:
    ocp = ts.Problem(steps=30, duration=ts.Free(guess=2.0, lower=0.1, upper=20.0))
    x, v = ocp.state("x"), ocp.state("v", lower=-1.2, upper=1.2)
    u = ocp.control("u", lower=-1.0, upper=1.0)
    far = ocp.parameter("far")
    ocp.derivative(x=v, v=u)
    ocp.minimize(ocp.steps * ocp.time_step, at="end")
    ocp.constrain("from", ts.vertcat(x, v), equals=0, at="start")
    ocp.constrain("to", ts.vertcat(x - far, v), equals=0, at="end")
    return Family("minimum_time", ocp, _numbers(far=2.0), _numbers(far=1.0))


def van_der_pol() -> Family:
    ocp = ts.Problem(steps=60, duration=6.0, integrator="rk4")
    x, y = ocp.state("x", lower=-0.4), ocp.state("y")
    u = ocp.control("u", lower=-1.0, upper=1.0)
    damping = ocp.parameter("damping")
    ocp.derivative(x=y, y=damping * (1 - x**2) * y - x + u)
    ocp.minimize(x**2 + y**2 + 0.1 * u**2)
    ocp.constrain("from", ts.vertcat(x, y), equals=[0.0, 1.0], at="start")
    return Family("van_der_pol", ocp, _numbers(damping=1.0), _numbers(damping=0.5))


def planar_quadrotor() -> Family:
    ocp = ts.Problem(steps=30, step=0.05, integrator="rk4")
    p, turn = ocp.state("p", 2), ocp.state("turn", lower=-1.0, upper=1.0)
    v, rate = ocp.state("v", 2, lower=-3.0, upper=3.0), ocp.state("rate")
    lift = ocp.control("lift", 2, lower=0.0, upper=9.0)
    total = lift[0] + lift[1]
    a = ts.vertcat(-total * ts.sin(turn), total * ts.cos(turn) - 9.81)
    ocp.derivative(p=v, turn=rate, v=a, rate=4 * (lift[1] - lift[0]))
    ocp.minimize(4 * ts.sumsqr(p) + turn**2 + 0.2 * ts.sumsqr(v) + 0.1 * rate**2 + 0.01 * ts.sumsqr(lift - 4.905))
    ocp.minimize(20 * ts.sumsqr(p) + 5 * turn**2 + 2 * ts.sumsqr(v) + rate**2, at="end")
    ocp.start("p", "turn", "v", "rate")
    base = _numbers(p=[1.5, -1.0], turn=0.2, v=[0.0, 0.0], rate=0.0)
    size = _numbers(p=[1.0, 1.0], turn=0.4, v=[1.0, 1.0], rate=1.0)
    return Family("planar_quadrotor", ocp, base, size, recedes=True, guess={"lift": 4.905})


def parking() -> Family:
    ocp = ts.Problem(steps=50, duration=8.0, integrator="rk4")
    p, turn = ocp.state("p", 2), ocp.state("turn")
    speed, steer = ocp.control("speed", lower=-1.0, upper=1.0), ocp.control("steer", lower=-0.6, upper=0.6)
    goal = ocp.parameter("goal", 2)
    ocp.derivative(p=speed * ts.vertcat(ts.cos(turn), ts.sin(turn)), turn=speed * ts.tan(steer))
    ocp.minimize(speed**2 + 0.1 * steer**2)
    ocp.constrain("from", ts.vertcat(p, turn), equals=0, at="start")
    ocp.constrain("to", ts.vertcat(p - goal, turn), equals=0, at="end")
    guess = {"p": np.column_stack([np.linspace(0, 2, 51), np.linspace(0, 1, 51)]), "speed": 0.3}
    return Family("parking", ocp, _numbers(goal=[2.0, 1.0]), _numbers(goal=[1.0, 0.5]), guess=guess)


def stirred_tank() -> Family:
    """An exothermic reaction in a stirred tank, cooled; concentrations and temperatures relative to the feed."""
    ocp = ts.Problem(steps=40, step=0.05, integrator="rk4")
    c, heat = ocp.state("c", lower=0.0, upper=1.2), ocp.state("heat", lower=0.2, upper=1.6)
    cooling = ocp.control("cooling", lower=0.0, upper=4.0)
    target = ocp.parameter("target")
    reaction = 40 * c * ts.exp(-4.0 / (heat + 0.1))
    ocp.derivative(c=1 - c - reaction, heat=0.35 - heat + 1.2 * reaction - cooling * (heat - 0.3))
    ocp.minimize(10 * (c - target) ** 2 + 0.01 * cooling**2)
    ocp.start("c", "heat")
    base, size = _numbers(c=0.7, heat=0.6), _numbers(c=0.2, heat=0.3)
    guess = {"c": 0.5, "heat": 0.7}
    return Family("stirred_tank", ocp, base, size, recedes=True, guess=guess, others={"target": 0.45})


def hanging_chain() -> Family:
    ocp = ts.Problem(steps=60, duration=1.0)
    y, length = ocp.state("y"), ocp.state("length")
    slope = ocp.control("slope", lower=-6.0, upper=6.0)
    total = ocp.parameter("total")
    ocp.derivative(y=slope, length=ts.sqrt(1 + slope**2))
    ocp.minimize(y * ts.sqrt(1 + slope**2))
    ocp.constrain("from", ts.vertcat(y - 1, length), equals=0, at="start")
    ocp.constrain("to", ts.vertcat(y - 1.5, length - total), equals=0, at="end")
    guess = {"y": np.linspace(1, 1.5, 61), "length": np.linspace(0, 2.5, 61), "slope": 0.5}
    return Family("hanging_chain", ocp, _numbers(total=2.5), _numbers(total=0.6), guess=guess)


def arm_reach() -> Family:
    task = iiwa_reach()
    goal = np.asarray(task.parameters["goal"], float)
    others = {name: value for name, value in task.parameters.items() if name != "goal"}
    return Family("arm_reach", task.problem, _numbers(goal=goal), _numbers(goal=np.full(7, 0.4)), guess=task.guess,
                  others=others)  # fmt: skip


FAMILIES: tuple[Callable[[], Family], ...] = (
    box_integrator, random_lq, oscillating_masses, cart_pole, pendulum, two_link_arm, among_discs, minimum_time,
    van_der_pol, planar_quadrotor, parking, stirred_tank, hanging_chain, arm_reach,
)  # fmt: skip
