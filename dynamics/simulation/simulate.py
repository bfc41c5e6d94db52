"""Motion over time under joint forces and constraints, loops among them, in machine code.

A step (see `integrators`) is one compiled function that feeds itself: without a policy in Python, thousands of steps
run without Python between them. Constraints hold accelerations; what positions and velocities drift is taken back by
projection (see `projection`) or by Baumgarte's stabilisation, by their `period` and `target` (Sathya 2025 Sec. VI-A).
The forces of a step are where the next one's proximal iterations start from; a step whose iterations have not converged
goes on from the forces they have reached.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ...errors import ModelError, said
from ..algebra.arrays import finite, numbers, numbers_only
from ..constraints.constraint import Constraint, listed
from ..given import number, positive, word
from ..methods import FORWARD, SOFT
from ..proximal.settings import Proximal
from .events import Event, listed_events
from .integrators import ADAPTIVE, DEFAULT, INTEGRATORS
from .projection import met
from .run import Policy, Run
from .trajectory import Trajectory

if TYPE_CHECKING:
    from ..model import Model

# How drift may be taken back.
DRIFT = ("projection", "stabilisation")
MOST_STEPS = 10**8


def simulate(
    model: Model,
    q: ArrayLike,
    v: ArrayLike | None = None,
    tau: ArrayLike | Policy | ca.Function | None = None,
    constraints: Sequence[Constraint] = (),
    duration: float = 1.0,
    step: float = 1e-3,
    integrator: str | None = None,
    method: str | None = None,
    settings: Proximal | None = None,
    tolerance: float | None = None,
    events: Sequence[Event] = (),
    drift: str | None = None,
) -> Trajectory:
    """The motion from q (nq,) and v (nv,) over `duration`, s, rounded to whole steps of `step`, s.

    tau: joint forces (nv,); one row a step (steps, nv); a policy f(t, q, v) -> (nv,), called once a step; the same as a
    CasADi function, which is compiled into the step; or None for none. They are held over a step.
    integrator: "rk4", "dormand-prince", "semi-implicit euler" or "euler", see `integrators`; None for "rk4", and for
    "dormand-prince" where there is a tolerance. method and settings: as for `Model.forward_dynamics` and
    `Model.proximal_dynamics`; loops take a proximal method.
    tolerance: each step is cut into as many as keep the error of each, beside 1 + |q| and 1 + |v|, within this.
    events: see `Event`; one that `stops` is the last row, `status` is then "stopped"; `events` of the trajectory has
    all that took place.
    drift: "projection" brings every state back onto the constraints, "stabilisation" leaves that to their periods; None
    for the first where the start meets them, else the second.

    A state that stops being finite ends the run: `status` is then "diverged", and what came before is there.

    >>> trajectory = simulate(model, q, v, constraints=[point("coupler", tip, other="rocker", target=end)], duration=10)
    >>> trajectory.plot("run.png")
    """
    from .compiled_step import Stepper

    model.numbers_only("simulate")
    constraints = listed(constraints)
    for row in constraints:
        numbers_only(f"simulate: constraint on '{row.link}'", row.K, row.k, *(more.K for more in row.more))
    start_q = numbers(model.configuration(q), "simulate: q")
    start_v = numbers(model.velocity(np.zeros(model.nv) if v is None else v), "simulate: v")
    count, step = _steps(duration, step), float(step)
    times = step * np.arange(count + 1)
    integrator = (DEFAULT if tolerance is None else ADAPTIVE) if integrator is None else integrator
    _check_way(integrator, tolerance, method, settings)
    tolerance = None if tolerance is None else float(tolerance)
    events = listed_events(events)
    policy: Policy | None = None
    compiled_policy = rows = None
    if isinstance(tau, ca.Function):
        function = _checked_policy(model, tau)
        if tolerance is None:
            compiled_policy = function
        else:  # held over the whole step, however it is cut
            policy = partial(_evaluated, function)
    elif callable(tau):
        policy = tau
    else:
        rows = _rows(model, np.zeros(model.nv) if tau is None else tau, count)
    drift = _way(model, constraints, start_q, start_v, drift, method)
    stepper = Stepper(model, constraints, step, integrator, method, settings, compiled_policy, drift)
    start = time.perf_counter()
    run = Run(stepper, start_q.ravel(), start_v.ravel(), times, tolerance, events)
    run.all(policy, rows)
    return run.trajectory(time.perf_counter() - start - stepper.compiling)


def _check_way(integrator: str, tolerance: float | None, method: str | None, settings: Proximal | None) -> None:
    word("integrator", integrator, INTEGRATORS)
    if method is not None:
        word("method", method, ("aba", *FORWARD))
    if settings is not None and not isinstance(settings, Proximal):
        raise ModelError(f"simulate: settings is a {type(settings).__name__}, expected Proximal, or None")
    if tolerance is None:
        return
    positive("simulate: tolerance", tolerance, "more than 0, or None")
    if integrator != ADAPTIVE:
        raise ModelError(f"simulate: a tolerance with '{integrator}', expected '{ADAPTIVE}', which knows its error")


def _way(
    model: Model,
    constraints: tuple[Constraint, ...],
    q: np.ndarray,
    v: np.ndarray,
    drift: str | None,
    method: str | None,
) -> str:
    """How drift is taken back."""
    if drift is not None:
        word("simulate: drift", drift, DRIFT)
    if not constraints or method in SOFT:
        return "stabilisation"
    return drift or ("projection" if met(model, constraints, q, v) else "stabilisation")


def _evaluated(policy: ca.Function, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.asarray(policy(t, q, v)).ravel()


def _steps(duration: float, step: float) -> int:
    each, whole = number(step), number(duration)
    if not (np.isfinite(each) and each > 0):
        raise ModelError(f"simulate: step is {said(step)} s, expected more than 0")
    if not 0.5 < whole / each <= MOST_STEPS:
        raise ModelError(
            f"simulate: duration is {said(duration)} s, expected at least a step of {each} s, at most {MOST_STEPS:,}"
        )
    return round(whole / each)


def _rows(model: Model, given: ArrayLike, count: int) -> np.ndarray:
    """Joint forces (1, nv) or (steps, nv)."""
    tau = numbers(finite(given, "simulate: tau"), "simulate: tau")
    rows = np.atleast_2d(tau)
    if rows.shape not in ((1, model.nv), (count, model.nv)):
        raise ModelError(
            f"simulate: tau has shape {tau.shape}, expected ({model.nv},), ({count}, {model.nv}) or a policy"
        )
    return rows


def _checked_policy(model: Model, policy: ca.Function) -> ca.Function:
    shapes = [policy.size_in(i) for i in range(policy.n_in())], [policy.size_out(i) for i in range(policy.n_out())]
    expected = [(1, 1), (model.nq, 1), (model.nv, 1)], [(model.nv, 1)]
    if shapes != expected:
        raise ModelError(
            f"simulate: policy '{policy.name()}' maps {shapes[0]} to {shapes[1]}, expected (t, q, v) of {expected[0]} "
            f"to joint forces {expected[1]}"
        )
    return policy
