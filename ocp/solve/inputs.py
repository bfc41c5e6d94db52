"""What the user gives with a solve, as the vectors of `layout`: parameters and guesses by name, every size checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike

from ...errors import ProblemError
from ..stages.layout import Layout, Span
from ..stages.transcription import Transcription
from ..statement.problem import Problem
from ..statement.variables import Variable
from .settings import Settings
from .warm_start import Start


@dataclass(frozen=True, eq=False)
class Given:
    """Turns names into vectors for one problem."""

    transcription: Transcription
    layout: Layout

    def parameters(self, given: Mapping[str, ArrayLike]) -> tuple[np.ndarray, np.ndarray]:
        """The shared parameters of all phases, and what their stages have of their own, without anchors yet."""
        known = {v.name: None for phase in self.transcription.phases for v in phase.problem.parameters}
        for name in given:
            if name not in known and name in [part.name for part in fields(Settings)]:
                raise ProblemError(f"solve: '{name}' is a setting; give it as solve(settings=Settings({name}=...))")
            if name not in known:
                raise ProblemError(
                    f"solve: there is no parameter '{name}'; the parameters are {', '.join(known) or 'none'}"
                )
        for name in known:
            if name not in given:
                raise ProblemError(f"solve: parameter '{name}' has no value; give it as solve({name}=...)")
        shared, of_stages = [np.zeros(0)], np.zeros(self.layout.size_own)
        for phase, span in zip(self.transcription.phases, self.layout.phases):
            values = {v.name: _of_phase(span.name, v.name, given[v.name]) for v in phase.problem.parameters}
            shared += [_rows(v, values[v.name], 1)[0] for v in phase.problem.parameters if not v.per_stage]
            own = [_rows(v, values[v.name], span.steps + 1) for v in phase.problem.parameters if v.per_stage]
            rows = np.hstack([np.zeros((span.steps + 1, 0)), *own])
            span.of_stages(of_stages)[:, : rows.shape[1]] = rows
        return np.concatenate(shared), of_stages

    def guess(self, guess: Mapping[str, ArrayLike] | Start | None, of_stages: np.ndarray) -> np.ndarray:
        """z of a guess; the anchors of its configurations go into of_stages."""
        phases = self.transcription.phases
        known = dict.fromkeys(v.name for phase in phases for v in [*phase.problem.states, *phase.problem.controls])
        if guess is not None and not isinstance(guess, (Mapping, Start)):
            raise ProblemError(
                f"solve: guess is a {type(guess).__name__}, expected a Solution or a dictionary of {', '.join(known)}"
            )
        names = {phase.problem.name for phase in phases} if len(phases) > 1 else set()
        given: dict = guess.guess if isinstance(guess, Start) else dict(guess or {})
        for name in given:
            if name not in known and name not in names:
                raise ProblemError(f"solve: guess for '{name}', but the variables are {', '.join(sorted(known))}")
        z = []
        for phase, span in zip(phases, self.layout.phases):
            own = given.get(span.name, {}) if span.name in names else {}
            theirs = [v.name for v in [*phase.problem.states, *phase.problem.controls]]
            if not isinstance(own, Mapping) or not set(own) <= set(theirs):
                raise ProblemError(f"solve: guess for the phase '{span.name}' is {own!r}, "
                                   f"expected a dictionary of its variables {', '.join(theirs)}")  # fmt: skip
            values = {**{name: value for name, value in given.items() if name not in names}, **own}
            z.append(_guess_of(phase.problem, span, values, of_stages))
        z = np.concatenate(z)
        chosen, becomes = self.transcription.choices.T
        z[chosen] = z[becomes]
        return z


def _of_phase(phase: str, name: str, value: ArrayLike | Mapping[str, ArrayLike]) -> ArrayLike:
    """The value of a parameter for one phase."""
    if not isinstance(value, Mapping):
        return value
    if phase not in value:
        raise ProblemError(
            f"solve: parameter '{name}' has no value for '{phase}'; give solve({name}={{'{phase}': ...}})"
        )
    return value[phase]


def _guess_of(problem: Problem, span: Span, values: Mapping[str, ArrayLike], of_stages: np.ndarray) -> np.ndarray:
    """A phase's part of z, with nothing chosen yet; anchors go into of_stages."""
    steps = span.steps
    u = [_rows(v, values.get(v.name, 0.0), steps) for v in problem.controls]
    start = {"duration": problem.duration.guess} if problem.held else {}
    x, at = [], span.own
    for v in reversed(problem.states):
        states = _rows(v, values.get(v.name, start.get(v.name, v.manifold.neutral)), steps + 1)
        coordinates, anchors = v.manifold.cut(states)
        at -= v.manifold.anchors
        span.of_stages(of_stages)[:, at : at + v.manifold.anchors] = anchors
        x.insert(0, coordinates)
    x = np.hstack(x)
    body = np.hstack([np.zeros((steps, 0)), *u, x[:-1]])
    return np.concatenate([body.ravel(), np.zeros(span.chosen), x[-1]])


def _rows(variable: Variable, value: ArrayLike, count: int) -> np.ndarray:
    """A value as (count, entries): one for all rows, or a row each; steps may be given a row for the last stage."""
    size = variable.manifold.size
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise ProblemError(f"solve: '{variable.name}' is {value!r}, expected numbers") from None
    if array.ndim == 1 and array.size == count != size == 1:
        array = array[:, None]
    if array.ndim == 2 and array.shape == (count + 1, size):
        array = array[:-1]
    if (
        array.ndim > 2
        or (array.ndim == 2 and array.shape[0] not in (1, count))
        or (array.ndim and array.shape[-1] not in (1, size))
    ):
        turned = "; it is transposed" if array.T.shape in ((count, size), (count + 1, size)) else ""
        raise ProblemError(
            f"solve: '{variable.name}' has shape {array.shape}, expected ({size},) or ({count}, {size}){turned}"
        )
    if not np.isfinite(array).all():
        raise ProblemError(f"solve: '{variable.name}' has an entry that is not finite")
    result = np.broadcast_to(array, (count, size)).copy()
    for start, stop in variable.manifold.units:
        if not (np.linalg.norm(result[:, start:stop], axis=1) > 1e-6).all():
            raise ProblemError(
                f"solve: '{variable.name}' has zeros at entries {start} to {stop - 1}, "
                f"expected a unit {'quaternion' if stop - start == 4 else 'pair'}"
            )
    return result
