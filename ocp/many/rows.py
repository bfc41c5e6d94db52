"""What the user gives for many solves at once, as the vectors of `layout`: one for all problems, or a row each.

A value for one solve serves them all; with one more axis in front, the length of which is the number of problems, each
has its own: a parameter (size,) becomes (problems, size), one for every stage (problems, stages, size), a guess of a
trajectory (problems, stages, size) or, the same at all stages, (problems, 1, size).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...errors import ProblemError
from ...floats import floats
from ..answer.solution import Solution
from ..solve.inputs import Inputs
from ..solve.warm_start import WarmStart
from ..stages.layout import Layout, VariableLayout
from ..statement.variables import State


@dataclass(frozen=True, eq=False)
class ProblemRows:
    """The vectors of `count` problems, (count, size) or (1, size); multipliers where the starts are warm."""

    count: int
    shared: np.ndarray
    stage_parameters: np.ndarray
    z: np.ndarray
    y: np.ndarray | None = None
    w: np.ndarray | None = None

    def part(self, numbers: range) -> ProblemRows:
        """Those of some problems."""

        def of(vectors: np.ndarray) -> np.ndarray:
            return vectors if len(vectors) == 1 else vectors[numbers.start : numbers.stop]

        warm = () if self.y is None or self.w is None else (of(self.y), of(self.w))
        return ProblemRows(len(numbers), of(self.shared), of(self.stage_parameters), of(self.z), *warm)


def rows_of(
    inputs: Inputs,
    parameters: Mapping[str, ArrayLike | Mapping[str, ArrayLike]],
    guess: Mapping[str, Any] | Sequence[Solution] | Solution | None,
    warm_start: Sequence[Solution] | Solution | None,
    start: Mapping[str, Any] | None = None,
) -> ProblemRows:
    """Every size is checked, and a wrong number is named with its problem."""
    layout = inputs.layout
    if warm_start is not None and guess is not None:
        raise ProblemError("solve_many: guess is given beside warm_start, expected one of the two")
    stacked = _stacked_parameters(layout, parameters)
    trajectories = _stacked_guess(guess) if isinstance(guess, Mapping) else {}
    points = _points(layout, "warm_start", warm_start) or _points(layout, "guess", guess)
    first = _stacked_start(inputs, start) if isinstance(start, Mapping) else {}
    lengths = {f"'{name}'": len(value) for name, value in (stacked | trajectories).items()}
    lengths |= {f"start of '{name}'": len(value) for name, value in first.items()}
    if len(points) > 1:
        lengths["warm_start" if warm_start is not None else "guess"] = len(points)
    count = _count(lengths)

    shared, stage_parameters = inputs.parameters({**parameters, **{name: value[0] for name, value in stacked.items()}})
    shared, stage_parameters = np.tile(shared, (count, 1)), np.tile(stage_parameters, (count, 1))
    for name, value in stacked.items():
        _put(layout, name, value, shared, stage_parameters)
    y = w = None
    if points:
        z, y, w = _from_points(layout, stage_parameters, points)
    else:
        assert guess is None or isinstance(guess, Mapping)
        z = _guessed(inputs, count, guess, trajectories, stage_parameters)
    warm = (y, w) if warm_start is not None else ()
    return ProblemRows(count, shared, stage_parameters, _started(inputs, start, first, z, stage_parameters), *warm)


def _count(lengths: Mapping[str, int]) -> int:
    if not lengths:
        raise ProblemError("solve_many: nothing has a row for each problem, expected a parameter or a guess that does; "
                           "use solve for one problem")  # fmt: skip
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise ProblemError(f"solve_many: the numbers of problems differ: {counts}; expected one number for all")
    return next(iter(lengths.values()))


def _stacked_parameters(layout: Layout, parameters: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Those that have a row for each problem."""
    found = {}
    for phase in layout.phases:
        for variable in phase.parameters:
            if variable.name in parameters and not isinstance(parameters[variable.name], Mapping):
                value = _array(variable.name, parameters[variable.name])
                stages = (phase.steps + 1,) if variable.per_stage else ()
                if variable.name == phase.lengths and value.ndim > 1 and value.shape[1] == phase.steps > 1:
                    value = np.concatenate([value, value[:, -1:]], axis=1)  # one a step
                stacked = _stacked(variable, value, stages)
                if stacked is not None:
                    found[variable.name] = stacked
                    if variable.name == phase.lengths:
                        _expect_lengths(variable.name, stacked)
    return found


