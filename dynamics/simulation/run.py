"""A simulation as it runs: rows of states as they come, steps that go on or are cut, events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ...errors import ModelError
from ..proximal.settings import NUMERIC
from .events import Event, Happening, Watch
from .trajectory import Trajectory

if TYPE_CHECKING:
    from .compiled_step import Stepper

Policy = Callable[[float, np.ndarray, np.ndarray], ArrayLike]

# Steps, at most, without a look at the progress display, at convergence, or at a state that is not finite.
CHUNK = 1000

# Steps that had to go on before all are given as many iterations, at most so many, if more than CHUNK are to come.
LATE, MOST = 50, 40

# Of a step that a tolerance cuts: how much of the length that the error asks for is taken, how it may change at once,
# and the length beside the whole step at which the run is given up.
SAFETY, SHRINK, GROW, SHORTEST = 0.9, 0.1, 5.0, 1e-9


class Run:
    """The rows of a run. tolerance: the error of a step beside 1 + |q|, 1 + |v|, or None for steps as they are."""

    def __init__(
        self,
        stepper: Stepper,
        q: np.ndarray,
        v: np.ndarray,
        times: np.ndarray,
        tolerance: float | None = None,
        events: Sequence[Event] = (),
    ):
        self.stepper, self.times, self.done, self.late = stepper, times, 0, 0
        self.tolerance, self.length, self.stopped = tolerance, float(times[1]), False
        self.watch = Watch(events, 0.0, q, v) if events else None
        count, sizes = len(times) - 1, stepper.function.sizes.outputs
        self.state = [q, v, np.zeros(sizes[2])]
        self.paths = [np.empty((count + 1, size)) for size in sizes[:2]]
        self.paths[0][0], self.paths[1][0] = q, v
        self.records = [np.empty((count, size)) for size in (*sizes[3:5], sizes[6])]
        self.errors, self.iterations = np.zeros(count), np.zeros(count, dtype=int)

    def all(self, policy: Policy | None, rows: np.ndarray | None) -> None:
        """Run to the end, to an event that ends it, or to a state that is not finite."""
        from ...native.progress_bar import Progress

        count, nv = len(self.times) - 1, self.stepper.model.nv
        rows = np.zeros((1, nv)) if rows is None else rows
        chunk = most = CHUNK if policy is None and self.tolerance is None else 1
        with Progress(f"simulating {self.times[-1]:g} s", count) as progress:
            while self.done < count and not self.stopped:
                k, n = self.done, min(chunk, count - self.done)
                tau = rows if len(rows) == 1 else rows[k : k + n]
                if policy is not None:
                    tau = asked(policy, float(self.times[k]), self.state[0], self.state[1], nv)
                kept = self.advance(n, tau) if self.tolerance is None else self.cut(self.tolerance, tau)
                if not kept:
                    return
                chunk = min(2 * chunk, most) if kept == n else kept
                progress.advance(kept)
                if self.late > LATE and count - self.done > CHUNK:
                    self.stepper.strengthen(min(int(self.iterations.max()), MOST))
                    self.late = 0

    def advance(self, count: int, tau: np.ndarray) -> int:
        """Some steps, the first at least until it has converged, the others as long as they do; how many were kept: 0
        where the next state is not finite.
        """
        k, h = self.done, self.stepper.h
        times = self.times[k : k + count, None]
        found, errors, iterations = self._steps(count, self.state, times, tau, h)
        good = np.isfinite(np.hstack([path[1:] for path in found[:3]])).all(axis=1)
        if self.stepper.may_go_on:
            good[1:] &= errors[1:] <= self.stepper.settings.tolerance
        kept = len(good) if good.all() else int(np.argmin(good))
        for j in range(kept if self.watch else 0):
            start = [path[j] for path in found[:3]]
            after = found[0][j + 1], found[1][j + 1]
            if self._ends(float(times[j, 0]), h, start, tau if len(tau) == 1 else tau[j : j + 1], after):
                kept = j + 1
                found[0][kept], found[1][kept] = self.paths[0][k + kept], self.paths[1][k + kept]
                break
        part, after_part = slice(k, k + kept), slice(k + 1, k + kept + 1)
        for path, new in zip(self.paths, found):
            path[after_part] = new[1 : kept + 1]
        for record, new in zip(self.records, (found[3], found[4], found[6])):
            record[part] = new[:kept]
        self.errors[part], self.iterations[part] = errors[:kept], self.stepper.iterations
        self.iterations[k : k + 1] = iterations
        self.late += iterations > self.stepper.iterations
        self.done += kept
        self.state = [path[kept] for path in found[:3]]
        return kept

    def cut(self, tolerance: float, tau: np.ndarray) -> int:
        """One step, cut into as many as the tolerance needs; 1, or 0 where it cannot be made."""
        k, t, whole = self.done, float(self.times[self.done]), self.stepper.h
        end, first = t + whole, True
        while end - t > SHORTEST * whole and not self.stopped:
            h = min(self.length, end - t)
            found, errors, iterations = self._steps(1, self.state, np.array([[t]]), tau, h)
            start, after = np.concatenate(self.state[:2]), np.concatenate([found[0][1], found[1][1]])
            error = float(np.abs(found[7][0] / (1.0 + np.abs(start))).max()) / tolerance
            if not (np.isfinite(after).all() and error <= 1.0):
                finite = np.isfinite(error) and np.isfinite(after).all()
                self.length = h * (max(SHRINK, SAFETY * error**-0.2) if finite else SHRINK)
                if self.length < SHORTEST * whole:
                    return 0
                continue
            if first:
                for record, new in zip(self.records, (found[3], found[4], found[6])):
                    record[k] = new[0]
                first = False
            if self.watch and self._ends(t, h, self.state, tau, (found[0][1], found[1][1])):
                self.state = [self.paths[0][k + 1], self.paths[1][k + 1], found[2][1]]
                break
            self.errors[k], self.iterations[k] = max(self.errors[k], errors[0]), max(self.iterations[k], iterations)
            t, self.state = t + h, [path[1] for path in found[:3]]
            grown = h * min(GROW, SAFETY * max(error, 1e-12) ** -0.2)
            self.length = grown if h == self.length else max(self.length, grown)  # the last piece is cut short
        for path, new in zip(self.paths, self.state):
            path[k + 1] = new
        self.done += 1
        return 1

    def _ends(
        self, t: float, h: float, start: list[np.ndarray], tau: np.ndarray, after: tuple[np.ndarray, np.ndarray]
    ) -> Happening | None:
        """The event in a step from a state that ends the run, if there is one: it is the last row then."""
        assert self.watch is not None
        time = np.array([[t]])

        def reach(length: float) -> tuple[np.ndarray, np.ndarray]:
            found = self._steps(1, start, time, tau, length)[0]
            return found[0][1], found[1][1]

        last = self.watch.look(t, h, reach, *after)
        if last is not None:
            row = int(np.searchsorted(self.times, t + 1e-9 * self.stepper.h, side="right"))
            self.stopped, self.times = True, np.append(self.times[:row], last.time)
            self.paths[0][row], self.paths[1][row] = last.q, last.v
        return last

    def _steps(
        self, count: int, state: list[np.ndarray], times: np.ndarray, tau: np.ndarray, h: float
    ) -> tuple[tuple[np.ndarray, ...], np.ndarray, int]:
        """Steps of a length from a state, the first until it has converged; with an estimate of the error of each one's
        accelerations, and the iterations of the first.
        """
        stepper, length = self.stepper, np.array([[h]])
        found = stepper.function.iterate(count, *state, times, tau, length, carried=3)
        errors, iterations = stepper.errors(found[5]), stepper.iterations
        while stepper.may_go_on and not errors[0] <= stepper.settings.tolerance and iterations < NUMERIC:
            if not np.isfinite(errors[0]):
                break
            again = stepper.function.iterate(1, *state[:2], found[2][1], times[:1], tau[:1], length, carried=3)
            found, errors = again, stepper.errors(again[5])
            iterations += stepper.iterations
        return found, errors, iterations

    def trajectory(self, seconds: float) -> Trajectory:
        n, constraints = self.done, self.stepper.constraints
        a, forces, tau = (record[:n] for record in self.records)
        q, v = (path[: n + 1] for path in self.paths)
        ends = np.cumsum([row.size for row in constraints])
        split = tuple(np.split(forces, ends[:-1], axis=1)) if constraints else ()
        finished = "finished" if n == len(self.times) - 1 else "diverged"
        return Trajectory(
            self.stepper.model,
            constraints,
            "stopped" if self.stopped else finished,
            self.times[: n + 1],
            q,
            v,
            a,
            tau,
            split,
            self.iterations[:n],
            self.errors[:n],
            seconds,
            tuple(self.watch.found) if self.watch else (),
        )


def asked(policy: Policy, t: float, q: np.ndarray, v: np.ndarray, nv: int) -> np.ndarray:
    """The policy's joint forces (1, nv), checked."""
    tau = np.asarray(policy(t, q.copy(), v.copy()), dtype=float)
    if tau.size != nv or tau.ndim > 2:
        raise ModelError(f"simulate: at {t:g} s the policy gave joint forces of shape {tau.shape}, expected ({nv},)")
    if not np.isfinite(tau).all():
        raise ModelError(f"simulate: at {t:g} s the policy gave a joint force that is not finite, expected numbers")
    return tau.reshape(1, nv)
