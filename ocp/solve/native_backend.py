"""The native back end: machine code for the stages, and the core's interior point on it."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from ...errors import ProblemError
from ...native import CompiledFunction, compile_function, core
from ...native.progress_bar import Progress
from ..answer.iteration import Iteration
from ..answer.statistics import Statistics
from ..answer.status import Status
from ..judge.made_of import NOTICED, stricter
from ..judge.residual import SLACK, Measured, Point, Residual, Sums, measured_at, outside
from ..judge.unsolved import Unsolved, left_of
from ..stages.functions import StageFunctions, stage_functions
from ..stages.layout import Layout
from ..stages.limit_vectors import LimitVectors, StatedLimits
from ..stages.stages import Block
from ..stages.transcription import Transcription
from ..statement.costs_and_constraints.terms import Kind
from .backend import Outcome, Request, Watcher
from .portfolio import Both
from .settings import LIMITS, RULES, Settings

if TYPE_CHECKING:
    from ..many.rows import ProblemRows

Compiled = list[CompiledFunction | None]
Code = tuple[list[StageFunctions], Compiled, Compiled]  # of the blocks, what recentres the phases, `left_of` the blocks
LARGEST = sys.float_info.max  # an int may be larger
TAKEN = [part.name for part in fields(Statistics) if part.name != "build_seconds"]  # the core says these


def _code(transcription: Transcription, hessian: str) -> Code:
    """Derivatives and machine code of all blocks."""
    functions: list[StageFunctions] = []
    with Progress("building", len(transcription.blocks) + 1) as progress:
        for block in transcription.blocks:
            progress.begin(f"building {block}")
            functions.append(stage_functions(transcription, block, hessian))
            progress.advance()
        moved = [transcription.recentring(phase) for phase in transcription.phases]
        left = [left_of(block) for block in transcription.blocks]
        return functions, _compiled(moved), _compiled(left, "quick")


def _compiled(functions: list[ca.Function | None], optimize: str = "full") -> Compiled:
    return [None if each is None else compile_function(each, optimize=optimize) for each in functions]


class NativeBackend:
    """Compiled functions of every block, and the core's solver."""

    def __init__(self, transcription: Transcription, layout: Layout, hessian: str, code: Code | None = None):
        self.transcription, self.layout = transcription, layout
        self._stated = StatedLimits(transcription, layout)
        if code is None:
            code = _code(transcription, hessian)
        self.functions, self._recentrings, self._left = code
        batches = [None if each is None else each.batch for each in self._left]
        self._unsolved = Unsolved(transcription, layout, batches)
        self.structure = self._core_structure()
        self.structure.quadratic = (
            hessian == "exact" and not any(self._recentrings) and all(each.quadratic for each in self.functions)
        )
        self.core: core.Solver | None = core.Solver(self.structure)
        self._beside: core.Solver | None = None  # of a portfolio's other way; not where that may be under way
        self._judge = core.Judge(self.structure)
        self._judging = Lock()
        self._idle_batches: list[core.Batch] = []  # each for one batch at a time
        self._bounds: tuple[LimitVectors | None, list[np.ndarray]] = None, []  # of the last solve

    @property
    def code(self) -> Code:
        """All that was compiled."""
        return self.functions, self._recentrings, self._left

    @property
    def inexact(self) -> bool:
        """Whether the rows rest on nodes whose solutions may miss."""
        return any(self._left)

    @property
    def not_compiled(self) -> str:
        """What is computed without machine code of its own, in words; empty: nothing."""
        largest = max(each.recursive_unknowns for each in self.functions)
        return f"dynamics of {largest} unknowns by recursions over bodies" if largest else ""

    def run(self, request: Request) -> Outcome:
        """Solve by the core; see native/src/ocp/solve/result.hpp for what it says."""
        if self.core is None:
            self.core = self.new_core()
        if not request.settings.portfolio:
            return self.run_on(self.core, request)
        beside, self._beside = self._beside or self.new_core(), None
        self.bounds(request.limits)  # kept for both
        outcome = Both(request).run(partial(self.run_on, self.core), partial(self.run_on, beside))
        self._beside = beside
        return outcome

    def new_core(self) -> core.Solver:
        """Another solver of the core, with memory of its own."""
        return core.Solver(self.structure)

    def run_on(self, solver: core.Solver, request: Request) -> Outcome:
        """Solve by one of the core's solvers."""
        start = request.start
        solver.set_parameters(start.shared_parameters, start.stage_parameters)
        solver.set_bounds(*self.bounds(request.limits))
        solver.set_guess(start.z)
        if request.warm:
            solver.set_multipliers(start.y, start.w)
        if request.fallback is not None:
            solver.set_fallback(request.fallback.z, request.fallback.stage_parameters)
        result = solver.solve(core_settings(request.settings, request.warm), _core_watcher(request.watcher))
        return self.outcome(result, start.shared_parameters)

    def renew(self) -> None:
        """Let go of the core's solvers; the next solve makes another one."""
        self.core = self._beside = None
        self._judging = Lock()
        self._idle_batches = []

    def run_many(
        self,
        rows: ProblemRows,
        limits: LimitVectors,
        settings: Settings,
        threads: int,
        progress: Callable[[int], object] | None,
        into: dict[str, np.ndarray],
    ) -> np.ndarray:
        """Solve many by the core, each on the next thread that is free; see native/src/ocp/solve/batch.hpp.

        Answers go `into` arrays with a row a problem; records come back.
        """
        inner = core_settings(settings, rows.y is not None)
        vectors = rows.shared, rows.stage_parameters, rows.z, rows.y, rows.w
        try:
            batch = self._idle_batches.pop()
        except IndexError:  # nobody asks before: another thread may be quicker
            batch = core.Batch(self.structure)
        try:
            records = batch.solve(rows.count, *vectors, self.bounds(limits), into, inner, threads, progress)
        except RuntimeError as error:
            if os.strerror(errno.EAGAIN) not in str(error):
                raise
            raise ProblemError(
                f"solve_many: the system has no thread to give ({error}), expected one at least"
            ) from None
        self._idle_batches.append(batch)
        if self.inexact:
            self._add_unsolved(rows.shared, into)
        noticed = (into["residuals"] > NOTICED) & (into["relative_residuals"] <= SLACK * settings.tolerance)
        for i in np.flatnonzero(noticed).tolist():
            point = Point(into["z"][i], into["y"][i], into["w"][i], rows.shared[i], into["stage_parameters"][i])
            into["relative_residuals"][i] = self.judge(point, limits.of(i)).relative.worst
        return records

    def _add_unsolved(self, shared_parameters: np.ndarray, into: dict[str, np.ndarray]) -> None:
        """What nodes have left, to the residuals of all problems that were begun."""
        begun = into["times"][:, 0] > 0
        vectors = into["z"][begun], shared_parameters[begun], into["stage_parameters"][begun]
        for name, left in zip(("residuals", "relative_residuals"), self._unsolved.of_many(*vectors)):
            into[name][begun] = np.maximum(into[name][begun], left)

    def outcome(self, result: core.Result, shared_parameters: np.ndarray) -> Outcome:
        """The core's result of a solve."""
        return Outcome(
            status=Status.named(result.status.name.replace("_", " ")),
            point=Point(result.z, result.y, result.w, shared_parameters, result.stage_parameters),
            gains=result.gains,
            statistics=Statistics(**{part: getattr(result, part) for part in TAKEN}),
            records=[Iteration._make(record) for record in result.records],
            fault=result.fault,
        )

    def error(self, point: Point, limits: LimitVectors) -> float:
        """By the core's judge: another one than that which its solvers ask, so that nobody judges himself."""
        vectors = point.z, point.y, point.w, point.shared_parameters, point.stage_parameters
        with self._judging:
            self._judge.set_bounds(*self.bounds(limits))
            _, rows, _, relative = self._judge.measure(*vectors)
        off = outside(rows, limits.y_lower, limits.y_upper)
        off[limits.soft] = 0.0
        if off.max(initial=0.0) > NOTICED:
            return self.judge(point, limits).relative.worst
        left, error = self._unsolved.at(point), float(np.max(relative))
        return error if left is None else float(np.maximum(error, left.relative))

    def judge(self, point: Point, limits: LimitVectors) -> Measured:
        """By the same judge."""
        vectors = point.z, point.y, point.w, point.shared_parameters, point.stage_parameters
        with self._judging:
            self._judge.set_bounds(*self.bounds(limits))
            objective, rows, slopes, relative = self._judge.measure(*vectors)
        sums = Sums(objective, rows, slopes)
        left = self._unsolved.at(point)
        measured = measured_at(self.transcription, self.layout, point, limits, sums, Residual(*relative), left)
        return stricter(self.transcription, self.layout, point, measured)

    def bounds(self, limits: LimitVectors) -> list[np.ndarray]:
        """Limits as the core takes them: of z, then of the inequalities; of one problem, or a row each of several."""
        last, found = self._bounds
        if last is limits:
            return found
        rows, fixed = self.layout.limited, self.transcription.fixed_z
        z_lower, z_upper = limits.z_lower.copy(), limits.z_upper.copy()
        z_lower[..., fixed], z_upper[..., fixed] = -np.inf, np.inf
        of_rows = limits.y_lower[..., rows], limits.y_upper[..., rows]
        found = [z_lower, z_upper, *map(np.ascontiguousarray, of_rows)]
        if z_lower.ndim == 1:
            self._bounds = limits, found
        return found

    # --- the core's view

    def _core_structure(self) -> core.Structure:
        transcription, made = self.transcription, core.Structure()
        made.nx, made.nu, made.parent = transcription.nx, transcription.nu, transcription.parents
        made.equalities, made.inequalities = map(transcription.count, (Kind.EQUALITY, Kind.INEQUALITY))
        made.blocks = [self._core_block(*each) for each in zip(transcription.blocks, self.functions)]
        made.recentrings = self._core_recentrings()
        made.fixed = transcription.fixed
        made.variables, made.turns = self.layout.variables.tolist(), self.layout.turns
        made.durations = self.layout.durations
        price, growth = self._stated.prices
        if np.isfinite(price).any():
            made.price, made.price_growth = price.tolist(), growth.tolist()
        made.shared_parameters, made.stage_parameters = self.layout.size_shared, self.layout.size_stage
        return made

    def _core_block(self, block: Block, functions: StageFunctions) -> core.Block:
        made = core.Block()
        made.first, made.count, made.child = block.stages[0], len(block.stages), block.child
        layouts, phases = self.layout.phases, self.transcription.phases
        phase = layouts[phases.index(block.phase)]
        made.at_shared, made.stage_stride = phase.at_shared, phase.stage_stride
        made.at_stage = phase.at_stage + (block.stages[0] - phase.first) * phase.stage_stride
        if block.entering is not None:
            entered = layouts[phases.index(block.entering)]
            made.at_child = entered.at_stage + (block.child - entered.first) * entered.stage_stride
            made.child_stride = entered.stage_stride
        made.objective, made.dynamics = block.count(Kind.OBJECTIVE), block.count(Kind.DYNAMICS)
        made.equalities, made.inequalities = block.count(Kind.EQUALITY), block.count(Kind.INEQUALITY)
        made.lanes = functions.lanes
        made.at_equality, made.at_inequality = block.at_equality, block.at_inequality
        made.jacobian_rows, made.jacobian_columns = functions.jacobian_places
        made.hessian_rows, made.hessian_columns = functions.hessian_places
        functions.give_to(made)
        return made

    @property
    def recentring_code(self) -> list[CompiledFunction]:
        """Of each of the structure's recentrings: two of a phase, of its steps and of its last stage."""
        return [code for code in self._recentrings if code is not None for _ in range(2)]

    def _core_recentrings(self) -> list[core.Recentring]:
        made = []
        for compiled, place in zip(self._recentrings, self.layout.phases):
            if compiled is None:
                continue
            for first, count in ((0, place.steps), (place.steps, 1)):
                recentring = core.Recentring()
                recentring.first, recentring.count = place.first + first, count
                recentring.at_stage = place.at_stage + first * place.stage_stride
                recentring.per_stage = place.stage_stride
                recentring.set_function(compiled.address, compiled.sizes.work)
                made.append(recentring)
        return made


def _core_watcher(watcher: Watcher | None) -> Any:
    """What the core calls with the record of every iteration; None where nobody looks on."""
    return None if watcher is None else lambda record: watcher(Iteration._make(record))


def core_settings(settings: Settings, warm: bool) -> core.Settings:
    """As the core has them."""
    inner = core.Settings()
    for name in LIMITS:
        value, kind = getattr(settings, name), type(getattr(inner, name))
        setattr(inner, name, kind(value) if value <= LARGEST else np.inf)
    for name, rules in RULES.items():
        setattr(inner, name, rules[getattr(settings, name)])
    inner.warm_start = warm
    return inner
