"""A controller and a plant that differs from its model: measured, commanded, moved on, period after period."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ...errors import ProblemError, said
from ...floats import checked_floats
from ...native.progress_bar import Progress
from .controller import Controller
from .history import History

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ...dynamics import Model, Trajectory

State = dict[str, np.ndarray]
Plant = Callable[[State, State, float], Mapping[str, ArrayLike]]
Parameters = Mapping[str, ArrayLike] | Callable[[float], Mapping[str, ArrayLike]]

# Periods that a command may wait.
MOST_DELAY = 10**6

# Steps of the plant's own integration in a period, where it is a model.
SUBSTEPS = 10


@dataclass(frozen=True, eq=False)
class ClosedLoop:
    """What a run left. times (n + 1,), s; states (n + 1, size), the plant's own, and controls (n, size), as they acted,
    by name and as attributes; history: of the controller's cycles, of this run. trajectory: of a plant that is a model,
    at its own finer steps. status: "finished", or "diverged" where the plant's next state was not finite.
    """

    status: str
    times: np.ndarray = field(repr=False)
    states: dict[str, np.ndarray] = field(repr=False)
    controls: dict[str, np.ndarray] = field(repr=False)
    history: History = field(repr=False)
    trajectory: Trajectory | None = field(default=None, repr=False)

    def __getattr__(self, name: str) -> np.ndarray:
        for part in ("states", "controls"):
            if name in self.__dict__.get(part, {}):
                return self.__dict__[part][name]
        known = ", ".join([*self.__dict__.get("states", {}), *self.__dict__.get("controls", {})])
        raise AttributeError(f"closed loop has no '{name}', expected {known}")

    def __str__(self) -> str:
        return f"{self.status} after {self.times[-1]:g} s\n{self.history}"

    def plot(self, path: str | Path | None = None, show: bool = False) -> Figure:
        """States and controls over time; written where a path is given."""
        from ...drawing.loop_plot import plot

        return plot(self, path, show)


def closed_loop(
    controller: Controller,
    plant: Model | Plant,
    seconds: float,
    start: Mapping[str, ArrayLike],
    parameters: Parameters | None = None,
    delay: int = 0,
    noise: Mapping[str, ArrayLike] | None = None,
    seed: int = 0,
) -> ClosedLoop:
    """Run a controller on a plant from `start`, for `seconds` rounded to whole steps of its problem.

    plant: a robot, whose torques the controls are, or any f(states, controls, period) -> the states a period later;
    both by name, arrays. parameters: for `prepare`, as they are or as a function of the time, s.
    delay: periods from a measurement to the moment its command acts; until then controls are zero.
    noise: standard deviations of what is measured, by the names of states; seed: of its random numbers.

    >>> run = ts.closed_loop(solver.controller(), arm.with_payload("tool", mass=1.5), 2.0, start={"q": q, "v": 0 * q})
    >>> run.plot("run.png")
    """
    loop = _Loop(controller, start, parameters, delay, noise, seed)
    cycles = _cycles(seconds, loop.period)
    return loop.through_model(plant, cycles) if hasattr(plant, "forward_dynamics") else loop.through(plant, cycles)


class _Loop:
    """What a period does, whatever the plant."""

    def __init__(
        self,
        controller: Controller,
        start: Mapping[str, ArrayLike],
        parameters: Parameters | None,
        delay: int,
        noise: Mapping[str, ArrayLike] | None,
        seed: int,
    ):
        if not isinstance(controller, Controller):
            raise ProblemError(f"closed_loop: controller is {said(controller)}, expected that of solver.controller()")
        if isinstance(delay, bool) or not isinstance(delay, (int, np.integer)) or not 0 <= delay <= MOST_DELAY:
            raise ProblemError(
                f"closed_loop: delay is {said(delay)}, expected a whole number of periods, at most {MOST_DELAY}"
            )
        problem = controller.solver.problem
        lengths = problem.lengths.default if problem.lengths is not None else None
        period = problem.time_step if lengths is None else float(lengths[0, 0])
        if not isinstance(period, (int, float)):
            raise ProblemError("closed_loop: the length of a step comes with a solve, expected steps of a known length")
        self.controller, self.period = controller, float(period)
        self.parameters, self.random = parameters, np.random.default_rng(seed)
        self.start = self.checked("start", start)
        if noise is not None and not isinstance(noise, Mapping):
            raise ProblemError(f"closed_loop: noise is {said(noise)}, expected deviations by the names of states")
        self.noise = {n: checked_floats(f"closed_loop: noise of '{n}'", value) for n, value in (noise or {}).items()}
        for name, size in self.noise.items():
            if name not in self.start:
                known = ", ".join(self.start)
                raise ProblemError(
                    f"closed_loop: there is no measured state '{name}' to add noise to; there is {known}"
                )
            if size.shape not in ((), self.start[name].shape) or not (size >= 0).all():
                raise ProblemError(
                    f"closed_loop: noise of '{name}' is {said(size)}, expected a deviation of at least 0, or "
                    f"{len(self.start[name])} of them"
                )
        self.idle = {name: np.zeros(size) for name, size in controller.sizes.items()}
        self.waiting = deque([self.idle] * int(delay))
        self.first_cycle = len(controller.history)

    def command(self, time: float, states: State) -> State:
        """The controls that act from now on."""
        given = self.parameters(time) if callable(self.parameters) else self.parameters
        if given is not None and not (isinstance(given, Mapping) and all(isinstance(name, str) for name in given)):
            raise ProblemError(f"closed_loop: parameters are {said(given)}, expected values by name")
        measured = {name: value.copy() for name, value in states.items()}
        for name, size in self.noise.items():
            measured[name] += size * self.random.standard_normal(measured[name].shape)
        self.waiting.append(self.controller.step(measured, **(given or {})).controls)
        return self.waiting.popleft()

    def checked(self, what: str, given: Mapping[str, ArrayLike]) -> State:
        """States by name, of the sizes that are measured; not always finite."""
        expected = self.controller.measured_sizes
        if not isinstance(given, Mapping) or given.keys() != expected.keys():
            names = ", ".join(map(str, given)) if isinstance(given, Mapping) else said(given)
            raise ProblemError(f"closed_loop: {what} has {names or 'nothing'}, expected {', '.join(expected)}")
        found = {}
        for name, size in expected.items():
            value = np.atleast_1d(checked_floats(f"closed_loop: {what}, '{name}',", given[name]))
            if value.shape != (size,):
                raise ProblemError(f"closed_loop: {what}, '{name}', has shape {value.shape}, expected ({size},)")
            found[name] = value
        return found

    def through(self, plant: Any, cycles: int) -> ClosedLoop:
        if not callable(plant):
            raise ProblemError(
                f"closed_loop: plant is {said(plant)}, expected a model or f(states, controls, period) -> states"
            )
        states, controls = [self.start], []
        with Progress(f"closed loop of {cycles * self.period:g} s", cycles) as progress:
            for k in range(cycles):
                controls.append(self.command(k * self.period, states[-1]))
                own = {name: value.copy() for name, value in (states[-1] | controls[-1]).items()}
                arrays = {name: own[name] for name in states[-1]}, {name: own[name] for name in controls[-1]}
                following = self.checked("the plant's answer", plant(*arrays, self.period))
                if not all(np.isfinite(value).all() for value in following.values()):
                    break
                states.append(following)
                progress.advance(1)
        return self.record("finished" if len(states) > cycles else "diverged", states, controls)

    def through_model(self, model: Any, cycles: int) -> ClosedLoop:
        from ...dynamics import simulate

        names, (torque, *others) = list(self.start), self.idle
        sizes = [len(value) for value in self.start.values()]
        if sizes != [model.nq, model.nv] or others or len(self.idle[torque]) != model.nv:
            raise ProblemError(
                f"closed_loop: the model has q ({model.nq}), v ({model.nv}) and as many torques, the problem measures "
                f"{', '.join(f'{n} ({s})' for n, s in zip(names, sizes))} and commands {', '.join(self.idle)}; "
                "expected the same in this order, or a plant that is a function"
            )
        states: list[State] = []
        controls: list[State] = []

        def policy(time: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
            if round(time / self.period * SUBSTEPS) % SUBSTEPS == 0:
                states.append({names[0]: q.copy(), names[1]: v.copy()})
                controls.append(self.command(time, states[-1]))
            return controls[-1][torque]

        q, v = self.start.values()
        duration, step = cycles * self.period, self.period / SUBSTEPS
        trajectory = simulate(model, q, v, tau=policy, duration=duration, step=step)
        if trajectory.status == "finished":
            states.append({names[0]: trajectory.q[-1], names[1]: trajectory.v[-1]})
        return self.record(trajectory.status, states, controls, trajectory)

    def record(
        self, status: str, states: list[State], controls: list[State], trajectory: Trajectory | None = None
    ) -> ClosedLoop:
        def stacked(rows: list[State], names: Mapping[str, Any]) -> State:
            return {name: np.array([row[name] for row in rows]) for name in names}

        history = self.controller.history.since(self.first_cycle)
        times = self.period * np.arange(len(states))
        kept = controls[: len(states) - 1] if status == "finished" else controls
        return ClosedLoop(status, times, stacked(states, self.start), stacked(kept, self.idle), history, trajectory)


def _cycles(seconds: float, period: float) -> int:
    number = isinstance(seconds, (int, float, np.number)) and not isinstance(seconds, bool)
    if not number or not period / 2 <= seconds <= 1e9 * period:
        raise ProblemError(f"closed_loop: seconds is {said(seconds)}, expected at least a period, {period:g}")
    return round(float(seconds) / period)
