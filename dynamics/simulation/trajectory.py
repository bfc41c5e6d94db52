"""What a simulation leaves: states, forces, and how well energy and constraints were kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import casadi as ca
import numpy as np

from ...cached import cached_property
from ..algebra.arrays import Array, rows
from ..algebra.spatial import Transform, placement
from ..constraints.closure_error import displacement, frame_pose, target_pose
from ..constraints.constraint import Constraint
from ..constraints.loops import couplings
from ..free.rnea import body_accelerations
from ..free.tree_motion import tree_motion
from .animation import animate
from .events import Happening

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..model import Model


# Events that are printed, at most.
SHOWN = 5


class Drift(NamedTuple):
    """Distance of each constraint from being met, a column each: (n + 1, constraints), m and rad. Constraints over
    further links (`more`) have no pose, and NaN here.
    """

    position: np.ndarray
    rotation: np.ndarray


@dataclass(frozen=True, eq=False)
class Trajectory:
    """times (n + 1,) in s, q (n + 1, nq), v (n + 1, nv); a, tau (n, nv) and each constraint's forces (n, m), held over
    the step from their row's time.

    status: "finished"; "stopped" where an event ended the run, which is the last row then; or "diverged" where the next
    state was not finite: the rows end there. events: those that took place, in their order. iterations and error (n,)
    are those of the proximal method that found the accelerations, 0 of a direct one: how many, and an estimate of the
    error that is left, relative to the largest acceleration or to 1. seconds: the run's own time, without compiling.
    """

    model: Model = field(repr=False)
    constraints: tuple[Constraint, ...] = field(repr=False)
    status: str
    times: np.ndarray = field(repr=False)
    q: np.ndarray = field(repr=False)
    v: np.ndarray = field(repr=False)
    a: np.ndarray = field(repr=False)
    tau: np.ndarray = field(repr=False)
    forces: tuple[np.ndarray, ...] = field(repr=False)
    iterations: np.ndarray = field(repr=False)
    error: np.ndarray = field(repr=False)
    seconds: float
    events: tuple[Happening, ...] = field(default=(), repr=False)

    @property
    def advice(self) -> str:
        """What to try where the run did not finish."""
        if self.status != "diverged":
            return ""
        return (
            f"the state after {self.times[-1]:.6g} s is not finite: try a shorter step, longer periods of the "
            "constraints, or smaller gains of the policy"
        )

    @cached_property
    def energy(self) -> np.ndarray:
        """Kinetic and potential energy (n + 1,), J."""
        model = self.model
        energy = model.compiled.batch(
            ("energy",), lambda q, v: [model.kinetic_energy(q, v) + model.potential_energy(q)], [self.q, self.v]
        )
        return energy[0][:, 0]

    @cached_property
    def work(self) -> np.ndarray:
        """The work of the joint forces, the passive ones included, so far (n + 1,), J, by what they and the velocities
        are at both ends of each step.
        """
        forces = self.tau
        if self.model.passive:
            model = self.model
            own = model.compiled.batch(("passive",), lambda q, v: [model.passive_forces(q, v)], [self.q, self.v])[0]
            forces = forces + (own[1:] + own[:-1]) / 2
        power = np.einsum("ij,ij->i", forces, self.v[1:] + self.v[:-1]) / 2
        return np.concatenate([[0.0], np.cumsum(power * np.diff(self.times))])

    @cached_property
    def drift(self) -> Drift:
        """How far the constraints are from being met; one without a target, from where it was at the start."""
        found = np.full((2, len(self.times), len(self.constraints)), np.nan)
        for k, row in enumerate(self.constraints):
            if row.more:
                continue
            target = target_pose(self.model, row)
            if target is None:
                start = frame_pose(self.model, self.q[:1].T, row)
                target = placement(start.R, start.p)
            away = self._displacement(row, target)
            found[0, :, k], found[1, :, k] = (np.linalg.norm(part, axis=1) for part in (away[:, 3:], away[:, :3]))
        return Drift(*found)

    def _displacement(self, row: Constraint, target: Transform) -> np.ndarray:
        key = ("displacement", row.key, np.asarray(target.R).tobytes(), np.asarray(target.p).tobytes())
        model = self.model
        return model.compiled.batch(key, lambda q: [displacement(model, q, row, target)], [self.q])[0]

    @cached_property
    def residual(self) -> np.ndarray:
        """max |k - J a| of all constraint rows (n,), m/s^2 and rad/s^2: what the accelerations miss of the demands."""
        if not self.constraints:
            return np.zeros(len(self.a))
        key, states = ("residual", tuple(row.key for row in self.constraints)), [self.q[:-1], self.v[:-1], self.a]
        return np.abs(self.model.compiled.batch(key, self._residual, states)[0]).max(axis=1)

    def _residual(self, q: ca.SX, v: ca.SX, a: ca.SX) -> list[Array]:
        move = tree_motion(self.model, q, v)
        accelerations = body_accelerations(self.model, move, a)
        held = couplings(self.model, self.constraints, v, move)
        return [rows([row.residual(accelerations) for row in held])]

    def __str__(self) -> str:
        steps = len(self.times) - 1
        pace = f", {1e6 * self.seconds / steps:.2f} us a step" if steps else ""
        change = self.energy - self.energy[0] - self.work
        lines = [
            f"{self.model.name}: {self.status}, {self.times[-1]:g} s in {steps} steps{pace}",
            f"  energy {self.energy[0]:.6g} J at the start, at most {np.abs(change).max():.2g} J from the work done",
        ]
        if self.constraints:
            position, rotation = (np.nanmax(part, initial=0.0) for part in self.drift)
            lines.append(f"  constraints at most {position:.2g} m and {rotation:.2g} rad apart")
        lines += [f"  event '{event.name}' at {event.time:.6g} s" for event in self.events[:SHOWN]]
        if self.iterations.any():
            error, most = max(self.error.max(), np.finfo(float).eps), self.iterations.max()
            lines.append(f"  accelerations within {error:.1g} of the constrained ones, by at most {most} iterations")
        return "\n".join([*lines, *([f"  {self.advice}"] if self.advice else [])])

    def plot(self, path: str | Path | None = None, show: bool = False) -> Figure:
        """Draw coordinates, velocities, energy and drift over time; also to a file at `path`."""
        from ...drawing.trajectory_plot import plot

        return plot(self, path, show)

    def animate(self, path: str | Path) -> Path:
        """Write the motion as a stand-alone HTML page."""
        return animate(self.model, self.times, self.q, path, f"{self.model.name}: {self.status}, {self.times[-1]:g} s")
