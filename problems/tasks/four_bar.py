"""A four-bar linkage moved from one crank angle to another: optimal control through a closed loop.

Crank and rocker turn on the ground, the coupler on the crank; a point closes the loop between the coupler's tip and the
rocker's. All turns are about y, so the point's row across the plane says nothing: its rows are dependent, which the
proximal dynamics bear. Baumgarte's stabilisation keeps the loop closed on the way.

    crank, coupler, rocker, ground   0.3, 0.7, 0.6, 0.8 m; rods of 1 kg/m
"""

from __future__ import annotations

import numpy as np
from casadi import sumsqr, vertcat

from ...dynamics import Model, ModelBuilder, Shape, point
from ...dynamics.algebra.spatial import placement
from ...dynamics.constraints.constraint import Constraint
from ...ocp import Problem
from ..ready import Task

CRANK, COUPLER, ROCKER, GROUND = 0.3, 0.7, 0.6, 0.8  # m
DENSITY = 1.0  # kg/m
TORQUE_LIMIT = 4  # N m
PERIOD = 0.1  # s, of the stabilisation


def linkage() -> tuple[Model, Constraint]:
    """The open tree (crank, coupler, rocker), and the point that closes it."""
    builder = ModelBuilder("four-bar")
    rods = (
        ("crank", "universe", 0.0, CRANK),
        ("coupler", "crank", CRANK, COUPLER),
        ("rocker", "universe", GROUND, ROCKER),
    )
    for name, parent, at, length in rods:
        middle, mass = (length / 2, 0.0, 0.0), DENSITY * length
        inertia = mass * length**2 / 12 * np.diag([0.0, 1.0, 1.0])
        builder.add(
            name, parent, "revolute", axis=(0, 1, 0), position=(at, 0, 0), mass=mass, com=middle, inertia=inertia
        )
        builder.shape(Shape("box", (length, 0.03, 0.03), name, placement(np.eye(3), np.array(middle))))
    closure = point("coupler", (COUPLER, 0, 0), target=(ROCKER, 0, 0), other="rocker", period=PERIOD)
    return builder.build(), closure


def closed_configuration(angle: float) -> np.ndarray:
    """(crank, coupler relative to it, rocker), rad, with the loop closed, the crank raised by `angle` from the ground;
    coupler and rocker meet above the line between their other ends. A turn about y lifts x towards -z.
    """
    tip = CRANK * np.array([np.cos(angle), np.sin(angle)])
    across = np.array([GROUND, 0.0]) - tip
    d = np.linalg.norm(across)
    coupler = np.arctan2(across[1], across[0]) + np.arccos((COUPLER**2 + d**2 - ROCKER**2) / (2 * COUPLER * d))
    joint = tip + COUPLER * np.array([np.cos(coupler), np.sin(coupler)])
    return -np.array([angle, coupler - angle, np.arctan2(joint[1], joint[0] - GROUND)])


def four_bar_move(start: float = 0.4, goal: float = 2.6, steps: int = 40, step: float = 0.025) -> Task:
    """Turn the crank of a four-bar linkage from rest to rest with the least torque, through its closed loop.

    start, goal: how far the crank is raised, rad. Runge-Kutta of order 4; the crank's torque is held over a step.
    Cost: torque^2 + 1e-2 |v|^2, summed over the steps. At the end the crank is held, and the loop the rest with it.
    Guess: the linkage closed at crank angles in even steps, at rest, without torque.
    """
    model, closure = linkage()
    ocp = Problem(steps=steps, step=step, integrator="rk4")
    q, v = ocp.state("q", model.nq), ocp.state("v", model.nv)
    torque = ocp.control("torque", 1, lower=-TORQUE_LIMIT, upper=TORQUE_LIMIT)
    a, _ = model.forward_dynamics(q, v, vertcat(torque, 0, 0), [closure])
    ocp.derivative(q=v, v=a)
    ocp.minimize(sumsqr(torque) + 1e-2 * sumsqr(v))
    ocp.constrain("start pose", q, equals=closed_configuration(start), at="start")
    ocp.constrain("start at rest", v, equals=0, at="start")
    ocp.constrain("crank at its goal", q[0], equals=-goal, at="end")
    ocp.constrain("crank at rest", v[0], equals=0, at="end")
    guess = [closed_configuration(angle) for angle in np.linspace(start, goal, steps + 1)]
    return Task("four_bar_move", ocp, guess={"q": np.array(guess)})
