"""One phase of a solution: its trajectories, times, constraints and feedback."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...cached import cached_property
from ..judge.residual import Measured, Point
from ..stages.layout import Layout, PhaseLayout
from ..stages.limit_vectors import LimitVectors

PUSH = 1e-6  # a multiplier above this share of the largest, and of 1, is one of a limit at work


@dataclass(frozen=True, eq=False, repr=False)
class ConstraintValues:
    """A constraint along the motion: `stages` (n,) it stands on, and (n, rows): values, limits, multipliers.

    An equality has the number that it was to equal as both limits; where that is an expression of states or controls,
    its value is what is left, with limits 0. A multiplier is positive where a row presses on its upper limit, negative
    on its lower one. linear, quadratic: the prices of soft limits; infinite and 0 where they are hard.
    """

    stages: np.ndarray
    values: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    multipliers: np.ndarray
    linear: np.ndarray
    quadratic: np.ndarray

    def __str__(self) -> str:
        """The least and the largest value of each row, where, and where its limits are at work."""
        lines = []
        for row, (values, forces) in enumerate(zip(self.values.T, self.multipliers.T)):
            least, most = self.stages[[values.argmin(), values.argmax()]]
            pushed = self.stages[np.abs(forces) > PUSH * max(1.0, np.abs(forces).max())]
            work = f"{len(pushed)} from stage {pushed[0]} to {pushed[-1]}" if len(pushed) else "none"
            span = f"{values.min():.4g} (stage {least}) to {values.max():.4g} (stage {most})"
            lines.append(f"row {row}: {span}, limits at work: {work}")
        return "\n".join(lines)

    @property
    def excess(self) -> np.ndarray:
        """What is beyond soft limits (n, rows)."""
        beyond = np.maximum(np.maximum(self.lower - self.values, self.values - self.upper), 0.0)
        return np.where(np.isfinite(self.linear), beyond, 0.0)

    @property
    def price(self) -> np.ndarray:
        """What the excess costs (n, rows), a part of the objective."""
        linear = np.where(np.isfinite(self.linear), self.linear, 0.0)
        return (linear + 0.5 * self.quadratic * self.excess) * self.excess


@dataclass(frozen=True, eq=False, repr=False)
class PhaseSolution:
    """A phase of a solution. States (stages, size) and controls (steps, size) are attributes by their names.

    gains: (steps, nu, nx), the feedback u = u* + gains (x - x*) about the motion; controls, states in the order stated,
    a configuration's difference in its velocities' coordinates. begin: the time of the first stage, in s.
    """

    layout: Layout
    index: int
    limit_vectors: LimitVectors
    point: Point
    measured: Measured
    gains: np.ndarray
    begin: float = 0.0

    @property
    def phase(self) -> PhaseLayout:
        return self.layout.phases[self.index]

    @property
    def name(self) -> str:
        return self.phase.name

    @cached_property
    def trajectories(self) -> dict[str, np.ndarray]:
        """Every state (stages, size) and control (steps, size) by name."""
        return self.phase.trajectories(self.point.z, self.point.stage_parameters)

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.trajectories:
            raise KeyError(f"'{self.name}' has no '{name}'; its trajectories are {', '.join(self.trajectories)}")
        return self.trajectories[name]

    def __getattr__(self, name: str) -> np.ndarray:
        # Only names the class does not have come here; a copy in the making has no fields to look in.
        if not name.startswith("_") and "point" in self.__dict__ and name in self.trajectories:
            return self.trajectories[name]
        known = f"; its trajectories are {', '.join(self.trajectories)}" if "point" in self.__dict__ else ""
        raise AttributeError(f"a PhaseSolution has no '{name}'{known}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.trajectories]

    def __repr__(self) -> str:
        return f"<PhaseSolution '{self.name}': {self.phase.steps} steps of {', '.join(self.trajectories)}>"

    @cached_property
    def times(self) -> np.ndarray:
        """The time of every stage (stages,), in s; the number of the stage where no step was stated."""
        phase = self.phase
        lengths = phase.step_lengths(self.point.stage_parameters)
        if lengths is not None:
            return self.begin + np.concatenate([[0.0], np.cumsum(lengths)])
        step = phase.step
        if phase.free_duration:
            step = self.trajectories[phase.states[0].name][0, 0] / phase.steps
        return self.begin + np.arange(phase.steps + 1) * (1.0 if step is None else step)

    @property
    def duration(self) -> float:
        """From the first stage to the last, in s."""
        return float(self.times[-1] - self.times[0])

    @cached_property
    def constraints(self) -> dict[str, ConstraintValues]:
        """Every constraint by name; those that make the states follow each other are "dynamics of q" and so on."""
        names = dict.fromkeys(rows.name for rows in self.layout.constraints if rows.phase == self.index)
        return {name: self._constraint(name) for name in names}

    @property
    def multipliers(self) -> dict[str, np.ndarray]:
        """Of every constraint by name: (stages of the constraint, rows)."""
        return {name: constraint.multipliers for name, constraint in self.constraints.items()}

    @cached_property
    def limits(self) -> dict[str, ConstraintValues]:
        """The limits of every state and control by its name, seen as a constraint on its coordinates."""
        vectors = (self.point.z, self.limit_vectors.z_lower, self.limit_vectors.z_upper, self.point.w)
        parts = [self.phase.coordinates(vector) for vector in vectors]
        found = {}
        for name, values in parts[0].items():
            lower, upper, multipliers = (part[name] for part in parts[1:])
            hard, none = np.full(values.shape, np.inf), np.zeros(values.shape)
            found[name] = ConstraintValues(np.arange(len(values)), values, lower, upper, multipliers, hard, none)
        return found

    @cached_property
    def parameters(self) -> dict[str, np.ndarray]:
        """The values the problem was solved for, by name."""
        return self.phase.parameters_by_name(self.point.shared_parameters, self.point.stage_parameters)

    def _constraint(self, name: str) -> ConstraintValues:
        parts = [rows for rows in self.layout.constraints if rows.name == name and rows.phase == self.index]
        stages = sorted({stage for rows in parts for stage in range(*rows.stages)})
        shape = len(stages), 1 + max(row for rows in parts for row in rows.rows)
        found = ConstraintValues(np.array(stages), *(np.zeros(shape) for _ in range(6)))
        for rows in parts:
            where = np.ix_([stages.index(stage) for stage in range(*rows.stages)], rows.rows)
            target = self.limit_vectors.y_target[rows.places]
            found.values[where] = self.measured.rows[rows.places] + target
            found.lower[where] = self.limit_vectors.y_lower[rows.places] + target
            found.upper[where] = self.limit_vectors.y_upper[rows.places] + target
            found.multipliers[where] = self.point.y[rows.places]
            found.linear[where] = self.limit_vectors.y_price[rows.places]
            found.quadratic[where] = self.limit_vectors.y_growth[rows.places]
        return found
