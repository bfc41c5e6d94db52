"""The limits of a whole solve as vectors: numbers of the statement, and expressions at the parameters of the solve."""

from __future__ import annotations

from dataclasses import dataclass, fields

import casadi as ca
import numpy as np

from ...cached import cached_property
from ...errors import ProblemError
from ..statement.costs_and_constraints.limits import Limits
from ..statement.costs_and_constraints.soft import Price
from ..statement.costs_and_constraints.terms import Kind
from ..statement.variables import Control, State
from .layout import Layout, PhaseLayout, block_places
from .plain_limits import PlainLimits, plain_limits
from .stages import Phase
from .transcription import Transcription


@dataclass(frozen=True, eq=False)
class LimitVectors:
    """Limits of the variables along z and of the rows along y (`layout`), infinite where there is none.

    y_target: what an equality was said to equal; its row is what is left of it, with limits 0.
    y_price, y_growth: of what is beyond soft limits, linear and quadratic; infinite and 0 where they are hard.
    """

    z_lower: np.ndarray
    z_upper: np.ndarray
    y_lower: np.ndarray
    y_upper: np.ndarray
    y_target: np.ndarray
    y_price: np.ndarray
    y_growth: np.ndarray

    def of(self, problem: int) -> LimitVectors:
        """Those of one of several, which may all have the same."""
        parts = (getattr(self, part.name) for part in fields(self))
        return LimitVectors(*(part[problem if len(part) > 1 else 0] if part.ndim == 2 else part for part in parts))

    @cached_property
    def soft(self) -> np.ndarray:
        """The rows with soft limits."""
        return np.flatnonzero(np.isfinite(self.y_price))

    def excess(self, rows: np.ndarray) -> np.ndarray:
        """Of the rows with soft limits, whose values are among those along y: what is beyond."""
        soft = self.soft
        return np.maximum(np.maximum(self.y_lower[soft] - rows[soft], rows[soft] - self.y_upper[soft]), 0.0)

    def price(self, excess: np.ndarray) -> np.ndarray:
        """Of these rows, for one more beyond."""
        return self.y_price[self.soft] + self.y_growth[self.soft] * excess

    def cost(self, excess: np.ndarray) -> float:
        """Of what is beyond, all together."""
        return float(0.5 * np.sum((self.y_price[self.soft] + self.price(excess)) * excess))


