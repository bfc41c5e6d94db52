"""One phase of a solution: its trajectories, times, constraints and feedback."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..solve.kkt import Measured, Point
from ..stages.layout import Layout, Span


@dataclass(frozen=True, eq=False)
class ConstraintValues:
    """A constraint along the motion: `stages` (n,) it stands on, and (n, rows): values, limits, multipliers.

    An equality's value is what is left of it, with limits 0. A multiplier is positive where a row presses on its upper
    limit, negative on its lower one.
    """

    stages: np.ndarray
    values: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    multipliers: np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class Motion:
    """A phase of a solution. States (stages, size) and controls (steps, size) are attributes by their names.

    gains: (steps, nu, nx), the feedback u = u* + gains (x - x*) about the motion; controls, states in the order stated,
    a configuration's difference in its velocities' coordinates. begin: the time of the first stage, in s.
    """

    layout: Layout
    index: int
    point: Point
    measured: Measured
    gains: np.ndarray
    begin: float = 0.0

    @property
    def span(self) -> Span:
        return self.layout.phases[self.index]

    @property
    def name(self) -> str:
        return self.span.name

    @cached_property
    def trajectories(self) -> dict[str, np.ndarray]:
        """Every state (stages, size) and control (steps, size) by name."""
        return self.span.trajectories(self.point.z, self.point.of_stages)

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.trajectories:
            raise KeyError(f"'{self.name}' has no '{name}'; its trajectories are {', '.join(self.trajectories)}")
        return self.trajectories[name]

    def __getattr__(self, name: str) -> np.ndarray:
        # Only names the class does not have come here; a copy in the making has no fields to look in.
        if not name.startswith("_") and "point" in self.__dict__ and name in self.trajectories:
            return self.trajectories[name]
        known = f"; its trajectories are {', '.join(self.trajectories)}" if "point" in self.__dict__ else ""
        raise AttributeError(f"a Motion has no '{name}'{known}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.trajectories]

    def __repr__(self) -> str:
        return f"<Motion '{self.name}': {self.span.steps} steps of {', '.join(self.trajectories)}>"

    @cached_property
    def times(self) -> np.ndarray:
        """The time of every stage (stages,), in s; the number of the stage where no step was stated."""
        span = self.span
        step = self.trajectories["duration"][0, 0] / span.steps if span.free_duration else span.step
        return self.begin + np.arange(span.steps + 1) * (1.0 if step is None else step)

    @property
    def duration(self) -> float:
        """From the first stage to the last, in s."""
        return float(self.times[-1] - self.times[0])

    @cached_property
    def constraints(self) -> dict[str, ConstraintValues]:
        """Every constraint by name; those that make the states follow each other are "dynamics of q" and so on."""
        names = dict.fromkeys(piece.name for piece in self.layout.pieces if piece.phase == self.index)
        return {name: self._constraint(name) for name in names}

    @property
    def multipliers(self) -> dict[str, np.ndarray]:
        """Of every constraint by name: (stages of the constraint, rows)."""
        return {name: constraint.multipliers for name, constraint in self.constraints.items()}

    @cached_property
    def limits(self) -> dict[str, ConstraintValues]:
        """The limits of every state and control by its name, seen as a constraint on its coordinates."""
        layout, span = self.layout, self.span
        vectors = (self.point.z, layout.along_z("lower"), layout.along_z("upper"), self.point.w)
        parts = [span.coordinates(vector) for vector in vectors]
        return {
            name: ConstraintValues(np.arange(len(parts[0][name])), *(part[name] for part in parts)) for name in parts[0]
        }

    @cached_property
    def parameters(self) -> dict[str, np.ndarray]:
        """The values the problem was solved for, by name."""
        return self.span.parameters_by_name(self.point.parameters, self.point.of_stages)

    def _constraint(self, name: str) -> ConstraintValues:
        pieces = [piece for piece in self.layout.pieces if piece.name == name and piece.phase == self.index]
        stages = sorted({stage for piece in pieces for stage in range(*piece.stages)})
        shape = len(stages), 1 + max(row for piece in pieces for row in piece.rows)
        found = ConstraintValues(np.array(stages), *(np.zeros(shape) for _ in range(4)))
        for piece in pieces:
            where = np.ix_([stages.index(stage) for stage in range(*piece.stages)], piece.rows)
            found.values[where] = self.measured.rows[piece.places]
            found.lower[where], found.upper[where] = piece.lower, piece.upper
            found.multipliers[where] = self.point.y[piece.places]
        return found