def _stacked(variable: VariableLayout, value: np.ndarray, stages: tuple[int, ...]) -> np.ndarray | None:
    """A parameter's value as (problems, ..., size), None where it is one for all problems."""
    shape = (*stages, variable.size)
    if value.ndim == len(shape) and variable.size == 1 and value.shape[1:] == stages and value.size > 1:
        value = value[..., None]
    if value.ndim <= len(shape):
        return None
    if value.shape[1:] != shape or not len(value):
        expected = ", ".join(["problems", *map(str, shape)])
        raise ProblemError(f"solve_many: '{variable.name}' has shape {value.shape}, expected ({expected})")
    _expect_finite(variable.name, value)
    return value


def _stacked_guess(guess: Mapping[str, Any]) -> dict[str, np.ndarray]:
    found = {}
    for name, value in guess.items():
        if not isinstance(value, Mapping):
            array = _array(name, value)
            if array.ndim == 3:
                if not len(array):
                    raise ProblemError(f"solve_many: '{name}' has shape {array.shape}, expected at least one problem")
                _expect_finite(name, array)
                found[name] = array
    return found


def _array(name: str, value: Any) -> np.ndarray:
    try:
        return floats(value)
    except TypeError:
        lengths = [len(row) if isinstance(row, Sequence) else 1 for row in value] if isinstance(value, Sequence) else []
        other = next((i for i, length in enumerate(lengths) if length != lengths[0]), None)
        ragged = "" if other is None else f" whose row {other} has {lengths[other]} entries, row 0 {lengths[0]}"
        raise ProblemError(f"solve_many: '{name}' is a {type(value).__name__}{ragged}, expected numbers") from None


def _expect_finite(name: str, value: np.ndarray) -> None:
    wrong = np.flatnonzero(~np.isfinite(value.reshape(len(value), -1)).all(axis=1))
    if len(wrong):
        more = f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        raise ProblemError(f"solve_many: '{name}' of problem {wrong[0]}{more} has an entry that is not finite")


def _expect_lengths(name: str, value: np.ndarray) -> None:
    wrong = np.flatnonzero(~(value.reshape(len(value), -1) > 0).all(axis=1))
    if len(wrong):
        raise ProblemError(
            f"solve_many: '{name}' of problem {wrong[0]} is {value[wrong[0]].min():g} at one of its steps, expected "
            "positive lengths"
        )


def _put(layout: Layout, name: str, value: np.ndarray, shared: np.ndarray, stage_parameters: np.ndarray) -> None:
    for phase in layout.phases:
        at_shared, at_stage = phase.at_shared, 0
        for variable in phase.parameters:
            if variable.per_stage:
                if variable.name == name:
                    places = phase.stage_rows(np.arange(layout.size_stage))[:, at_stage : at_stage + variable.size]
                    stage_parameters[:, places] = value
                at_stage += variable.size
            else:
                if variable.name == name:
                    shared[:, at_shared : at_shared + variable.size] = value
                at_shared += variable.size


def _guessed(
    inputs: Inputs,
    count: int,
    guess: Mapping[str, Any] | None,
    trajectories: Mapping[str, np.ndarray],
    stage_parameters: np.ndarray,
) -> np.ndarray:
    if not trajectories:
        anchored, anchors = stage_parameters[0].copy(), _anchor_places(inputs.layout)
        z = inputs.guess(guess, anchored)
        stage_parameters[:, anchors] = anchored[anchors]
        return z[None, :]
    rows = []
    for i in range(count):
        own = {**(guess or {}), **{name: value[i] for name, value in trajectories.items()}}
        rows.append(inputs.guess(own, stage_parameters[i]))
    return np.array(rows)


