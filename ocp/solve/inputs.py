"""What the user gives with a solve, as the vectors of `layout`: parameters and guesses by name, every size checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...errors import ProblemError
from ...floats import checked_floats
from ..stages.layout import Layout, PhaseLayout
from ..stages.stages import Phase
from ..stages.transcription import Transcription
from ..statement.variables import Control, Free, State, Variable
from .settings import Settings
from .warm_start import WarmStart


@dataclass(frozen=True, eq=False)
class Inputs:
    """Turns names into vectors for one problem."""

    transcription: Transcription
    layout: Layout

    def parameters(self, given: Mapping[str, ArrayLike | Mapping[str, ArrayLike]]) -> tuple[np.ndarray, np.ndarray]:
        """The shared parameters of all phases, and what their stages have of their own, without anchors yet."""
        known = {v.name: v.default for phase in self.transcription.phases for v in phase.problem.parameters}
        for name in given:
            if name not in known and name in [part.name for part in fields(Settings)]:
                raise ProblemError(f"solve: '{name}' is a setting; give it as solve(settings=Settings({name}=...))")
            if name not in known:
                raise ProblemError(
                    f"solve: there is no parameter '{name}'; the parameters are {', '.join(known) or 'none'}"
                )
        for name, default in known.items():
            if name not in given and default is None:
                raise ProblemError(f"solve: parameter '{name}' has no value; give it as solve({name}=...)")
        shared, stage_parameters = [np.zeros(0)], np.zeros(self.layout.size_stage)
        for phase, place in zip(self.transcription.phases, self.layout.phases):
            values: dict[str, Any] = {
                v.name: _of_phase(place.name, v.name, given[v.name]) if v.name in given else v.default
                for v in phase.problem.parameters
            }
            shared += [_rows(v, values[v.name], 1)[0] for v in phase.problem.parameters if not v.per_stage]
            at, here = 0, place.stage_rows(stage_parameters)
            for v in phase.problem.parameters:
                if v.per_stage:
                    here[:, at : at + v.size] = (_lengths if v.lengths else _rows)(v, values[v.name], place.steps + 1)
                    at += v.size
        return np.concatenate(shared), stage_parameters

    def put_defaults(self, stage_parameters: np.ndarray) -> None:
        """Values of parameters that need not be given into the stage parameters."""
        for phase, place in zip(self.transcription.phases, self.layout.phases):
            at, here = 0, place.stage_rows(stage_parameters)
            for v in phase.problem.parameters:
                if v.per_stage and v.default is not None:
                    here[:, at : at + v.size] = v.default
                at += v.size if v.per_stage else 0

    def guess(self, guess: Mapping[str, Any] | WarmStart | None, stage_parameters: np.ndarray) -> np.ndarray:
        """z of a guess; the anchors of its configurations go into the stage parameters."""
        parts = []
        for phase, place, values in zip(self.transcription.phases, self.layout.phases, self._guessed(guess)):
            parts.append(_guess_of(phase, place, values, stage_parameters))
        z = np.concatenate(parts)
        chosen, becomes = self.transcription.choices.T
        z[chosen] = z[becomes]
        return z

    def left_out(self, guess: Mapping[str, Any]) -> np.ndarray:
        """The places in z of plain states and of controls that a guess does not name; a duration has its own."""
        found = np.zeros(self.layout.size_z, dtype=bool)
        for phase, place, values in zip(self.transcription.phases, self.layout.phases, self._guessed(guess)):
            own = [phase.problem.free_duration, *(v for v in phase.states if v.manifold.units)]
            u, x = (
                np.repeat([v.name not in values and v not in own for v in variables], [v.size for v in variables])
                for variables in (phase.problem.controls, phase.states)
            )
            rows = np.tile(u, (place.steps, 1)), np.tile(x, (place.steps + 1, 1))
            found[place.at_z : place.at_z + place.size_z] = place.joined(*rows)
        found[self.transcription.fixed_z] = False
        return np.flatnonzero(found)

    def _guessed(self, guess: Mapping[str, Any] | WarmStart | None) -> list[dict[str, ArrayLike]]:
        """What a guess says of every phase, by the names of its variables."""
        phases = self.transcription.phases
        known = dict.fromkeys(v.name for phase in phases for v in [*phase.states, *phase.problem.controls])
        if guess is not None and not isinstance(guess, (Mapping, WarmStart)):
            raise ProblemError(
                f"solve: guess is a {type(guess).__name__}, expected a Solution or a dictionary of {', '.join(known)}"
            )
        names = {phase.problem.name for phase in phases} if len(phases) > 1 else set()
        given = guess.guess if isinstance(guess, WarmStart) else dict(guess or {})
        for name in given:
            if name not in known and name not in names:
                raise ProblemError(f"solve: guess for '{name}', but the variables are {', '.join(sorted(known))}")
        found = []
        for phase, place in zip(phases, self.layout.phases):
            own = given.get(place.name, {}) if place.name in names else {}
            theirs = [v.name for v in [*phase.states, *phase.problem.controls]]
            if not isinstance(own, Mapping) or not set(own) <= set(theirs):
                raise ProblemError(f"solve: guess for the phase '{place.name}' is {own!r}, "
                                   f"expected a dictionary of its variables {', '.join(theirs)}")  # fmt: skip
            found.append({**{name: value for name, value in given.items() if name not in names}, **own})
        return found

    def point(self, warm: WarmStart, stage_parameters: np.ndarray) -> np.ndarray:
        """z of a warm start as it is; its anchors go into the stage parameters."""
        for place in self.layout.phases:
            if place.stage_stride > place.at_anchors:
                anchors = place.stage_rows(warm.point.stage_parameters)[:, place.at_anchors :]
                place.stage_rows(stage_parameters)[:, place.at_anchors :] = anchors
        z = warm.point.z.copy()
        chosen, becomes = self.transcription.choices.T
        z[chosen] = z[becomes]
        return z

    def start(self, start: Mapping[str, ArrayLike] | None, z: np.ndarray, stage_parameters: np.ndarray) -> None:
        """Put the first values that are given with a solve into z and, for configurations, their anchors."""
        started = [v.name for v in self.transcription.problem.started]
        if start is not None and not isinstance(start, Mapping):
            raise ProblemError(
                f"solve: start is a {type(start).__name__}, expected a dictionary of {', '.join(started) or 'nothing'}"
            )
        given = {} if start is None else start
        for name in given:
            if name not in started:
                which = f"start(...) named {', '.join(started)}" if started else "no state is named by start(...)"
                raise ProblemError(f"solve: start has '{name}', but {which}")
        for name in started:
            if name not in given:
                raise ProblemError(f"solve: '{name}' has no first value; give it as solve(start={{'{name}': ...}})")
        place = self.layout.phases[0]
        at, anchor = place.nu, place.at_anchors
        for v in self.transcription.phases[0].states:
            if v.name in started:
                coordinates, anchors = v.manifold.cut(_rows(v, given[v.name], 1))
                z[at : at + v.size] = coordinates[0]
                place.stage_rows(stage_parameters)[0, anchor : anchor + v.manifold.anchors] = anchors[0]
            at, anchor = at + v.size, anchor + v.manifold.anchors


def _of_phase(phase: str, name: str, value: ArrayLike | Mapping[str, ArrayLike]) -> ArrayLike:
    """The value of a parameter for one phase."""
    if not isinstance(value, Mapping):
        return value
    if phase not in value:
        raise ProblemError(
            f"solve: parameter '{name}' has no value for '{phase}'; give solve({name}={{'{phase}': ...}})"
        )
    return value[phase]


def _guess_of(
    phase: Phase, place: PhaseLayout, values: Mapping[str, ArrayLike], stage_parameters: np.ndarray
) -> np.ndarray:
    """A phase's part of z, with nothing chosen yet; anchors go into the stage parameters."""
    controls = [_rows(v, values.get(v.name, 0.0), place.steps) for v in phase.problem.controls]
    states, at = [], place.at_anchors
    for v in phase.states:
        rows = _rows(v, values.get(v.name, _unguessed(phase, v)), place.steps + 1)
        coordinates, anchors = v.manifold.cut(rows)
        place.stage_rows(stage_parameters)[:, at : at + v.manifold.anchors] = anchors
        at += v.manifold.anchors
        states.append(coordinates)
    return place.joined(np.hstack([np.zeros((place.steps, 0)), *controls]), np.hstack(states))


