"""Swing-ups: cart-poles with much and little force, an acrobot, and a ready pendulum."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import trisweep as ts
from trisweep.problems.tasks.cart_pole import cart_pole_swing_up
from trisweep.problems.tasks.four_bar import four_bar_move
from trisweep.problems.tasks.pendulum import pendulum_swing_up

from .motion import Motion, Part, of_task


def cart_pole() -> Motion:
    return of_task(cart_pole_swing_up(steps=60))


def weak_cart_pole() -> Motion:
    """A quarter of the force, twice the time: it has to swing to and fro."""
    made = cart_pole_swing_up(steps=80, duration=4.0)
    made.problem.constrain("weak", made.problem.controls[0].symbol, lower=-5, upper=5)
    return of_task(made)


def acrobot() -> Motion:
    """Two rods; only the joint between them has a motor."""
    builder = ts.ModelBuilder("acrobot")
    builder.add("upper", joint="revolute", axis=(0, 1, 0), mass=1.0, com=(0, 0, -0.5), inertia=np.eye(3) / 12)
    builder.add(
        "lower", parent="upper", joint="revolute", axis=(0, 1, 0), position=(0, 0, -1), mass=1.0, com=(0, 0, -0.5),
        inertia=np.eye(3) / 12,
    )  # fmt: skip
    robot = builder.build()
    ocp = ts.Problem(steps=80, duration=4.0, integrator="rk4", name="swing up")
    q, v = ocp.state("q", 2), ocp.state("v", 2, lower=-12, upper=12)
    tau = ocp.control("tau", lower=-15, upper=15)
    ocp.derivative(q=v, v=robot.forward_dynamics(q, v, ts.vertcat(0, tau)))
    ocp.minimize(ocp.time_step * tau**2)
    ocp.constrain("hang", ts.vertcat(q, v), equals=0, at="start")
    ocp.constrain("stand", ts.vertcat(q, v), equals=[np.pi, 0, 0, 0], at="end")
    return Motion((Part(ocp, {}, {"q": [np.pi, 0.0]}),))


def pendulum() -> Motion:
    return of_task(pendulum_swing_up())


def four_bar() -> Motion:
    """A closed loop, moved by its crank."""
    return of_task(four_bar_move())


MOTIONS: tuple[Callable[[], Motion], ...] = (cart_pole, weak_cart_pole, acrobot, pendulum, four_bar)
