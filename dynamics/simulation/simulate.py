"""Motion over time under joint forces and constraints, loops among them, in machine code.

A step (see `integrators`) is one compiled function that feeds itself: without a policy in Python, thousands of steps
run without Python between them. Constraints hold accelerations; Baumgarte's stabilisation, by their `period` and
`target`, keeps positions from drifting away (Sathya 2025 Sec. VI-A). The forces of a step are where the next one's
proximal iterations start from; a step whose iterations have not converged goes on from the forces they have reached.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ...errors import ModelError
from ..algebra.arrays import finite, numbers, numbers_only
from ..constraints.constraint import Constraint, listed
from ..proximal.settings import NUMERIC
from .integrators import INTEGRATORS
from .trajectory import Trajectory

if TYPE_CHECKING:
    from ..model import Model
    from ..proximal.settings import Proximal
    from .compiled_step import Stepper

Policy = Callable[[float, np.ndarray, np.ndarray], ArrayLike]

# Steps, at most, without a look at the progress display, at convergence, or at a state that is not finite.
CHUNK = 1000

# Steps that had to go on before all are given as many iterations, at most so many, if more than CHUNK are to come.
LATE, MOST = 50, 40


def simulate(
    model: Model,
    q: ArrayLike,
    v: ArrayLike | None = None,
    tau: ArrayLike | Policy | ca.Function | None = None,
    constraints: Sequence[Constraint] = (),
    duration: float = 1.0,
    step: float = 1e-3,
    integrator: str = "semi-implicit euler",
    method: str | None = None,
    settings: Proximal | None = None,
) -> Trajectory:
    """The motion from q (nq,) and v (nv,) over `duration`, s, rounded to whole steps of `step`, s.

    tau: joint forces (nv,); one row a step (steps, nv); a policy f(t, q, v) -> (nv,), called once a step; the same as a
    CasADi function, which is compiled into the step; or None for none. They are held over a step. A model's `damping`
    is left out, as everywhere.
    integrator: "semi-implicit euler", "euler" or "rk4", see `integrators`. method and settings: as for
    `Model.forward_dynamics` and `Model.proximal_dynamics`; loops take a proximal method.

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
    count = _steps(duration, step)
    times = step * np.arange(count + 1)
    if integrator not in INTEGRATORS:
        raise ModelError(f"integrator is '{integrator}', expected one of {', '.join(INTEGRATORS)}")
    policy = compiled_policy = rows = None
    if isinstance(tau, ca.Function):
        compiled_policy = _checked_policy(model, tau)
    elif callable(tau):
        policy = tau
    else:
        rows = _rows(model, np.zeros(model.nv) if tau is None else tau, count)
    stepper = Stepper(model, constraints, step, integrator, method, settings, compiled_policy)
    start = time.perf_counter()
    run = _Run(stepper, start_q.ravel(), start_v.ravel(), times)
    run.all(policy, rows)
    return run.trajectory(time.perf_counter() - start - stepper.compiling)


def _steps(duration: float, step: float) -> int:
    if not (np.isfinite(step) and step > 0):
        raise ModelError(f"simulate: step is {step} s, expected more than 0")
    if not np.isfinite(duration) or round(duration / step) < 1:
        raise ModelError(f"simulate: duration is {duration} s, expected at least a step of {step} s")
    return round(duration / step)


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


