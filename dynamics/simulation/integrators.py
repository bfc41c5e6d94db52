"""One step of time as an expression, by the name of an integrator; configurations move on their manifold.

    "rk4"                   the classical Runge-Kutta method of order 4
    "dormand-prince"        a method of order 5 with an estimate of its error, of order 4 (Dormand and Prince 1980)
    "semi-implicit euler"   v+ = v + h a,  q+ = q (+) h v+                  (Sathya 2025 eqs. 54 and 55)
    "euler"                 v+ = v + h a,  q+ = q (+) h v

Runge-Kutta methods work on q' = E(q) v, v' = a: inside the step quaternions and (cos, sin) pairs are plain numbers,
brought back to norm 1 at its end. Joint forces are held over the step. Each function takes what solves for
accelerations, `dynamics(q, v, forces) -> a, forces, measures`, where the forces given are those to start from, and the
measures (see `proximal`) judge the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import casadi as ca

from ..joints.configuration import integrate, normalise, rate

if TYPE_CHECKING:
    from ..model import Model

Dynamics = Callable[[ca.SX, ca.SX, ca.SX], tuple[ca.SX, ca.SX, ca.SX]]


class Step(NamedTuple):
    """The state after the step, the forces to start the next one from; accelerations and forces at its beginning; the
    measures of every solve; where the integrator has one, an estimate of the error of q and v.
    """

    q: ca.SX
    v: ca.SX
    last_forces: ca.SX
    a: ca.SX
    forces: ca.SX
    measures: ca.SX
    error: ca.SX = ca.SX(0, 1)


class Tableau(NamedTuple):
    """x_i = x + h sum_j A_ij x'_j,  x+ = x + h sum_i b_i x'_i;  an estimate of its error is h sum_i e_i x'_i."""

    A: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]
    e: tuple[float, ...] = ()


RK4 = Tableau(((), (1 / 2,), (0, 1 / 2), (0, 0, 1)), (1 / 6, 1 / 3, 1 / 3, 1 / 6))
DORMAND_PRINCE = Tableau(
    (
        (),
        (1 / 5,),
        (3 / 40, 9 / 40),
        (44 / 45, -56 / 15, 32 / 9),
        (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
        (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
        (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
    ),
    (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0),
    (71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40),
)


def runge_kutta(
    tableau: Tableau, model: Model, dynamics: Dynamics, q: ca.SX, v: ca.SX, forces: ca.SX, h: ca.SX
) -> Step:
    start = ca.vertcat(q, v)
    slopes: list[ca.SX] = []
    measures: list[ca.SX] = []
    first = accelerations = forces
    for shares in tableau.A:
        at_q, at_v = ca.vertsplit(start + h * weighted(shares, slopes, start), [0, model.nq, model.nq + model.nv])
        a, forces, measure = dynamics(at_q, at_v, forces)
        if not slopes:
            accelerations, first = a, forces
        slopes.append(ca.vertcat(rate(model, at_q, at_v), a))
        measures.append(measure)
    after = start + h * weighted(tableau.b, slopes, start)
    error = h * weighted(tableau.e, slopes, start) if tableau.e else ca.SX(0, 1)
    q_after = ca.SX(normalise(model, after[: model.nq]))
    return Step(q_after, after[model.nq :], forces, accelerations, first, ca.vertcat(*measures), error)


def weighted(shares: tuple[float, ...], slopes: list[ca.SX], like: ca.SX) -> ca.SX:
    """The sum of slopes by their shares."""
    return sum((share * slope for share, slope in zip(shares, slopes) if share), ca.SX.zeros(like.shape))


def semi_implicit_euler(model: Model, dynamics: Dynamics, q: ca.SX, v: ca.SX, forces: ca.SX, h: ca.SX) -> Step:
    a, forces, measures = dynamics(q, v, forces)
    after = v + h * a
    return Step(ca.SX(normalise(model, integrate(model, q, h * after))), after, forces, a, forces, measures)


def euler(model: Model, dynamics: Dynamics, q: ca.SX, v: ca.SX, forces: ca.SX, h: ca.SX) -> Step:
    a, forces, measures = dynamics(q, v, forces)
    return Step(ca.SX(normalise(model, integrate(model, q, h * v))), v + h * a, forces, a, forces, measures)


INTEGRATORS: dict[str, Callable[..., Step]] = {
    "rk4": partial(runge_kutta, RK4),
    "dormand-prince": partial(runge_kutta, DORMAND_PRINCE),
    "semi-implicit euler": semi_implicit_euler,
    "euler": euler,
}

# What is taken for steps of a given length, and for those that a tolerance cuts.
DEFAULT, ADAPTIVE = "rk4", "dormand-prince"
