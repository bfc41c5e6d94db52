"""A problem made ready to solve: machine code for its stages and the interior point of the core."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from threading import Lock
from time import perf_counter

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..native import compile_function, core
from ..riccati import ProblemError
from .diagnosis import find_fault
from .kkt import Conditions, Point, compiled_evaluator, doubt, plain_evaluator
from .layout import KINDS, layout_of
from .problem import Free, Problem, Variable
from .settings import Settings
from .solution import Solution, Statistics
from .transcription import Block, Transcription, transcribe

HESSIANS = ("exact", "gauss-newton", "no-dynamics")
BACKENDS = ("native", "ipopt", "fatrop")
STATUSES = (
    "solved", "infeasible", "iteration limit", "time limit", "interrupted", "not finite", "stalled", "unbounded",
    "not minimal",
)  # fmt: skip


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
    from .rivals import RivalSolver

    return RivalSolver(transcribe(problem), backend)


class Solver:
    """Solves one problem for many parameters and guesses. Safe to use from several threads: one solve at a time."""

    def __init__(self, transcription: Transcription, hessian: str):
        begin = perf_counter()
        self.transcription = transcription
        self.problem = transcription.problem
        self.layout = layout_of(transcription)
        self._lock = Lock()
        self._bounds = self._collect_bounds()
        self._prepare(hessian)
        self.build_seconds = perf_counter() - begin

    def _prepare(self, hessian: str) -> None:
        """Machine code for the stages, and the core's interior point on it."""
        transcription = self.transcription
        self.functions = [transcription.functions(block, hessian) for block in transcription.blocks]
        self.compiled = [tuple(map(compile_function, pair)) for pair in self.functions]
        problem, stages = self.problem, transcription.stages
        nu, nx = transcription.u.numel(), transcription.x.numel()
        self._core = core.InteriorPoint(
            [nx] * stages,
            [nu] * problem.steps + [0],
            transcription.count("equalities"),
            transcription.count("inequalities"),
            list(range(-1, stages - 1)),
            [_core_block(*each) for each in zip(transcription.blocks, self.functions, self.compiled)],
            transcription.p.numel(),
            transcription.p_stage.numel(),
        )
        self._core.set_bounds(*self._bounds)
        evaluators = [compiled_evaluator(*each) for each in zip(self.functions, self.compiled)]
        self._conditions = Conditions(transcription, self.layout, evaluators)

    def solve(
        self,
        guess: Mapping[str, ArrayLike] | Solution | None = None,
        warm_start: Solution | None = None,
        settings: Settings | None = None,
        **parameters: ArrayLike,
    ) -> Solution:
        """Solve from a guess, with a value for every parameter by its name.

        guess: by the names of states and controls, each one value for all stages or a trajectory, a row a stage; or a
        Solution. What is not guessed starts at zero, moved inside its bounds.
        warm_start: a Solution of this problem, for other parameters say, to start from with its multipliers.
        """
        if warm_start is not None and (not isinstance(warm_start, Solution) or warm_start.layout != self.layout):
            raise ProblemError("solve: warm_start is not a Solution of this problem; use guess for other trajectories")
        settings = settings or Settings()
        shared, of_stages = self._parameters(parameters)
        z = self._guess(warm_start if guess is None and warm_start is not None else guess)
        with self._lock:
            status, result, records, gains = self._run(z, shared, of_stages, settings, warm_start)
        return self._solution(status, result, records, gains, settings, (shared, of_stages))

    def _run(self, z, shared, of_stages, settings: Settings, warm_start: Solution | None):
        """Status, what the core says of the point, a record an iteration, a gain a step."""
        self._core.set_parameters(shared, of_stages)
        self._core.set_guess(z)
        if warm_start is not None:
            y, w = warm_start.point.y, warm_start.point.w
            parts = (y[self.layout.kind(kind)] for kind in KINDS)
            self._core.set_multipliers(*parts, np.maximum(-w, 0.0), np.maximum(w, 0.0))
        status = STATUSES[self._core.solve(_core_settings(settings, warm_start is not None))]
        gains = [self._core.gain(k) for k in range(self.problem.steps)]
        return status, self._core.result(), self._core.records(), gains

    # --- numbers in

    def _stack(self, of_variable) -> np.ndarray:
        """(u, x) of all stages in a row, from a function of variable and number of rows that gives (rows, size)."""
        steps, stages = self.problem.steps, self.transcription.stages
        u = np.hstack([np.zeros((steps, 0)), *(of_variable(v, steps) for v in self.problem.controls)])
        x = np.hstack([of_variable(v, stages) for v in self.problem.states])
        return np.concatenate([np.hstack([u, x[:-1]]).ravel(), x[-1]])

    def _collect_bounds(self) -> tuple[np.ndarray, ...]:
        def rows(bound):
            return self._stack(lambda v, count: np.broadcast_to(getattr(v, bound), (count, v.size)))

        low, high = [[] for _ in range(self.transcription.stages)], [[] for _ in range(self.transcription.stages)]
        for block in self.transcription.blocks:
            for k in block.stages:
                low[k] += [term.lower for term in block.inequalities]
                high[k] += [term.upper for term in block.inequalities]
        flat = [np.concatenate([np.zeros(0), *(part for stage in side for part in stage)]) for side in (low, high)]
        return rows("lower"), rows("upper"), *flat

    def _parameters(self, given: Mapping[str, ArrayLike]) -> tuple[np.ndarray, np.ndarray]:
        known = {v.name for v in self.problem.parameters}
        for name in given:
            if name not in known:
                raise ProblemError(
                    f"solve: there is no parameter '{name}'; the parameters are {', '.join(known) or 'none'}"
                )
        for name in sorted(known - set(given)):
            raise ProblemError(f"solve: parameter '{name}' has no value; give it as solve({name}=...)")
        stages = self.transcription.stages
        shared = [_rows(v, given[v.name], 1)[0] for v in self.problem.parameters if not v.per_stage]
        own = [_rows(v, given[v.name], stages) for v in self.problem.parameters if v.per_stage]
        return np.concatenate([np.zeros(0), *shared]), np.ascontiguousarray(np.hstack([np.zeros((stages, 0)), *own]))

    def _guess(self, guess: Mapping[str, ArrayLike] | Solution | None) -> np.ndarray:
        values = dict(guess.trajectories if isinstance(guess, Solution) else guess or {})
        known = {v.name for v in [*self.problem.states, *self.problem.controls]}
        for name in values:
            if name not in known:
                raise ProblemError(f"solve: guess for '{name}', but the variables are {', '.join(sorted(known))}")
        if isinstance(self.problem.duration, Free):
            values.setdefault("duration", self.problem.duration.guess)
        return self._stack(lambda v, count: _rows(v, values.get(v.name, 0.0), count))

    # --- numbers out

    @cached_property
    def plain_conditions(self) -> Conditions:
        """The KKT conditions by CasADi alone."""
        evaluators = [plain_evaluator(self.transcription, block) for block in self.transcription.blocks]
        return Conditions(self.transcription, self.layout, evaluators)

    def _solution(self, status, result, records, gains, settings, parameters) -> Solution:
        y = np.concatenate([result["dynamics"], result["equalities"], result["inequalities"]])
        point = Point(result["z"], y, result["upper"] - result["lower"], *parameters)
        measured = self._conditions.measure(point)
        scales = result["row_scale"], result["objective_scale"]
        reason = doubt(measured, point, *scales, settings.tolerance) if status == "solved" else ""
        fault = None
        if status == "not finite":
            fault = find_fault(self.transcription, self.layout, point, result["fault"])
        statistics = Statistics(
            iterations=result["iterations"],
            seconds=result["seconds"],
            seconds_functions=result["seconds_functions"],
            seconds_linear=result["seconds_linear"],
            evaluations=result["evaluations"],
            differentiations=result["differentiations"],
            factorizations=result["factorizations"],
            build_seconds=self.build_seconds,
        )
        return Solution(
            status="stalled" if reason else status,
            gains=np.array(gains),
            statistics=statistics,
            tolerance=settings.tolerance,
            layout=self.layout,
            point=point,
            measured=measured,
            records=records,
            fault=fault,
            doubt=reason,
            solver=self,
        )


