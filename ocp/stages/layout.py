"""What stands where in the vectors of a solve.

    z                  (u, x) of all stages in a row; the last stage of a phase has what is chosen for those that
                       follow as u
    y                  a multiplier a row: F(u, x) - x of the next stage, in the order of those; equalities;
                       inequalities
    shared_parameters  what all stages of a phase share, phase by phase
    stage_parameters   what every stage has of its own: parameters, then the anchors of states on manifolds

Plain data: it outlives the solver, and goes to a file with the solution.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from ...cached import cached_property
from ..statement.costs_and_constraints.terms import CONSTRAINTS, Kind
from ..statement.manifold import Manifold
from ..statement.problem import Problem
from ..statement.variables import Control, Parameter, State
from .stages import Block, Phase
from .transcription import Transcription


@dataclass(frozen=True)
class VariableLayout:
    """A state, control or parameter: name, number of entries, the places of its unit groups, and what its coordinates
    are called, if they have names.
    """

    name: str
    size: int
    per_stage: bool = False
    units: tuple[tuple[int, int], ...] = ()
    names: tuple[str, ...] = ()

    @cached_property
    def manifold(self) -> Manifold:
        return Manifold(self.size, self.units)


@dataclass(frozen=True)
class PhaseLayout:
    """A phase: its name, steps, the length of one in s (None: free, or not stated), its variables in their order.

    first: its first stage. parent: the phase before it, -1 for the first. chosen: the size of what is chosen at its
    last stage. at_z, at_shared, at_stage: where its part starts in z, in the shared and in the stage parameters.
    free_duration: whether the first of its states is its duration. lengths: the parameter that has those of the steps,
    if one has.
    """

    name: str
    steps: int
    step: float | None
    states: tuple[VariableLayout, ...]
    controls: tuple[VariableLayout, ...]
    parameters: tuple[VariableLayout, ...]
    first: int
    parent: int
    chosen: int
    at_z: int
    at_shared: int
    at_stage: int
    free_duration: bool = False
    lengths: str = ""

    @cached_property
    def nu(self) -> int:
        return sum(v.size for v in self.controls)

    @cached_property
    def nx(self) -> int:
        return sum(v.manifold.dimension for v in self.states)

    @cached_property
    def shared(self) -> int:
        """The number of shared parameters."""
        return sum(v.size for v in self.parameters if not v.per_stage)

    @cached_property
    def at_anchors(self) -> int:
        """Where the anchors start among the parameters of a stage."""
        return sum(v.size for v in self.parameters if v.per_stage)

    @cached_property
    def stage_stride(self) -> int:
        """The number of parameters of a stage, anchors included."""
        return self.at_anchors + sum(v.manifold.anchors for v in self.states)

    @cached_property
    def size_z(self) -> int:
        return self.steps * (self.nu + self.nx) + self.chosen + self.nx

    @cached_property
    def variables(self) -> np.ndarray:
        """Of every entry of this phase's part of z the variable it is a value of: controls, coordinates, chosen."""
        u, x = np.arange(self.nu), self.nu + np.arange(self.nx)
        chosen = self.nu + self.nx + np.arange(self.chosen)
        return np.concatenate([np.tile(np.concatenate([u, x]), self.steps), chosen, x])

    @cached_property
    def turns(self) -> list[int]:
        """Those of them that are increments of angles."""
        found, at = [], self.nu
        for state in self.states:
            plain = state.manifold.plain_coordinates
            found += [at + i for i in range(state.manifold.dimension) if i not in plain]
            at += state.manifold.dimension
        return found

    @cached_property
    def durations(self) -> list[int]:
        """Those of them that are seconds."""
        return [self.nu] if self.free_duration else []

    def cut(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """u (steps, nu) and coordinates x (stages, nx) of a vector along z."""
        here, end = z[self.at_z : self.at_z + self.size_z], self.steps * (self.nu + self.nx)
        body = here[:end].reshape(self.steps, self.nu + self.nx)
        return body[:, : self.nu], np.vstack([body[:, self.nu :], here[end + self.chosen :]])

    def joined(self, u: np.ndarray, x: np.ndarray, chosen: float = 0.0) -> np.ndarray:
        """This phase's part of z, of u (steps, nu), x (stages, nx) and one number for all that is chosen."""
        return np.concatenate([np.hstack([u, x[:-1]]).ravel(), np.full(self.chosen, chosen), x[-1]])

    def coordinates(self, z: np.ndarray) -> dict[str, np.ndarray]:
        """Every state (stages, coordinates) and control (steps, size) of a vector along z."""
        u, x = self.cut(z)
        sizes = [v.manifold.dimension for v in self.states]
        return {**_split(x, self.states, sizes), **_split(u, self.controls)}

    def trajectories(self, z: np.ndarray, stage_parameters: np.ndarray) -> dict[str, np.ndarray]:
        """Every state (stages, size) and control (steps, size)."""
        found, at = self.coordinates(z), self.at_anchors
        for v in self.states:
            anchors = self.stage_rows(stage_parameters)[:, at : at + v.manifold.anchors]
            found[v.name] = v.manifold.joined(found[v.name], anchors)
            at += v.manifold.anchors
        return found

    def stage_rows(self, stage_parameters: np.ndarray) -> np.ndarray:
        """This phase's part of the stage parameters (stages, stage_stride)."""
        rows, width = self.steps + 1, self.stage_stride
        return stage_parameters[self.at_stage : self.at_stage + rows * width].reshape(rows, width)

    def step_lengths(self, stage_parameters: np.ndarray) -> np.ndarray | None:
        """Of every step, in s, where a parameter has them."""
        if not self.lengths:
            return None
        own = tuple(v for v in self.parameters if v.per_stage)
        return _split(self.stage_rows(stage_parameters), own)[self.lengths][:-1, 0]

    def parameters_by_name(self, shared: np.ndarray, stage_parameters: np.ndarray) -> dict[str, np.ndarray]:
        """Every parameter: (size,), or (stages, size) where each stage has its own."""
        here = shared[None, self.at_shared : self.at_shared + self.shared]
        common = _split(here, tuple(v for v in self.parameters if not v.per_stage))
        per_stage = _split(self.stage_rows(stage_parameters), tuple(v for v in self.parameters if v.per_stage))
        return {**{name: rows[0] for name, rows in common.items()}, **per_stage}


@dataclass(frozen=True)
class ConstraintRows:
    """Rows of one constraint on a run of stages; `at` is where those of each stage start in y.

    phase, stages: the phase, and the run counted in it. rows: their indices in the constraint as it was stated; names:
    what they are called, if they have names.
    """

    name: str
    kind: Kind
    phase: int
    stages: tuple[int, int]
    rows: tuple[int, ...]
    at: tuple[int, ...]
    names: tuple[str, ...] = ()

    @cached_property
    def places(self) -> np.ndarray:
        """(stages, rows): indices into y."""
        return np.array(self.at)[:, None] + np.arange(len(self.rows))


@dataclass(frozen=True)
class Layout:
    """The phases, and the constraints in their order."""

    phases: tuple[PhaseLayout, ...]
    constraints: tuple[ConstraintRows, ...]

    @cached_property
    def shifts(self) -> dict[int, Any]:
        """Places of motions moved on by so many steps, as they are found (`ocp/solve/warm_start.py`)."""
        return {}

    @cached_property
    def size_z(self) -> int:
        return sum(phase.size_z for phase in self.phases)

    @cached_property
    def variables(self) -> np.ndarray:
        """Of every entry of z the variable that it is a value of, counted from 0 over all phases."""
        return np.concatenate([first + phase.variables for first, phase in zip(self._first_variables, self.phases)])

    @cached_property
    def turns(self) -> list[int]:
        """The variables that are increments of angles."""
        return [first + i for first, phase in zip(self._first_variables, self.phases) for i in phase.turns]

    @cached_property
    def durations(self) -> list[int]:
        """The variables that are seconds."""
        return [first + i for first, phase in zip(self._first_variables, self.phases) for i in phase.durations]

    @property
    def _first_variables(self) -> list[int]:
        sizes = [phase.nu + phase.nx + phase.chosen for phase in self.phases]
        return np.cumsum([0, *sizes[:-1]]).tolist()

    @cached_property
    def size_y(self) -> int:
        return sum(rows.places.size for rows in self.constraints)

    @cached_property
    def size_shared(self) -> int:
        """The number of shared parameters of all phases."""
        return sum(phase.shared for phase in self.phases)

    @cached_property
    def size_stage(self) -> int:
        """The number of stage parameters of all stages."""
        return sum((phase.steps + 1) * phase.stage_stride for phase in self.phases)

    def kind(self, kind: Kind) -> slice:
        """Where the rows of a kind stand in y."""
        return self._kinds[kind]

    @property
    def limited(self) -> slice:
        """Where the rows with limits stand in y."""
        return self._kinds[Kind.INEQUALITY]

    @cached_property
    def _kinds(self) -> dict[Kind, slice]:
        sizes = [sum(rows.places.size for rows in self.constraints if rows.kind is kind) for kind in CONSTRAINTS]
        ends = np.cumsum(sizes).tolist()
        return {kind: slice(end - size, end) for kind, size, end in zip(CONSTRAINTS, sizes, ends)}


def _split(
    rows: np.ndarray, variables: tuple[VariableLayout, ...], sizes: list[int] | None = None
) -> dict[str, np.ndarray]:
    sizes = [v.size for v in variables] if sizes is None else sizes
    ends = np.cumsum(sizes).tolist()
    return {v.name: rows[:, end - size : end] for v, size, end in zip(variables, sizes, ends)}


def dynamics_name(state: str) -> str:
    """What the rows of a state's dynamics are called."""
    return f"dynamics of {state}"


def entry_name(phase: str, state: str) -> str:
    """What the rows that lead to a state of another phase are called."""
    return f"entry into '{phase}': {state}"


def layout_of(transcription: Transcription) -> Layout:
    """The layout of a transcribed problem."""
    phases: list[PhaseLayout] = []
    for phase in transcription.phases:
        phases.append(_phase_layout(phase, phases[-1] if phases else None))
    rows = chain.from_iterable(_constraint_rows(transcription, block) for block in transcription.blocks)
    return Layout(tuple(phases), tuple(rows))


def _phase_layout(phase: Phase, before: PhaseLayout | None) -> PhaseLayout:
    problem = phase.problem
    return PhaseLayout(
        name=problem.name,
        steps=problem.steps,
        step=_common_step(problem),
        states=tuple(map(_variable_layout, phase.states)),
        controls=tuple(map(_variable_layout, problem.controls)),
        parameters=tuple(map(_variable_layout, problem.parameters)),
        first=phase.first,
        parent=phase.parent,
        chosen=phase.chosen.numel(),
        at_z=before.at_z + before.size_z if before else 0,
        at_shared=before.at_shared + before.shared if before else 0,
        at_stage=before.at_stage + (before.steps + 1) * before.stage_stride if before else 0,
        free_duration=problem.free_duration is not None,
        lengths=problem.lengths.name if problem.lengths is not None else "",
    )


def _common_step(problem: Problem) -> float | None:
    """The length of all steps, where that is a number."""
    unknown = problem.free_duration is not None or problem.lengths is not None
    if unknown or (problem.step is None and problem.duration is None):
        return None
    return float(problem.time_step)


def _variable_layout(v: State | Control | Parameter) -> VariableLayout:
    units = v.manifold.units if isinstance(v, State) else ()
    names = () if isinstance(v, Parameter) else v.names
    return VariableLayout(v.name, v.entries, isinstance(v, Parameter) and v.per_stage, units, names)


def block_places(transcription: Transcription, block: Block) -> np.ndarray:
    """(stages, rows without the objective): where the rows of a block stand in y."""
    stages = np.array(block.stages)[:, None]
    parts = []
    if block.entering is not None:
        children = stages - block.stages[0] + block.child
        parts.append(transcription.at_dynamics[children] + np.arange(block.count(Kind.DYNAMICS)))
    first = int(transcription.at_dynamics[-1])
    for kind, at in ((Kind.EQUALITY, block.at_equality), (Kind.INEQUALITY, block.at_inequality)):
        counts = transcription.count(kind)
        starts = first + np.concatenate([[0], np.cumsum(counts)])
        parts.append(starts[stages] + at + np.arange(block.count(kind)))
        first += sum(counts)
    return np.hstack(parts)


def _constraint_rows(transcription: Transcription, block: Block) -> Iterator[ConstraintRows]:
    places = block_places(transcription, block)
    phase = transcription.phases.index(block.phase)
    stages = (block.stages[0] - block.phase.first, block.stages[-1] + 1 - block.phase.first)
    states = block.entering.states if block.entering is not None else ()
    stated = [
        (name, Kind.DYNAMICS, tuple(range(size)), state.names)
        for (name, size), state in zip(dynamics_rows(block), states)
    ]
    stated += [
        (term.name, term.kind, term.stated_rows, term.names) for term in block.constraints if not term.kind.leads_on
    ]
    column = 0
    for name, kind, rows, names in stated:
        yield ConstraintRows(name, kind, phase, stages, rows, tuple(places[:, column].tolist()), names)
        column += len(rows)


def dynamics_rows(block: Block) -> Iterator[tuple[str, int]]:
    """The names and sizes of the rows that lead to a block's next stages, state by state."""
    if block.entering is None:
        return
    for state in block.entering.states:
        inside = block.entering is block.phase
        name = dynamics_name(state.name) if inside else entry_name(block.entering.problem.name, state.name)
        yield name, state.size
