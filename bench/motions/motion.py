"""A motion to be found, and the ten guesses that it is to be found from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import trisweep as ts
from numpy.typing import ArrayLike
from trisweep.problems.ready import Task

NEAR, FAR, DRAWS = 0.02, 0.2, 3  # sizes of random steps, as shares of half a variable's range; how many of each


@dataclass(frozen=True, eq=False)
class Part:
    """A phase: states at its two ends by their names (zero where they are left out), and controls that hold it."""

    problem: ts.Problem
    first: Mapping[str, ArrayLike]
    last: Mapping[str, ArrayLike]
    holding: Mapping[str, ArrayLike] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Motion:
    """Phases one after another, and values for their parameters."""

    parts: tuple[Part, ...]
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def problem(self) -> ts.Problem:
        """The first phase, which the others follow."""
        return self.parts[0].problem

    def guesses(self) -> dict[str, dict[str, Any]]:
        """By what they are: standing at the start, evenly to the end, with and without torques, random ones about."""
        made = {
            "standing": self._guess(0.0, True),
            "standing, no torque": self._guess(0.0, False),
            "line": self._guess(1.0, True),
            "line, no torque": self._guess(1.0, False),
        }
        for size, share in (("near", NEAR), ("far", FAR)):
            for seed in range(DRAWS):
                made[f"{size} {seed + 1}"] = self._guess(1.0, True, share, np.random.default_rng(seed))
        return made

    def _guess(
        self, way: float, torque: bool, share: float = 0.0, random: np.random.Generator | None = None
    ) -> dict[str, Any]:
        """way: how much of it is gone at the end."""
        found = {}
        for part in self.parts:
            found[part.problem.name] = values = {}
            for state in part.problem.states:
                values[state.name] = _states(state, part, way, share, random)
            for control in part.problem.controls:
                held = np.asarray(part.holding.get(control.name, 0.0), float) if torque else 0.0
                rows = np.broadcast_to(held, (part.problem.steps, control.size))
                values[control.name] = rows + _noise(rows, control.limits, share, random)
        return found if len(self.parts) > 1 else found[self.parts[0].problem.name]


def _states(state: Any, part: Part, way: float, share: float, random: np.random.Generator | None) -> np.ndarray:
    times = way * np.linspace(0, 1, part.problem.steps + 1)
    robot, zero = state.on, np.zeros(state.size)
    first, last = (np.asarray(end.get(state.name, zero), float) for end in (part.first, part.last))
    first, last = np.broadcast_to(first, state.entries), np.broadcast_to(last, state.entries)
    if robot is None:
        rows = first + times[:, None] * (last - first)
        return rows + _noise(rows, state.limits, share, random)
    step = robot.difference(first, last)
    rows = np.array([robot.integrate(first, time * step) for time in times])
    moves = _noise(np.zeros((len(rows), state.size)), state.limits, share, random)
    return np.array([robot.integrate(row, move) for row, move in zip(rows, moves)])


def _noise(rows: np.ndarray, limits: Any, share: float, random: np.random.Generator | None) -> np.ndarray:
    """Normal steps; where a variable has no range, of the size of its largest value, at least 1."""
    if random is None:
        return np.zeros(rows.shape)
    lower, upper = limits.numbers
    half = (upper - lower) / 2
    size = np.where(np.isfinite(half), half, max(1.0, float(np.abs(rows).max(initial=0.0))))
    return share * size * random.standard_normal(rows.shape)


def of_task(task: Task) -> Motion:
    """A ready problem: the ends of its own guess are the ends of the motion."""
    states = {state.name: state.entries for state in task.problem.states}
    ends: list[dict[str, ArrayLike]] = [{}, {}]
    holding = {}
    for name, value in task.guess.items():
        if name not in states:
            holding[name] = value
            continue
        rows = np.asarray(value, float)
        rows = rows.reshape(-1, states[name]) if rows.size > states[name] else rows[None]
        for end, at in zip(ends, (0, -1)):
            end[name] = rows[at]
    return Motion((Part(task.problem, *ends, holding),), task.parameters)