class _Run:
    """The rows of a run as they come."""

    def __init__(self, stepper: Stepper, q: np.ndarray, v: np.ndarray, times: np.ndarray):
        self.stepper, self.times, self.done, self.late = stepper, times, 0, 0
        count, sizes = len(times) - 1, stepper.function.sizes.outputs
        self.state = [q, v, np.zeros(sizes[2])]
        self.paths = [np.empty((count + 1, size)) for size in sizes[:2]]
        self.paths[0][0], self.paths[1][0] = q, v
        self.records = [np.empty((count, size)) for size in (*sizes[3:5], sizes[6])]
        self.errors, self.iterations = np.zeros(count), np.zeros(count, dtype=int)

    def all(self, policy: Policy | None, rows: np.ndarray | None) -> None:
        """Run to the end, or to a state that is not finite."""
        from ...native.progress_bar import Progress

        count, times, nv = len(self.times) - 1, self.times[:, None], self.stepper.model.nv
        rows = np.zeros((1, nv)) if rows is None else rows
        chunk = most = CHUNK if policy is None else 1
        with Progress(f"simulating {times[-1, 0]:g} s", count) as progress:
            while self.done < count:
                k, n = self.done, min(chunk, count - self.done)
                tau = rows if len(rows) == 1 else rows[k : k + n]
                if policy is not None:
                    tau = _asked(policy, float(times[k, 0]), self.state[0], self.state[1], nv)
                kept = self.advance(n, times[k : k + n], tau)
                if not kept:
                    return
                chunk = min(2 * chunk, most) if kept == n else kept
                progress.advance(kept)
                if self.late > LATE and count - self.done > CHUNK:
                    self.stepper.strengthen(min(int(self.iterations.max()), MOST))
                    self.late = 0

    def advance(self, count: int, times: np.ndarray, tau: np.ndarray) -> int:
        """Some steps, the first at least until it has converged, the others as long as they do; how many were kept: 0
        where the next state is not finite.
        """
        found, errors = self._steps(count, self.state[2], times, tau)
        iterations = self.stepper.iterations
        while self.stepper.may_go_on and not errors[0] <= self.stepper.settings.tolerance and iterations < NUMERIC:
            if not np.isfinite(errors[0]):
                return 0
            found, errors = self._steps(1, found[2][1], times[:1], tau[:1])
            iterations += self.stepper.iterations
        good = np.isfinite(np.hstack([path[1:] for path in found[:3]])).all(axis=1)
        if self.stepper.may_go_on:
            good[1:] &= errors[1:] <= self.stepper.settings.tolerance
        kept = len(good) if good.all() else int(np.argmin(good))
        part, after = slice(self.done, self.done + kept), slice(self.done + 1, self.done + kept + 1)
        for path, new in zip(self.paths, found):
            path[after] = new[1 : kept + 1]
        for record, new in zip(self.records, (found[3], found[4], found[6])):
            record[part] = new[:kept]
        self.errors[part], self.iterations[part] = errors[:kept], self.stepper.iterations
        self.iterations[self.done : self.done + 1] = iterations
        self.late += iterations > self.stepper.iterations
        self.done += kept
        self.state = [path[kept] for path in found[:3]]
        return kept

    def _steps(
        self, count: int, forces: np.ndarray, times: np.ndarray, tau: np.ndarray
    ) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
        """Steps from the state there is, and from given forces; with an estimate of each one's error."""
        found = self.stepper.function.iterate(count, *self.state[:2], forces, times, tau, carried=3)
        return found, self.stepper.errors(found[5])

    def trajectory(self, seconds: float) -> Trajectory:
        n, constraints = self.done, self.stepper.constraints
        a, forces, tau = (record[:n] for record in self.records)
        q, v = (path[: n + 1] for path in self.paths)
        ends = np.cumsum([row.size for row in constraints])
        split = tuple(np.split(forces, ends[:-1], axis=1)) if constraints else ()
        return Trajectory(
            self.stepper.model,
            constraints,
            "finished" if n == len(self.times) - 1 else "diverged",
            self.times[: n + 1],
            q,
            v,
            a,
            tau,
            split,
            self.iterations[:n],
            self.errors[:n],
            seconds,
        )


def _asked(policy: Policy, t: float, q: np.ndarray, v: np.ndarray, nv: int) -> np.ndarray:
    """The policy's joint forces, checked."""
    tau = np.asarray(policy(t, q.copy(), v.copy()), dtype=float)
    if tau.size != nv or tau.ndim > 2:
        raise ModelError(f"simulate: at {t:g} s the policy gave joint forces of shape {tau.shape}, expected ({nv},)")
    if not np.isfinite(tau).all():
        raise ModelError(f"simulate: at {t:g} s the policy gave a joint force that is not finite, expected numbers")
    return tau.reshape(1, nv)
