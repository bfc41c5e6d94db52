"""One step of time as an expression, by the name of an integrator; configurations move on their manifold.

    "semi-implicit euler"   v+ = v + h a,  q+ = q (+) h v+                  (Sathya 2025 eqs. 54 and 55)
    "euler"                 v+ = v + h a,  q+ = q (+) h v
    "rk4"                   the classical Runge-Kutta method of order 4 on q' = E(q) v, v' = a; inside the step
                            quaternions and (cos, sin) pairs are plain numbers, brought back to norm 1 at its end

Joint forces are held over the step. Each function takes what solves for accelerations, `dynamics(q, v, forces) -> a,
forces, measures`, where the forces given are those to start from, and the measures (see `proximal`) judge the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import casadi as ca

from ..joints.configuration import integrate, normalise, rate

if TYPE_CHECKING:
    from ..model import Model

Dynamics = Callable[[ca.SX, ca.SX, ca.SX], tuple[ca.SX, ca.SX, ca.SX]]


class Step(NamedTuple):
    """The state after the step, the forces to start the next one from; accelerations and forces at its beginning; the
    measures of every solve.
    """

    q: ca.SX
    v: ca.SX
    last_forces: ca.SX
    a: ca.SX
    forces: ca.SX
    measures: ca.SX


def semi_implicit_euler(model: Model, dynamics: Dynamics, q: ca.SX, v: ca.SX, forces: ca.SX, h: float) -> Step:
    a, forces, measures = dynamics(q, v, forces)
    after = v + h * a
    return Step(ca.SX(normalise(model, integrate(model, q, h * after))), after, forces, a, forces, measures)


def euler(model: Model, dynamics: Dynamics, q: ca.SX, v: ca.SX, forces: ca.SX, h: float) -> Step:
    a, forces, measures = dynamics(q, v, forces)
    return Step(ca.SX(normalise(model, integrate(model, q, h * v))), v + h * a, forces, a, forces, measures)


def rk4(model: Model, dynamics: Dynamics, q: ca.SX, v: ca.SX, forces: ca.SX, h: float) -> Step:
    a1, first, m1 = dynamics(q, v, forces)
    r1, v2 = rate(model, q, v), v + h / 2 * a1
    q2 = q + h / 2 * r1
    a2, forces, m2 = dynamics(q2, v2, first)
    r2, v3 = rate(model, q2, v2), v + h / 2 * a2
    q3 = q + h / 2 * r2
    a3, forces, m3 = dynamics(q3, v3, forces)
    r3, v4 = rate(model, q3, v3), v + h * a3
    q4 = q + h * r3
    a4, forces, m4 = dynamics(q4, v4, forces)
    r4 = rate(model, q4, v4)
    q_after = ca.SX(normalise(model, q + h / 6 * (r1 + 2 * r2 + 2 * r3 + r4)))
    v_after = v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
    return Step(q_after, v_after, forces, a1, first, ca.vertcat(m1, m2, m3, m4))


INTEGRATORS: dict[str, Callable[..., Step]] = {"semi-implicit euler": semi_implicit_euler, "euler": euler, "rk4": rk4}