@dataclass(frozen=True, eq=False)
class LimitedRows:
    """What has limits in one way: a name, its stages counted in its phase, and their places (stages, rows) in z and y
    laid end to end.
    """

    name: str
    phase: Phase
    layout: PhaseLayout
    stages: range
    places: np.ndarray
    limits: Limits
    names: tuple[str, ...]
    price: Price | None = None

    @cached_property
    def function(self) -> ca.Function:
        """(shared parameters, parameters of the stage) -> lower, upper."""
        inputs = [self.phase.shared_parameters, self.phase.stage_parameters]
        return ca.Function("limits", inputs, [self.limits.lower, self.limits.upper])

    @cached_property
    def plain(self) -> PlainLimits | None:
        """Lower ones, then upper ones, where they are plain, of (shared parameters, parameters of the stage)."""
        symbols = ca.vertcat(self.phase.shared_parameters, self.phase.stage_parameters)
        return plain_limits(ca.vertcat(self.limits.lower, self.limits.upper), symbols)

    def at(self, shared: np.ndarray, stage_parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Both (problems, stages, rows), for the parameters of many solves, a row each."""
        problems, stages = len(shared), len(self.stages)
        here = shared[:, self.layout.at_shared : self.layout.at_shared + self.layout.shared]
        places = self.layout.stage_rows(np.arange(stage_parameters.shape[1]))[self.stages.start : self.stages.stop]
        if self.plain is None:
            stage_rows = stage_parameters[:, places].reshape(problems * stages, -1)
            found = self.function(np.repeat(here, stages, axis=0).T, stage_rows.T)
            lower, upper = (np.array(side).T.reshape(problems, stages, -1) for side in found)
        else:
            of_stages = stage_parameters[:, places]
            of_all = np.broadcast_to(here[:, None], (problems, stages, here.shape[1]))
            both = self.plain.at(np.concatenate([of_all, of_stages], axis=2))
            lower, upper = both[..., : self.limits.lower.numel()], both[..., self.limits.lower.numel() :]
        wrong = np.argwhere(~(lower <= upper))
        if len(wrong):
            problem, k, i = wrong[0]
            which = "solve" if problems == 1 else f"solve_many: problem {problem}"
            low, high = lower[problem, k, i], upper[problem, k, i]
            row = f"'{self.names[i]}'" if self.names else f"row {i}"
            raise ProblemError(f"{which}: {self.name}: {row} at stage {self.stages[k]} has lower {low:.15g} and upper "
                               f"{high:.15g}, expected lower <= upper")  # fmt: skip
        return lower, upper


class StatedLimits:
    """All limits that a statement has, but those of states at the start that a row fixes there: the first state is a
    matter of fact, as one that is given with a solve.
    """

    def __init__(self, transcription: Transcription, layout: Layout):
        self._size_z, self._fixed = layout.size_z, transcription.fixed_z
        self._pinned = transcription.pinned_z
        self._lower = np.concatenate([np.full(layout.size_z, -np.inf), np.zeros(layout.size_y)])
        self._upper = np.concatenate([np.full(layout.size_z, np.inf), np.zeros(layout.size_y)])
        self._target = np.zeros(layout.size_z + layout.size_y)
        self._inequalities = layout.limited
        self._price, self._growth = np.full(layout.size_y, np.inf), np.zeros(layout.size_y)
        for rows in _of_constraints(transcription, layout, Kind.INEQUALITY):
            if rows.price is not None:
                self._price[rows.places - layout.size_z] = rows.price.linear
                self._growth[rows.places - layout.size_z] = rows.price.quadratic
        self._parametric = []
        limits = [*_of_variables(transcription, layout), *_of_constraints(transcription, layout, Kind.INEQUALITY)]
        for rows in limits:
            self._lower[rows.places], self._upper[rows.places] = rows.limits.numbers
            if rows.limits.parametric:
                self._parametric.append(rows)
        self._parametric_targets = []
        for rows in _of_constraints(transcription, layout, Kind.EQUALITY):
            self._target[rows.places] = rows.limits.numbers[0]
            if rows.limits.parametric:
                self._parametric_targets.append(rows)
        self._constant = self._cut(self._lower, self._upper, self._target)

    @property
    def prices(self) -> tuple[np.ndarray, np.ndarray]:
        """Of the inequalities, linear and quadratic; infinite and 0 where they are hard."""
        return self._price[self._inequalities], self._growth[self._inequalities]

    @property
    def parametric_rows(self) -> list[LimitedRows]:
        """Those that depend on parameters."""
        return self._parametric

    @property
    def stated(self) -> LimitVectors:
        """The limits where they are numbers."""
        return self._constant

    def at(self, z: np.ndarray, shared: np.ndarray, stage_parameters: np.ndarray) -> LimitVectors:
        """The limits for the parameters of a solve; what is given with it is its own limit."""
        if not self._parametric and not self._parametric_targets and not len(self._fixed):
            return self._constant
        lower, upper, target = self._lower.copy(), self._upper.copy(), self._target.copy()
        for rows in self._parametric:
            (lower[rows.places],), (upper[rows.places],) = rows.at(shared[None], stage_parameters[None])
        for rows in self._parametric_targets:
            (target[rows.places],), _ = rows.at(shared[None], stage_parameters[None])
        lower[self._fixed] = upper[self._fixed] = z[self._fixed]
        return self._cut(lower, upper, target)

    def of_many(self, shared: np.ndarray, stage_parameters: np.ndarray) -> LimitVectors:
        """The limits for the parameters of many solves, a row each: a row for each too, or one where all are the same.
        What is given with a solve keeps the limits that were stated; targets are left out.
        """
        lower, upper = self._lower[None], self._upper[None]
        if self._parametric:
            lower, upper = (np.tile(side, (len(shared), 1)) for side in (lower, upper))
            for rows in self._parametric:
                lower[:, rows.places], upper[:, rows.places] = rows.at(shared, stage_parameters)
        return self._cut(lower, upper, self._target)

    def _cut(self, lower: np.ndarray, upper: np.ndarray, target: np.ndarray) -> LimitVectors:
        z, y = slice(None, self._size_z), slice(self._size_z, None)
        lower[..., self._pinned], upper[..., self._pinned] = -np.inf, np.inf
        sides = lower[..., z], upper[..., z], lower[..., y], upper[..., y]
        return LimitVectors(*sides, target[y], self._price, self._growth)


def _of_variables(transcription: Transcription, layout: Layout) -> list[LimitedRows]:
    # A free duration, which is a constant, has its limits on every stage all the same: with those of the first alone
    # 79 of 115 solves of the public problems with one, random starts among them, end well, not 81, in 1.02 times the
    # iterations.
    found = []
    everywhere = np.arange(layout.size_z)
    for phase, place in zip(transcription.phases, layout.phases):
        places = place.coordinates(everywhere)
        limited: list[State | Control] = [*phase.states, *phase.problem.controls]
        for v in limited:
            here = places[v.name]
            found.append(LimitedRows(f"limits of '{v.name}'", phase, place, range(len(here)), here, v.limits, v.names))
    return found


def _of_constraints(transcription: Transcription, layout: Layout, kind: Kind) -> list[LimitedRows]:
    found = []
    for block in transcription.blocks:
        places = layout.size_z + block_places(transcription, block)
        place = layout.phases[transcription.phases.index(block.phase)]
        stages = range(block.stages[0] - place.first, block.stages[-1] + 1 - place.first)
        at = 0
        for term in block.constraints:
            here, name = places[:, at : at + term.rows], f"'{term.name}'"
            if term.kind is kind:
                found.append(LimitedRows(name, block.phase, place, stages, here, term.limits, term.names, term.price))
            at += term.rows
    return found
