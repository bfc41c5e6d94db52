"""A problem made ready to solve: what is given becomes vectors, a back end solves, the judge looks, a Solution."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from threading import Lock, get_ident
from time import perf_counter
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import numpy as np
from numpy.typing import ArrayLike

from ...cached import cached_property
from ...errors import ProblemError, said
from ...forks import no_fork
from ..answer.diagnosis import find_fault
from ..answer.iteration import Iteration
from ..answer.report import LiveTable
from ..answer.solution import Solution
from ..answer.status import Status
from ..judge.residual import SLACK, Point, doubt
from ..stages.layout import layout_of
from ..stages.limit_vectors import StatedLimits
from ..stages.transcription import Transcription, transcribe
from ..statement.problem import Problem
from .backend import Outcome, Request, Watcher
from .backends import BACKENDS
from .inputs import Inputs
from .settings import Settings
from .warm_start import WarmStart

if TYPE_CHECKING:
    from ..control.controller import Controller
    from ..judge.conditions import Conditions
    from ..many.solutions import Solutions

OWN_FAULT = (
    "a number in the solver's own arithmetic is not finite, though no term of the statement is: "
    "look for values or slopes of extreme size"
)
AS_USUAL = Settings()
HESSIANS = ("exact", "gauss-newton", "no-dynamics")
_LIVING: WeakSet[Solver] = WeakSet()


def _after_fork() -> None:
    for solver in list(_LIVING):
        solver._after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@no_fork()
def build(problem: Problem, hessian: str, backend: str) -> Solver:
    """What `Problem.build` does."""
    if hessian not in HESSIANS:
        raise ProblemError(f"build: hessian is {hessian!r}, expected one of {', '.join(map(repr, HESSIANS))}")
    if backend not in BACKENDS:
        raise ProblemError(f"build: backend is {backend!r}, expected one of {', '.join(map(repr, BACKENDS))}")
    return Solver(transcribe(problem), hessian, backend)


class Solver:
    """Solves one problem for many parameters and guesses. Safe to use from several threads: one solve at a time."""

    def __init__(self, transcription: Transcription, hessian: str, backend: str, code: Any = None):
        begin = perf_counter()
        self.transcription = transcription
        self.problem = transcription.problem
        self.layout = layout_of(transcription)
        self.limits = StatedLimits(transcription, self.layout)
        self.inputs = Inputs(transcription, self.layout)
        self._lock = Lock()
        self._solving_thread: int | None = None
        self.backend = BACKENDS[backend](transcription, self.layout, hessian, code)
        self._request = hessian, backend
        self.build_seconds = perf_counter() - begin
        _LIVING.add(self)

    @property
    def hessian(self) -> str:
        """Which one it was built with, as `Problem.build` was told."""
        return self._request[0]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles as its statement and its machine code, which another processor compiles anew."""
        return _arrived, (self.problem, *self._request, self.backend.code)

    def another(self) -> Solver:
        """The same problem and machine code with memory of its own, for solves beside those of this one."""
        return Solver(self.transcription, *self._request, self.backend.code)

    def __str__(self) -> str:
        """The statement, the size of the program, and how it was built."""
        layout, (hessian, backend) = self.layout, self._request
        built = f"built in {self.build_seconds:.2f} s for {backend}, {hessian} Hessian"
        apart = getattr(self.backend, "not_compiled", "")
        return f"{self.problem}\n{layout.size_z} variables, {layout.size_y} rows; {built}{apart and ', ' + apart}"

    def _after_fork(self) -> None:
        """In the new process: what another thread held or was in the middle of is made anew."""
        self._lock = Lock()
        self._solving_thread = None
        self.backend.renew()

    def solve(
        self,
        guess: Mapping[str, Any] | Solution | WarmStart | None = None,
        warm_start: Solution | WarmStart | None = None,
        start: Mapping[str, ArrayLike] | None = None,
        settings: Settings | None = None,
        callback: Callable[[Iteration], object] | None = None,
        **parameters: ArrayLike | Mapping[str, ArrayLike],
    ) -> Solution:
        """Solve from a guess, with a value for every parameter by its name.

        guess: by the names of states and controls, each one value for all stages or a trajectory, a row a stage; or a
        Solution. What is not guessed starts at zero, moved inside its bounds; a configuration where no joint is moved.
        Where there are several phases, guess["flight"] is such a guess for the phase "flight" alone. A parameter that
        several phases have is given once for all of them, or as a dictionary by their names.
        warm_start: a Solution of this problem, for other parameters say, to start from with its multipliers; or, on a
        horizon that moves on, solution.shifted(). With a guess beside it the solve starts from that instead, cold,
        where the problem has jumped: where a row is off by more than 15 % of what is added up in it.
        start: the first values, by name, of the states that `Problem.start` named.
        callback: called with every Iteration as it begins. What it returns, if true, ends the solve as "interrupted";
        what it raises ends the solve too, and is passed on.
        """
        warm = warm_start.warm_start if isinstance(warm_start, Solution) else warm_start
        if warm is not None and (not isinstance(warm, WarmStart) or warm.layout != self.layout):
            raise ProblemError("solve: warm_start is not a Solution of this problem; use guess for other trajectories")
        settings = AS_USUAL if settings is None else settings
        if not isinstance(settings, Settings):
            raise ProblemError(f"solve: settings is {settings!r}, expected Settings(...)")
        shared, stage_parameters = self.inputs.parameters(parameters)
        guessed = guess.warm_start if isinstance(guess, Solution) else guess
        begin = self._begin(guessed if warm is None else warm, warm is not None, start, shared, stage_parameters)
        beside = warm is not None and guessed is not None
        fallback = self._begin(guessed, False, start, shared, stage_parameters) if beside else None
        limits = self.limits.at(begin.z, shared, begin.stage_parameters)
        request = Request(begin, warm is not None, limits, settings, _watcher(settings, callback), fallback)
        if self._solving_thread == get_ident():
            raise ProblemError("solve: called from the callback of this very solver, expected another one from build()")
        with self._lock:
            self._solving_thread = get_ident()
            try:
                outcome = self.backend.run(request)
            finally:
                self._solving_thread = None
        return self.solution(request, outcome)

    def _begin(self, guess: Any, warm: bool, start: Any, shared: np.ndarray, stage_parameters: np.ndarray) -> Point:
        """A guess as a place to start from; `warm`: as it is, with its multipliers."""
        own, nothing = stage_parameters.copy(), np.zeros(0)
        z = (self.inputs.point if warm else self.inputs.guess)(guess, own)
        self.inputs.start(start, z, own)
        y, w = (guess.point.y, guess.point.w) if warm else (nothing, nothing)
        return Point(z, y, w, shared, own)

    def complete(
        self,
        guess: Mapping[str, Any],
        start: Mapping[str, ArrayLike] | None = None,
        **parameters: ArrayLike | Mapping[str, ArrayLike],
    ) -> dict[str, Any]:
        """A guess, as `solve` takes it, with what it leaves out: states and controls that it does not name take the
        values, within their limits, by which dynamics and equalities miss each other least. Poses alone get the
        velocities that go through them, and the forces that carry them on their contacts, instead of zeros. States on
        manifolds and durations are not touched.

        solution = solver.solve(solver.complete({"q": poses}))
        """
        from .completion import complete
        from .native_backend import NativeBackend

        if not isinstance(self.backend, NativeBackend):
            raise ProblemError("complete: this solver has another back end, expected build(backend='native')")
        if not isinstance(guess, Mapping):
            raise ProblemError(
                f"complete: guess is a {type(guess).__name__}, expected a dictionary by variables' names"
            )
        return complete(self.inputs, self.limits, self.backend.functions, guess, start, parameters)

    def solve_many(
        self,
        guess: Mapping[str, Any] | Sequence[Solution] | Solution | None = None,
        warm_start: Sequence[Solution] | Solution | None = None,
        start: Mapping[str, ArrayLike] | None = None,
        settings: Settings | None = None,
        threads: int | None = None,
        progress: bool = True,
        **parameters: ArrayLike | Mapping[str, ArrayLike],
    ) -> Solutions:
        """Solve for many parameters or guesses at once, on `threads` threads of the core, all processors if not said.

        What `solve` takes serves all problems; with one more axis in front each has its own: a parameter
        (problems, size), one for every stage (problems, stages, size), a first value (problems, size), a guess
        (problems, stages, size) or (problems, 1, size), a sequence of solutions to start from. The answers are those
        of `solve`, bit by bit, whatever the number of threads; what fails is a status of that problem. Ctrl-C ends the
        batch, and what was not begun is "interrupted". progress: a bar on a terminal, where it takes long.

        solutions = solver.solve_many(goal=goals)
        """
        from ..many.threads import solve_many

        return solve_many(self, guess, warm_start, settings, start, threads, progress, parameters)

    def controller(
        self,
        seconds: float = np.inf,
        iterations: int = 1,
        barrier: float = 1e-6,
        shift: bool = True,
        guess: Mapping[str, Any] | None = None,
    ) -> Controller:
        """A controller of this problem: a command for every measurement of the states that `Problem.start` named.

        seconds: deadline of a feedback, asked for within a cycle. iterations: at most, a cycle. barrier: the least mu
        of the scaled problem. shift: whether the horizon moves on by a step every cycle. guess: as for `solve`, where
        the first cycle starts from.

        controller = solver.controller(seconds=0.002, iterations=3, guess={"q": q0})
        controller.prepare(target=targets)        # before the measurement
        command = controller.feedback(q=q, v=v)   # with it
        """
        from ..control.controller import Controller

        return Controller(self, seconds, iterations, barrier, shift, guess)

    def export(self, folder: str | Path, name: str | None = None, target: str = "host") -> Path:
        """Write a folder that solves this problem without Python: object code of its functions, the core's sources, an
        interface in C, a CMakeLists.txt, an example. Where the problem has measured states (`Problem.start`), it has a
        controller too, with the defaults of `controller`; `Controller.export` takes those of a controller.

        folder: created, or empty; its name is that of the interface, if `name` is not given. target: "host",
        "x86-64", "x86-64-v3", "x86-64-v4", or the triple of another machine, like "aarch64-linux-gnu".

        solver.export("reach/")  # cmake -B reach/build reach && cmake --build reach/build
        """
        from ..control.loop import loop_parts
        from ..export import export
        from .native_backend import NativeBackend

        if not isinstance(self.backend, NativeBackend):
            raise ProblemError("export: this solver has another back end, expected build(backend='native')")
        return export(self, loop_parts(self, np.inf, 1, 1e-6, True), None, folder, name, target)

    @cached_property
    def plain_conditions(self) -> Conditions:
        """The KKT conditions by CasADi alone."""
        from ..judge.conditions import Conditions

        return Conditions(self.transcription, self.layout)

    def solution(self, request: Request, outcome: Outcome) -> Solution:
        """What a back end found, judged."""
        status, point, tolerance = outcome.status, outcome.point, request.settings.tolerance
        agreed = status is Status.SOLVED and self.backend.error(point, request.limits) <= SLACK * tolerance
        judged = None if agreed else self.backend.judge(point, request.limits)
        reason = doubt(judged, tolerance) if status is Status.SOLVED and judged is not None else ""
        fault = find_fault(self.plain_conditions, point, outcome.fault) if status is Status.NOT_FINITE else None
        if status is Status.NOT_FINITE and fault is None:
            reason = OWN_FAULT
        return Solution(
            status=Status.STALLED if reason else status,
            all_gains=self._gains(outcome.gains),
            statistics=replace(outcome.statistics, build_seconds=self.build_seconds),
            tolerance=tolerance,
            layout=self.layout,
            limit_vectors=request.limits,
            point=point,
            judged=judged,
            records=outcome.records,
            fault=fault,
            doubt=reason,
            solver=self,
        )

    def _gains(self, gains: np.ndarray) -> tuple[np.ndarray, ...]:
        """Of every phase: K (steps, nu, nx), from those of all stages in a row."""
        at = self._at_gains
        return tuple(
            gains[at[phase.first] : at[phase.first + phase.steps]].reshape(phase.steps, phase.nu, phase.nx)
            for phase in self.layout.phases
        )

    @cached_property
    def _at_gains(self) -> list[int]:
        """Where the gains of every stage begin."""
        sizes = zip(self.transcription.nu, self.transcription.nx)
        return [0, *accumulate(nu * nx for nu, nx in sizes)]


def _arrived(problem: Problem, hessian: str, backend: str, code: Any) -> Solver:
    return Solver(transcribe(problem), hessian, backend, code)


def _watcher(settings: Settings, callback: Callable[[Iteration], object] | None) -> Watcher | None:
    """Who sees every iteration; None where nobody asked."""
    if callback is not None and not callable(callback):
        raise ProblemError(f"solve: callback is {callback!r}, expected a function of an Iteration")
    if callback is None and not settings.log:
        return None
    table = LiveTable() if settings.log else None

    def watch(iteration: Iteration) -> bool:
        if table is not None:
            table.add(iteration)
        return callback is not None and _asks_for_an_end(callback(iteration))

    return watch


def _asks_for_an_end(answer: object) -> bool:
    try:
        return bool(answer)
    except Exception:
        raise ProblemError(f"solve: callback returned {said(answer)}, expected True or False") from None