def _unguessed(phase: Phase, state: State) -> ArrayLike:
    """Where a state starts that nobody guessed."""
    duration = phase.problem.duration
    if state is phase.problem.free_duration and isinstance(duration, Free):
        return duration.guess
    return state.manifold.neutral


def _lengths(variable: Variable, value: ArrayLike, count: int) -> np.ndarray:
    """Those of the steps (count, 1); one, one a step, or one a stage."""
    steps = checked_floats(f"solve: '{variable.name}'", value).size == count - 1 > 1
    rows = _rows(variable, value, count - 1 if steps else count)
    if not (rows > 0).all():
        raise ProblemError(f"solve: '{variable.name}' is {rows.min():g} at one of its steps, expected positive lengths")
    return np.vstack([rows, rows[-1:]]) if steps else rows


def _rows(variable: Variable, value: ArrayLike, count: int) -> np.ndarray:
    """A value as (count, entries): one for all rows, or a row each; steps may be given a row for the last stage."""
    size = variable.entries
    array = checked_floats(f"solve: '{variable.name}'", value)
    if array.ndim == 1 and array.size == count != size == 1:
        array = array[:, None]
    if isinstance(variable, Control) and array.shape == (count + 1, size):
        array = array[:-1]
    if (
        array.ndim > 2
        or (array.ndim == 2 and array.shape[0] not in (1, count))
        or (array.ndim and array.shape[-1] not in (1, size))
    ):
        turned = "; it is transposed" if array.T.shape == (count, size) else ""
        raise ProblemError(
            f"solve: '{variable.name}' has shape {array.shape}, expected ({size},) or ({count}, {size}){turned}"
        )
    if not np.isfinite(array).all():
        raise ProblemError(f"solve: '{variable.name}' has an entry that is not finite")
    result = np.empty((count, size))
    result[:] = array
    for start, stop in variable.manifold.units if isinstance(variable, State) else ():
        if not (np.linalg.norm(result[:, start:stop], axis=1) > 1e-6).all():
            raise ProblemError(
                f"solve: '{variable.name}' has zeros at entries {start} to {stop - 1}, "
                f"expected a unit {'quaternion' if stop - start == 4 else 'pair'}"
            )
    return result