def _rows(variable: Variable, value: ArrayLike, count: int) -> np.ndarray:
    """A value as (count, size): one for all rows, or a row each; steps may be given a row for the last stage."""
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise ProblemError(f"solve: '{variable.name}' is {value!r}, expected numbers") from None
    if array.ndim == 1 and array.size == count != variable.size == 1:
        array = array[:, None]
    if array.ndim == 2 and array.shape == (count + 1, variable.size):
        array = array[:-1]
    if (
        array.ndim > 2
        or (array.ndim == 2 and array.shape[0] not in (1, count))
        or (array.ndim and array.shape[-1] not in (1, variable.size))
    ):
        raise ProblemError(
            f"solve: '{variable.name}' has shape {array.shape}, "
            f"expected ({variable.size},) or ({count}, {variable.size})"
        )
    if not np.isfinite(array).all():
        raise ProblemError(f"solve: '{variable.name}' has an entry that is not finite")
    return np.broadcast_to(array, (count, variable.size)).copy()


def _core_settings(settings: Settings, warm_start: bool):
    inner = core.Settings()
    inner.tolerance, inner.iterations = settings.tolerance, settings.iterations
    inner.warm_start = warm_start
    inner.seconds, inner.initial_barrier = min(settings.seconds, 1e9), settings.initial_barrier
    return inner


def _core_block(block: Block, functions: tuple[ca.Function, ca.Function], compiled):
    values, derivatives = compiled
    made = core.Block()
    made.first, made.count = block.stages[0], len(block.stages)
    made.objective = int(block.objective is not None)
    made.next = 0 if block.next is None else block.next.numel()
    made.equalities = sum(term.expression.numel() for term in block.equalities)
    made.inequalities = sum(term.expression.numel() for term in block.inequalities)
    made.at_equality, made.at_inequality = block.at_equality, block.at_inequality
    made.jacobian_rows, made.jacobian_columns = map(list, functions[1].sparsity_out(0).get_triplet())
    made.hessian_rows, made.hessian_columns = map(list, functions[1].sparsity_out(1).get_triplet())
    made.set_values(values.address, values.sizes.work)
    made.set_derivatives(derivatives.address, derivatives.sizes.work)
    return made