def _anchor_places(layout: Layout) -> np.ndarray:
    """Where among the stage parameters the anchors of states on manifolds stand."""
    places = np.arange(layout.size_stage)
    return np.concatenate([phase.stage_rows(places)[:, phase.at_anchors :].ravel() for phase in layout.phases])


def _points(layout: Layout, word: str, given: object) -> list[WarmStart]:
    """Solutions to start from: one for all problems, or one each."""
    if given is None or isinstance(given, Mapping):
        return []
    each = [given] if isinstance(given, (Solution, WarmStart)) else given
    if not isinstance(each, Sequence) or not len(each):
        raise ProblemError(f"solve_many: {word} is a {type(given).__name__}, expected a Solution, or one a problem")
    starts = []
    for i, one in enumerate(each):
        start = one.warm_start if isinstance(one, Solution) else one
        if not isinstance(start, WarmStart) or start.layout != layout:
            raise ProblemError(f"solve_many: {word} {i} is not a Solution of this problem")
        starts.append(start)
    return starts


def _from_points(
    layout: Layout, stage_parameters: np.ndarray, starts: Sequence[WarmStart]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """z, y, w; the anchors go into the stage parameters."""
    anchors = _anchor_places(layout)
    stage_parameters[:, anchors] = np.array([start.point.stage_parameters[anchors] for start in starts])
    z, y, w = (np.array([getattr(start.point, name) for start in starts]) for name in "zyw")
    return z, y, w


def _stacked_start(inputs: Inputs, start: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Of the first values those that have a row for each problem."""
    found = {}
    for v in inputs.transcription.problem.started:
        if v.name in start:
            value = _array(v.name, start[v.name])
            if value.ndim == 1 and v.entries == 1 and value.size > 1:
                value = value[:, None]
            if value.ndim > 1:
                if value.ndim > 2 or value.shape[1] != v.entries or not len(value):
                    raise ProblemError(
                        f"solve_many: start of '{v.name}' has shape {value.shape}, expected (problems, {v.entries})"
                    )
                _expect_finite(f"start of {v.name}", value)
                found[v.name] = value
    return found


def _started(
    inputs: Inputs,
    start: Mapping[str, Any] | None,
    first: Mapping[str, np.ndarray],
    z: np.ndarray,
    stage_parameters: np.ndarray,
) -> np.ndarray:
    """z with the first values in it; their anchors go into the stage parameters."""
    given = {**start, **{name: value[0] for name, value in first.items()}} if isinstance(start, Mapping) else start
    started = inputs.transcription.problem.started
    z = np.tile(z, (len(stage_parameters), 1)) if started and len(z) == 1 else z
    one, own = z[0].copy(), stage_parameters[0].copy()
    try:
        inputs.start(given, one, own)  # what is the same for all, and every check of what was given
    except ProblemError as error:
        raise ProblemError(f"solve_many: problem 0: {str(error).removeprefix('solve: ')}") from None
    place = inputs.layout.phases[0]
    at, anchor = place.nu, place.stage_rows(np.arange(stage_parameters.shape[1]))[0, place.at_anchors :]
    for v in inputs.transcription.phases[0].states:
        coordinates, anchors = slice(at, at + v.size), anchor[: v.manifold.anchors]
        at, anchor = at + v.size, anchor[v.manifold.anchors :]
        if v in started:
            z[:, coordinates], stage_parameters[:, anchors] = one[coordinates], own[anchors]
        if v.name in first:
            _expect_units(v, first[v.name])
            z[:, coordinates], stage_parameters[:, anchors] = v.manifold.cut(first[v.name])
    return z


def _expect_units(state: State, values: np.ndarray) -> None:
    for begin, end in state.manifold.units:
        wrong = np.flatnonzero(~(np.linalg.norm(values[:, begin:end], axis=1) > 1e-6))
        if len(wrong):
            kind = "quaternion" if end - begin == 4 else "pair"
            raise ProblemError(f"solve_many: problem {wrong[0]}: '{state.name}' has zeros at entries {begin} to "
                               f"{end - 1}, expected a unit {kind}")  # fmt: skip
