"""A controller: the interior point one step a cycle, cut at the measurement (native/src/control/controller.hpp).

Names and shapes are looked at here, and what is wrong with them said; the cycle itself is the core's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from itertools import pairwise
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ...errors import ProblemError, said
from ...floats import checked_floats
from ...native import core
from ..answer.solution import Solution
from ..answer.status import Status
from ..judge.residual import Point, Residual, doubt, doubt_of_nodes
from ..solve.backend import Request
from ..solve.native_backend import NativeBackend
from ..solve.settings import Settings
from ..stages.limit_vectors import LimitVectors
from .history import History
from .loop import loop_parts

if TYPE_CHECKING:
    from ..solve.solver import Solver

UNDER_WAY = "under way"

P = ParamSpec("P")
R = TypeVar("R")


def one_thread(
    method: Callable[Concatenate[Controller, P], R],
) -> Callable[Concatenate[Controller, P], R]:
    """A turn of the controller, from the first number that is written to the last that is read. Says so where another
    thread has it.
    """

    @wraps(method)
    def alone(self: Controller, /, *given: P.args, **words: P.kwargs) -> R:
        if not self._turn.acquire(blocking=False):
            raise ProblemError("controller: it is at work on another thread, expected one at a time")
        try:
            return method(self, *given, **words)
        except core.AtWork as error:
            raise ProblemError(str(error)) from None
        finally:
            self._turn.release()

    return alone


class Command:
    """The controls of the present step, by name and as attributes, and how they were found.

    status: "under way" (steps have improved the plan; `Controller.plan` is judged on request), or that of a solve,
    where the cycle was one. error: the scaled KKT error of the plan that the last step started from; it depends on the
    units of the cost. Whatever the status, controls keep their limits. late: found after the deadline.
    """

    __slots__ = ("_parts", "_values", "error", "iterations", "late", "seconds", "status")

    def __init__(
        self,
        values: np.ndarray,
        parts: dict[str, slice],
        status: str,
        iterations: int,
        error: float,
        seconds: float,
        late: bool,
    ):
        self._values, self._parts, self.status, self.iterations = values, parts, status, iterations
        self.error, self.seconds, self.late = error, seconds, late

    @property
    def controls(self) -> dict[str, np.ndarray]:
        """By name."""
        return {name: self._values[part] for name, part in self._parts.items()}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in self.__slots__:  # a copy in the making has no fields to look in
            raise AttributeError(f"command has no '{name}'")
        try:
            return self._values[self._parts[name]]
        except KeyError:
            raise AttributeError(f"command has no '{name}', expected {', '.join(self._parts)}") from None

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
        self._turn = RLock()
        self._settings = Settings(iterations=iterations, seconds=seconds)
        if isinstance(barrier, bool) or not isinstance(barrier, (int, float)) or not 0 < barrier <= 0.1:
            raise ProblemError(f"controller: barrier is {barrier!r}, expected a number above 0 and at most 0.1")
        if not isinstance(shift, bool):
            raise ProblemError(f"controller: shift is {said(shift)}, expected True or False")
        self.solver, self.barrier, self.shift, self.guess = solver, float(barrier), shift, guess
        self._inexact = backend.inexact
        self._parts = loop_parts(solver, self._settings.seconds, self._settings.iterations, self.barrier, shift)
        self._core = self._parts.controller()
        self._ports = {port.name: port for port in self._parts.parameters}
        if len(self._ports) < len(self._parts.parameters):
            raise ProblemError("controller: a parameter is one of several phases, expected a name of its own in each")
        phases = solver.transcription.phases
        self._missing = {v.name for phase in phases for v in phase.problem.parameters if v.default is None}
        self._lengths = {phase.problem.lengths.name for phase in phases if phase.problem.lengths is not None}
        solver.inputs.put_defaults(self._core.stage)
        self._first, self._control = self._core.first, self._core.control
        self.history = History(self._limited)
        sizes = {v.name: v.entries for v in solver.transcription.phases[0].states if v.name in started}
        self._first_parts = _parts(sizes)
        self._control_parts = _parts({v.name: v.size for v in solver.layout.phases[0].controls})

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

    @one_thread
    def prepare(self, /, **parameters: ArrayLike) -> None:
        """Before the measurement: new parameters, the plan moved on, functions and factorization. What is not given
        keeps its value.
        """
        core, before = self._core, None
        if self._parts.limits:
            before = core.shared.copy(), core.stage.copy()
        if parameters:
            for name in self._lengths.intersection(parameters):
                if not (_floats(name, parameters[name]) > 0).all():
                    raise ProblemError(f"controller: '{name}' has a length that is not positive, expected seconds")
            if not core.set(parameters):
                self._take(parameters)
            if self._missing:
                self._missing.difference_update(parameters)
        if self._missing:
            raise ProblemError(f"controller: parameter '{min(self._missing)}' has no value; give it to prepare(...)")
        if not core.prepare():
            self._refuse_limits(before)

    @one_thread
    def feedback(self, /, **measured: ArrayLike) -> Command:
        """The command for a measured state; keep what is between this and the actuator short."""
        core = self._core
        if not core.measure(measured):
            self._measure(measured)
        if self._missing:
            self.prepare()
        if not core.has_plan:
            self._put_guess()
        stepped, ended, iterations, error, seconds, late, prepared = core.feedback()
        status = UNDER_WAY if stepped else self._judged(ended)
        self.history.add(prepared, seconds, iterations, error, late, status)
        return Command(self._control.copy(), self._control_parts, status, iterations, error, seconds, late)

    def _judged(self, ended: core.Status) -> str:
        """How a solve ended; what the core's judge does not see of nodes is seen here."""
        status = Status.named(ended.name.replace("_", " "))
        return str(self.plan.status if status is Status.SOLVED and self._inexact else status)

    @one_thread
    def step(self, /, start: Mapping[str, ArrayLike], **parameters: ArrayLike) -> Command:
        """`prepare` and `feedback` in one."""
        if not isinstance(start, Mapping) or not all(isinstance(name, str) for name in start):
            raise ProblemError(f"controller: start is {said(start)}, expected the measured states by name")
        self.prepare(**parameters)
        return self.feedback(**start)

    @one_thread
    def export(self, folder: str | Path, name: str | None = None, target: str = "host") -> Path:
        """Write a folder with this controller for use without Python, as `Solver.export` does: its settings, its guess,
        and the parameters as they are. Its plan stays here.
        """
        from ..export import export

        self._put_guess()
        core = self._core
        given = core.z.copy(), core.shared.copy(), core.stage.copy()
        for missing in self._missing:
            port = self._ports[missing]
            given[1][[i for i in port.shared if i >= 0]] = np.nan
            given[2][[i for i in port.stage if i >= 0]] = np.nan
        return export(self.solver, self._parts, given, folder, name, target)

    @one_thread
    def restart(self, guess: Mapping[str, Any] | None = None) -> None:
        """Forget the plan; the next cycle solves from the guess, by default the controller's own."""
        self.guess = self.guess if guess is None else guess
        self._core.restart()

    def check(self) -> Residual:
        """The KKT conditions of the plan as it stands, computed by CasADi alone; not within a cycle."""
        return self.plan.check()

    def _limited(self) -> dict[str, int]:
        counts = self._core.limited
        return {name: max(counts[part]) for name, part in self._control_parts.items()}

    @property
    @one_thread
    def plan(self) -> Solution:
        """The plan as it stands, judged: its status is "solved" only where it is."""
        if not self._core.has_plan:
            raise ProblemError("controller: there is no plan yet, expected a feedback before")
        solver, result = self.solver, self._core.plan()
        backend = solver.backend
        assert isinstance(backend, NativeBackend)
        outcome = backend.outcome(result, self._core.shared.copy())
        limits = self._limits(outcome.point)
        if self._core.following:
            judged, tolerance = backend.judge(outcome.point, limits), self._settings.tolerance
            holds = doubt(judged, tolerance) == doubt_of_nodes(judged, tolerance)  # more cycles do not solve those
            status = Status.SOLVED if holds else Status.ITERATION_LIMIT
            outcome = replace(outcome, status=status, gains=np.full_like(outcome.gains, np.nan))
        return solver.solution(Request(outcome.point, False, limits, self._settings, None), outcome)

    def _limits(self, point: Point) -> LimitVectors:
        return self.solver.limits.at(point.z, point.shared_parameters, point.stage_parameters)

    def _refuse_limits(self, before: tuple[np.ndarray, np.ndarray] | None) -> None:
        """Raises what is wrong with the limits for the parameters as they are; those before stay."""
        core = self._core
        wrong = Point(core.z.copy(), np.zeros(0), np.zeros(0), core.shared.copy(), core.stage.copy())
        if before is not None:
            core.shared[:], core.stage[:] = before
        self._limits(wrong)

    def _put_guess(self) -> None:
        core, stage_parameters = self._core, self._core.stage.copy()
        core.z[:] = self.solver.inputs.guess(self.guess, stage_parameters)
        core.stage[:] = stage_parameters

    # --- what is given, checked before anything changes

    def _take(self, given: Mapping[str, ArrayLike]) -> None:
        """Parameters that are no plain arrays of their shape."""
        arrays = {}
        for name, value in given.items():
            if name not in self._ports:
                known = ", ".join(self._ports) or "none"
                raise ProblemError(f"controller: there is no parameter '{name}'; the parameters are {known}")
            port = self._ports[name]
            array, shape = _floats(name, value), ((port.rows, port.size) if port.rows > 1 else (port.size,))
            if array.shape not in (shape, shape[-1:], ()):
                raise ProblemError(f"controller: parameter '{name}' has shape {array.shape}, expected {shape}")
            if not np.isfinite(array).all():
                raise ProblemError(f"controller: parameter '{name}' is {said(array.tolist())}, expected finite numbers")
            arrays[name] = np.ascontiguousarray(np.broadcast_to(array, shape))
        if not self._core.set(arrays):
            raise ProblemError(f"controller: parameters {', '.join(given)}: expected finite numbers")

    def _measure(self, given: Mapping[str, ArrayLike]) -> None:
        """Measured states that are no plain arrays of their shape."""
        parts = self._first_parts
        if given.keys() != parts.keys():
            raise ProblemError(f"controller: measured are {', '.join(given) or 'none'}, expected {', '.join(parts)}")
        arrays = {}
        for name, part in parts.items():
            array, size = _floats(name, given[name]), part.stop - part.start
            if array.shape != (size,) and not (size == 1 and array.shape == ()):
                raise ProblemError(f"controller: measured '{name}' has shape {array.shape}, expected ({size},)")
            if not np.isfinite(array).all():
                raise ProblemError(f"controller: measured '{name}' is {array.tolist()}, expected finite numbers")
            arrays[name] = np.ascontiguousarray(array.reshape(size))
        if not self._core.measure(arrays):
            values = ", ".join(f"'{name}' is {array.tolist()}" for name, array in arrays.items())
            raise ProblemError(f"controller: measured {values}, expected unit quaternions and pairs that are not zero")


def _parts(sizes: Mapping[str, int]) -> dict[str, slice]:
    """Of vectors in a row, by name."""
    ends = np.cumsum([0, *sizes.values()]).tolist()
    return {name: slice(*pair) for name, pair in zip(sizes, pairwise(ends))}


def _arrived(solver: Solver, *given: Any) -> Controller:
    return Controller(solver, *given)


def _floats(name: str, value: ArrayLike) -> np.ndarray:
    return checked_floats(f"controller: '{name}'", value)
