"""A problem made ready to solve: machine code for its stages and the interior point of the core."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from threading import Lock, get_ident
from time import perf_counter

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ...errors import ProblemError
from ...native import compile_function, core
from ..answer.diagnosis import find_fault
from ..answer.iteration import Iteration
from ..answer.report import LiveTable
from ..answer.solution import Solution, Statistics
from ..stages.layout import layout_of
from ..stages.stages import Block
from ..stages.transcription import Transcription, transcribe
from ..statement.problem import Problem
from .inputs import Given
from .kkt import Conditions, Point, compiled_evaluator, doubt, plain_evaluator
from .settings import Settings
from .warm_start import Start

HESSIANS = ("exact", "gauss-newton", "no-dynamics")
BACKENDS = ("native", "ipopt", "fatrop")


def build(problem: Problem, hessian: str, backend: str) -> Solver:
    """What `Problem.build` does."""
    if hessian not in HESSIANS:
        raise ProblemError(f"build: hessian is {hessian!r}, expected one of {', '.join(map(repr, HESSIANS))}")
    if backend not in BACKENDS:
        raise ProblemError(f"build: backend is {backend!r}, expected one of {', '.join(map(repr, BACKENDS))}")
    if backend == "native":
        return Solver(transcribe(problem), hessian)
    if hessian != "exact":
        raise ProblemError(f"build: hessian is {hessian!r}, but the backend {backend!r} has 'exact' only")
    from .casadi_solver import RivalSolver

    return RivalSolver(transcribe(problem), backend)


class Solver:
    """Solves one problem for many parameters and guesses. Safe to use from several threads: one solve at a time."""

    def __init__(self, transcription: Transcription, hessian: str):
        begin = perf_counter()
        self.transcription = transcription
        self.problem = transcription.problem
        self.layout = layout_of(transcription)
        self._lock, self._solving_thread = Lock(), None
        self._bounds = self._collect_bounds()
        self._prepare(hessian)
        self.build_seconds = perf_counter() - begin

    def _prepare(self, hessian: str) -> None:
        """Machine code for the stages, and the core's interior point on it."""
        transcription = self.transcription
        self.functions = [transcription.functions(block, hessian) for block in transcription.blocks]
        self.compiled = [
            tuple(compile_function(function, name=f"{function.name()} of {block}") for function in pair)
            for block, pair in zip(transcription.blocks, self.functions)
        ]
        self._recentrings = []  # kept alive: the core knows only addresses
        self._core = core.Solver(self._core_structure())
        self._core.set_bounds(*self._bounds)
        evaluators = [compiled_evaluator(*each) for each in zip(self.functions, self.compiled)]
        self._conditions = Conditions(transcription, self.layout, evaluators)

    def solve(
        self,
        guess: Mapping[str, ArrayLike] | Solution | Start | None = None,
        warm_start: Solution | Start | None = None,
        settings: Settings | None = None,
        callback: Callable[[Iteration], object] | None = None,
        **parameters: ArrayLike,
    ) -> Solution:
        """Solve from a guess, with a value for every parameter by its name.

        guess: by the names of states and controls, each one value for all stages or a trajectory, a row a stage; or a
        Solution. What is not guessed starts at zero, moved inside its bounds; a configuration where no joint is moved.
        Where there are several phases, guess["flight"] is such a guess for the phase "flight" alone. A parameter that
        several phases have is given once for all of them, or as a dictionary by their names.
        warm_start: a Solution of this problem, for other parameters say, to start from with its multipliers; or, on a
        horizon that moves on, solution.shifted().
        callback: called with every Iteration as it begins. What it returns, if true, ends the solve as "interrupted";
        what it raises ends the solve too, and is passed on.
        """
        guess, warm_start = (each.start if isinstance(each, Solution) else each for each in (guess, warm_start))
        if warm_start is not None and (not isinstance(warm_start, Start) or warm_start.layout != self.layout):
            raise ProblemError("solve: warm_start is not a Solution of this problem; use guess for other trajectories")
        settings = Settings() if settings is None else settings
        if not isinstance(settings, Settings):
            raise ProblemError(f"solve: settings is {settings!r}, expected Settings(...)")
        given = Given(self.transcription, self.layout)
        shared, of_stages = given.parameters(parameters)
        z = given.guess(warm_start if guess is None and warm_start is not None else guess, of_stages)
        if self._solving_thread == get_ident():
            raise ProblemError("solve: called from the callback of this very solver, expected another one from build()")
        with self._lock:
            self._solving_thread = get_ident()
            try:
                result = self._run(z, shared, of_stages, settings, warm_start, _watcher(settings, callback))
            finally:
                self._solving_thread = None
        return self._solution(result, settings, shared)

    def _run(self, z, shared, of_stages, settings: Settings, warm_start: Start | None, watcher):
        """What the core says of the point where it ended; see native/src/ocp/result.hpp."""
        self._core.set_parameters(shared, of_stages)
        self._core.set_guess(z)
        if warm_start is not None:
            self._core.set_multipliers(warm_start.point.y, warm_start.point.w)
        return self._core.solve(_core_settings(settings, warm_start is not None), watcher)

    # --- the core's view

    def _core_structure(self):
        transcription, made = self.transcription, core.Structure()
        made.nx, made.nu, made.parent = transcription.nx, transcription.nu, transcription.parents
        made.equalities, made.inequalities = transcription.count("equalities"), transcription.count("inequalities")
        made.blocks = [self._core_block(*each) for each in zip(transcription.blocks, self.functions, self.compiled)]
        made.charts = self._core_charts()
        made.parameters = sum(span.shared for span in self.layout.phases)
        made.stage_parameters = self.layout.size_own
        return made

    def _core_block(self, block: Block, functions: tuple[ca.Function, ca.Function], compiled):
        values, derivatives = compiled
        made = core.Block()
        made.first, made.count, made.child = block.stages[0], len(block.stages), block.child
        spans, phases = self.layout.phases, self.transcription.phases
        span = spans[phases.index(block.phase)]
        made.at_shared, made.own_stride = span.at_shared, span.own
        made.at_own = span.at_own + (block.stages[0] - span.first) * span.own
        if block.entering is not None:
            entered = spans[phases.index(block.entering)]
            made.at_following = entered.at_own + (block.child - entered.first) * entered.own
            made.following_stride = entered.own
        made.objective = int(block.objective is not None)
        made.next = 0 if block.next is None else block.next.numel()
        made.equalities = sum(term.expression.numel() for term in block.equalities)
        made.inequalities = sum(term.expression.numel() for term in block.inequalities)
        made.lanes = max(values.lanes, derivatives.lanes)
        made.at_equality, made.at_inequality = block.at_equality, block.at_inequality
        made.jacobian_rows, made.jacobian_columns = map(list, functions[1].sparsity_out(0).get_triplet())
        made.hessian_rows, made.hessian_columns = map(list, functions[1].sparsity_out(1).get_triplet())
        made.set_values(values.address, values.sizes.work)
        made.set_derivatives(derivatives.address, derivatives.sizes.work)
        return made

    def _core_charts(self) -> list:
        made = []
        for phase, span in zip(self.transcription.phases, self.layout.phases):
            recentring = self.transcription.recentring(phase)
            if recentring is None:
                continue
            compiled = compile_function(recentring)
            self._recentrings.append(compiled)
            for first, count in ((0, span.steps), (span.steps, 1)):
                chart = core.Chart()
                chart.first, chart.count = span.first + first, count
                chart.at_own, chart.own = span.at_own + first * span.own, span.own
                chart.set_recentre(compiled.address, compiled.sizes.work)
                made.append(chart)
        return made

    def _collect_bounds(self) -> tuple[np.ndarray, ...]:
        low, high = [[] for _ in range(self.transcription.stages)], [[] for _ in range(self.transcription.stages)]
        for block in self.transcription.blocks:
            for k in block.stages:
                low[k] += [term.lower for term in block.inequalities]
                high[k] += [term.upper for term in block.inequalities]
        flat = [np.concatenate([np.zeros(0), *(part for stage in side for part in stage)]) for side in (low, high)]
        return self.layout.along_z("lower"), self.layout.along_z("upper"), *flat

    @cached_property
    def plain_conditions(self) -> Conditions:
        """The KKT conditions by CasADi alone."""
        evaluators = [plain_evaluator(block) for block in self.transcription.blocks]
        return Conditions(self.transcription, self.layout, evaluators)

    def _solution(self, result, settings, shared) -> Solution:
        point = Point(result.z, result.y, result.w, shared, result.stage_parameters)
        status = result.status.name.replace("_", " ")
        measured = self._conditions.measure(point)
        reason = ""
        if status == "solved":
            reason = doubt(measured, settings.tolerance)
        fault = None
        if status == "not finite":
            fault = find_fault(self._conditions, point, result.fault)
        statistics = Statistics(
            iterations=result.iterations,
            seconds=result.seconds,
            seconds_functions=result.seconds_functions,
            seconds_linear=result.seconds_linear,
            evaluations=result.evaluations,
            differentiations=result.differentiations,
            factorizations=result.factorizations,
            build_seconds=self.build_seconds,
        )
        return Solution(
            status="stalled" if reason else status,
            all_gains=self._gains(result.gains),
            statistics=statistics,
            tolerance=settings.tolerance,
            layout=self.layout,
            point=point,
            measured=measured,
            records=[_iteration(record) for record in result.records],
            fault=fault,
            doubt=reason,
            solver=self,
        )

    def _gains(self, gains: np.ndarray) -> tuple[np.ndarray, ...]:
        """Of every phase: K (steps, nu, nx), from those of all stages in a row."""
        sizes = zip(self.transcription.nu, self.transcription.nx)
        at = np.cumsum([0, *(nu * nx for nu, nx in sizes)])
        return tuple(
            gains[at[span.first] : at[span.first + span.steps]].reshape(span.steps, span.nu, span.nx)
            for span in self.layout.phases
        )


def _watcher(settings: Settings, callback: Callable[[Iteration], object] | None) -> Callable[[object], bool] | None:
    """What the core calls with the record of every iteration; None where nobody asked."""
    if callback is not None and not callable(callback):
        raise ProblemError(f"solve: callback is {callback!r}, expected a function of an Iteration")
    if callback is None and not settings.log:
        return None
    table = LiveTable() if settings.log else None

    def watch(record: object) -> bool:
        iteration = _iteration(record)
        if table is not None:
            table.add(iteration)
        return callback is not None and bool(callback(iteration))

    return watch


def _iteration(record: object) -> Iteration:
    return Iteration(*(getattr(record, name) for name in Iteration._fields))


def _core_settings(settings: Settings, warm_start: bool):
    inner = core.Settings()
    inner.tolerance, inner.iterations = settings.tolerance, settings.iterations
    inner.warm_start, inner.threads = warm_start, settings.threads
    inner.adaptive = settings.barrier == "adaptive"
    inner.seconds, inner.initial_barrier = min(settings.seconds, 1e9), settings.initial_barrier
    return inner
