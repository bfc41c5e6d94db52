"""What a tool carries: matter whose numbers come with every plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ...dynamics import Model
from ...dynamics.algebra.arrays import is_symbolic
from ...dynamics.algebra.spatial import Inertia
from ...dynamics.alterations import loaded, payload
from ...errors import ProblemError, said

ENTRIES = 10  # mass, three first moments, six second moments
UPPER = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


@dataclass(frozen=True)
class Payload:
    """Matter fixed to a link: mass in kg, its centre (3,) in m and the inertia (3, 3) about that in kg m^2, along the
    link's axes.
    """

    link: str
    mass: float
    centre: ArrayLike = (0.0, 0.0, 0.0)
    inertia: ArrayLike | None = None

    def on(self, model: Model) -> FilledPayload:
        """As matter of the body that carries it."""
        body, matter = payload(model, self.link, self.mass, self.centre, self.inertia)
        if is_symbolic(matter.m, matter.h, matter.J):
            raise ProblemError(f"plan: payload of '{self.link}' has symbols in it, expected numbers")
        J = [matter.J[i, j] for i, j in UPPER]
        return FilledPayload(body, np.array([matter.m, *np.ravel(matter.h), *J], dtype=float))


@dataclass(frozen=True, eq=False)
class FilledPayload:
    """A body, or -1 for none, and the moments (10,) of what it carries, in its frame."""

    body: int
    moments: np.ndarray


NOTHING = FilledPayload(-1, np.zeros(ENTRIES))


def carried(model: Model, given: Any) -> FilledPayload:
    """What a user says is carried."""
    if given is None:
        return NOTHING
    if not isinstance(given, Payload):
        raise ProblemError(f"plan: payload is {said(given)}, expected a Payload")
    return given.on(model)


def carrying(model: Model, body: int, moments: ca.SX) -> Model:
    """The robot with matter of symbolic moments (10,) on a body."""
    J = ca.SX(3, 3)
    for k, (i, j) in enumerate(UPPER):
        J[i, j] = J[j, i] = moments[4 + k]
    return loaded(model, body, Inertia(moments[0], moments[1:4], J))  # type: ignore[arg-type]


def torques(model: Model, load: FilledPayload, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Joint forces (count, nv) of a robot that carries something, for states (count, n)."""
    if load.body < 0:
        return model.compiled.inverse_dynamics(q, v, a)

    def sweep(q: ca.SX, v: ca.SX, a: ca.SX, moments: ca.SX) -> list[Any]:
        return [carrying(model, load.body, moments).inverse_dynamics(q, v, a)]

    return model.compiled.batch(("torques_of_a_load", load.body), sweep, (q, v, a, load.moments[None]))[0]
