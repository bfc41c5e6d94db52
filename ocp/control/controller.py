"""A controller: the interior point one step a cycle, cut at the measurement (native/src/ocp/solve/cycle.hpp).

Where a step cannot be had so (states on manifolds, several phases, limits that change, a plan that is lost), a cycle
is a solve from the plan as it stands, within the controller's time.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ...errors import ProblemError
from ...floats import floats
from ..answer.solution import Solution
from ..answer.status import Status
from ..solve.backend import Outcome, Request
from ..solve.kkt import Point, doubt
from ..solve.native_backend import NativeBackend
from ..solve.settings import Settings
from .history import History

if TYPE_CHECKING:
    from ..solve.solver import Solver

# The scaled KKT error above which, or so many times that of the cycle before, a plan is given up for a new one. Where a
# horizon moves on, its new tail alone makes errors of about 1. No small one proves anything: it depends on the units.
LOST, GROWN = 1e3, 30.0

# Seconds that a solve in place of a step is given at least: the deadline may be over by then.
LEAST = 1e-6


class Command:
    """The controls of the present step, by name and as attributes, and how they were found.

    status: "under way" (steps have improved the plan; `Controller.plan` is judged on request), or that of a solve,
    where the cycle was one. error: the scaled KKT error of the plan that the last step started from; it depends on the
    units of the cost. Whatever the status, controls keep their limits. late: found after the deadline.
    """

    __slots__ = ("controls", "error", "iterations", "late", "seconds", "status")

    def __init__(
        self, controls: dict[str, np.ndarray], status: str, iterations: int, error: float, seconds: float, late: bool
    ):
        self.controls, self.status, self.iterations = controls, status, iterations
        self.error, self.seconds, self.late = error, seconds, late

    def __getattr__(self, name: str) -> Any:
        try:
            return self.controls[name]
        except KeyError:
            raise AttributeError(f"command has no '{name}', expected {', '.join(self.controls)}") from None

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value.tolist()}" for name, value in self.controls.items())
        return f"Command({values}; {self.status}, {self.iterations} iterations)"


class Controller:
    """A plan that moves on by a step a cycle. Made by `Solver.controller`; one thread at a time.

    seconds: deadline of a feedback. iterations: at most, in a cycle. barrier: the least mu, of the scaled problem; the
    plan stays off its limits by about as much. shift: whether the horizon moves on by a step every cycle.
    """

    def __init__(
        self,
        solver: Solver,
        seconds: float,
        iterations: int,
        barrier: float,
        shift: bool,
        guess: Mapping[str, Any] | None,
    ):
        started = [v.name for v in solver.problem.started]
        backend = solver.backend
        if not isinstance(backend, NativeBackend):
            raise ProblemError("controller: this solver has another back end, expected build(backend='native')")
        if not started:
            raise ProblemError("controller: no first value is measured; name the states by start(...) before build()")
        self._settings = Settings(iterations=iterations, seconds=seconds)
        if isinstance(barrier, bool) or not isinstance(barrier, (int, float)) or not 0 < barrier <= 0.1:
            raise ProblemError(f"controller: barrier is {barrier!r}, expected a number above 0 and at most 0.1")
        if not isinstance(shift, bool):
            raise ProblemError(f"controller: shift is {repr(shift)[:60]}, expected True or False")
        self.solver, self.barrier, self.shift, self.guess = solver, float(barrier), shift, guess
        self.history = History()
        self._core = backend.new_core()
        place = solver.layout.phases[0]
        self._steps_alone = len(solver.layout.phases) == 1 and not place.turns and not solver.limits.parametric
        self._shared = np.zeros(solver.layout.size_shared)
        self._of_stages = np.zeros(solver.layout.size_stage)
        self._parameters = self._parameter_views()
        self._missing = set(self._parameters)
        self._first, self._first_parts, at = np.zeros(0), {}, 0
        for v in solver.transcription.phases[0].states:
            if v.name in started:
                self._first_parts[v.name] = slice(at, at + v.entries)
                at += v.entries
        self._first = np.zeros(at)
        self._control = np.zeros(place.nu)
        ends = np.cumsum([0, *(v.size for v in place.controls)]).tolist()
        self._control_parts = {v.name: slice(*pair) for v, pair in zip(place.controls, pairwise(ends))}
        self._plan: Solution | None = None  # of the last solve
        self._ready = self._following = False
        self._prepared = 0.0
        self._error = np.inf

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles without its plan and its history."""
        settings = self._settings
        return _arrived, (self.solver, settings.seconds, settings.iterations, self.barrier, self.shift, self.guess)

    @property
    def measured_sizes(self) -> dict[str, int]:
        """Of every state that `feedback` takes, by name."""
        return {name: part.stop - part.start for name, part in self._first_parts.items()}

    @property
    def sizes(self) -> dict[str, int]:
        """Of every control, by name."""
        return {name: part.stop - part.start for name, part in self._control_parts.items()}

    def prepare(self, **parameters: ArrayLike) -> None:
        """Before the measurement: new parameters, the plan moved on, functions and factorization. What is not given
        keeps its value.
        """
        begin = perf_counter()
        if parameters:
            self._take(parameters)
        if self._missing:
            raise ProblemError(f"controller: parameter '{min(self._missing)}' has no value; give it to prepare(...)")
        if self._following:
            self._core.set_parameters(self._shared, self._of_stages)
            self._ready = self._core.prepare(self.shift)
        self._prepared = perf_counter() - begin

    def feedback(self, **measured: ArrayLike) -> Command:
        """The command for a measured state; keep what is between this and the actuator short."""
        begin = perf_counter()
        first = self._measured(measured)
        if self._missing or (self._following and not self._prepared):
            self.prepare()
        if self._following and self._ready:
            settings = self._settings
            fine, steps, error = self._core.feedback(first, settings.iterations, settings.seconds, self._control)
            if fine and error <= min(LOST, GROWN * max(self._error, 1.0)):
                self._error = error
                return self._command(begin, "under way", steps, error)
        return self._solve(begin)

    def step(self, start: Mapping[str, ArrayLike], **parameters: ArrayLike) -> Command:
        """`prepare` and `feedback` in one."""
        if not isinstance(start, Mapping) or not all(isinstance(name, str) for name in start):
            raise ProblemError(f"controller: start is {repr(start)[:60]}, expected the measured states by name")
        self.prepare(**parameters)
        return self.feedback(**start)

    def restart(self, guess: Mapping[str, Any] | None = None) -> None:
        """Forget the plan; the next cycle solves from the guess, by default the controller's own."""
        self.guess = self.guess if guess is None else guess
        self._plan, self._following, self._ready, self._error = None, False, False, np.inf

    @property
    def plan(self) -> Solution:
        """The plan as it stands, judged: its status is "solved" only where it is."""
        if self._plan is None:
            raise ProblemError("controller: there is no plan yet, expected a feedback before")
        if not self._following:
            return self._plan
        solver, last = self.solver, self._plan
        result = self._core.plan()
        point = Point(result.z, result.y, result.w, self._shared.copy(), result.stage_parameters)
        request = Request(point, False, self._limits(point), self._settings, None)
        holds = not doubt(solver.backend.judge(point, request.limits), self._settings.tolerance)
        status, unknown = Status.SOLVED if holds else Status.ITERATION_LIMIT, np.full_like(result.gains, np.nan)
        return solver.solution(request, Outcome(status, point, unknown, last.statistics))

    # --- a solve in place of a step

    def _solve(self, begin: float) -> Command:
        """From the plan as it stands, moved on; from the guess where there is none."""
        solver, backend = self.solver, self.solver.backend
        assert isinstance(backend, NativeBackend)
        of_stages = self._of_stages.copy()
        warm = None
        if self._plan is not None:
            last = self.plan
            one_phase = len(solver.layout.phases) == 1
            moved = last.shifted() if self.shift and one_phase and not self._following else last.warm_start
            warm = moved if last.solved or self._following else None
            z = solver.inputs.guess(moved, of_stages)
        else:
            z = solver.inputs.guess(self.guess, of_stages)
        start = {name: self._first[part] for name, part in self._first_parts.items()}
        solver.inputs.start(start, z, of_stages)
        nothing = np.zeros(0)
        y, w = (nothing, nothing) if warm is None else (warm.point.y, warm.point.w)
        point = Point(z, y, w, self._shared.copy(), of_stages)
        settings = Settings()
        if self._plan is not None:
            settings = Settings(seconds=max(self._settings.seconds - (perf_counter() - begin), LEAST))
        request = Request(point, warm is not None, self._limits(point), settings, None)
        self._plan = solver.solution(request, backend.run_on(self._core, request))
        controls, found = self._plan.warm_start.guess, self._control
        here = controls[solver.layout.phases[0].name] if len(solver.layout.phases) > 1 else controls
        for name, part in self._control_parts.items():
            if np.isfinite(here[name][0]).all():  # else what was commanded last stands
                found[part] = here[name][0]
        self._following = self._steps_alone and self._plan.solved
        self._error = 0.0 if self._plan.solved else np.inf
        if self._following:
            self._core.take_over(self.barrier)
        return self._command(begin, str(self._plan.status), self._plan.statistics.iterations, self._error)

    def _limits(self, point: Point) -> Any:
        return self.solver.limits.at(point.z, point.shared_parameters, point.stage_parameters)

    def _command(self, begin: float, status: str, iterations: int, error: float) -> Command:
        controls = {name: self._control[part].copy() for name, part in self._control_parts.items()}
        seconds = perf_counter() - begin
        late = seconds > self._settings.seconds
        self.history.add(self._prepared, seconds, iterations, error, late, status)
        self._prepared, self._ready = 0.0, False
        return Command(controls, status, iterations, error, seconds, late)

    # --- what is given, checked before anything changes

    def _parameter_views(self) -> dict[str, np.ndarray]:
        """Of every parameter its place: (size,), or (stages, size) where each stage has its own."""
        views: dict[str, np.ndarray] = {}
        for place in self.solver.layout.phases:
            at_shared, at_stage, rows = place.at_shared, 0, place.stage_rows(self._of_stages)
            for v in place.parameters:
                if v.name in views:
                    raise ProblemError(
                        f"controller: parameter '{v.name}' is one of several phases, expected a name of its own in each"
                    )
                if v.per_stage:
                    views[v.name] = rows[:, at_stage : at_stage + v.size]
                    at_stage += v.size
                else:
                    views[v.name] = self._shared[at_shared : at_shared + v.size]
                    at_shared += v.size
        return views

    def _take(self, given: Mapping[str, ArrayLike]) -> None:
        arrays = {}
        for name, value in given.items():
            if name not in self._parameters:
                known = ", ".join(self._parameters) or "none"
                raise ProblemError(f"controller: there is no parameter '{name}'; the parameters are {known}")
            place = self._parameters[name]
            arrays[name] = _numbers(name, value)
            if arrays[name].shape not in (place.shape, place.shape[-1:], ()) or not np.isfinite(arrays[name]).all():
                raise ProblemError(
                    f"controller: parameter '{name}' has shape {arrays[name].shape}, expected {place.shape} of finite "
                    "numbers"
                )
        for name, array in arrays.items():
            self._parameters[name][...] = array
            self._missing.discard(name)

    def _measured(self, given: Mapping[str, ArrayLike]) -> np.ndarray:
        parts = self._first_parts
        if given.keys() != parts.keys():
            raise ProblemError(f"controller: measured are {', '.join(given) or 'none'}, expected {', '.join(parts)}")
        arrays = {}
        for name, part in parts.items():
            arrays[name] = array = _numbers(name, given[name])
            size = part.stop - part.start
            if array.shape != (size,) and not (size == 1 and array.shape == ()):
                raise ProblemError(f"controller: measured '{name}' has shape {array.shape}, expected ({size},)")
            if not np.isfinite(array).all():
                raise ProblemError(f"controller: measured '{name}' is {array.tolist()}, expected finite numbers")
        for name, part in parts.items():
            self._first[part] = arrays[name]
        return self._first


def _arrived(solver: Solver, *given: Any) -> Controller:
    return Controller(solver, *given)


def _numbers(name: str, value: ArrayLike) -> np.ndarray:
    try:
        return floats(value)
    except TypeError:
        raise ProblemError(f"controller: '{name}' is {repr(value)[:60]}, expected numbers") from None
