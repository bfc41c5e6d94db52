"""What stands where in the vectors of a solve.

    z          (u, x) of all stages in a row; the last stage of a phase has what is chosen for those that follow as u
    y          a multiplier a row: F(u, x) - x of the next stage, in the order of those; equalities, then inequalities
    of_stages  what every stage has of its own: parameters, then the anchors of states on manifolds

Plain data: it outlives the solver, and goes to a file with the solution.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..statement.manifold import Manifold

if TYPE_CHECKING:
    from ..statement.variables import Variable
    from .stages import Block, Phase
from .transcription import Transcription


@dataclass(frozen=True)
class Column:
    """A state, control or parameter: name, number of entries, limits of its coordinates where it has some, and the
    places of its unit groups.
    """

    name: str
    size: int
    lower: tuple[float, ...] = ()
    upper: tuple[float, ...] = ()
    per_stage: bool = False
    units: tuple[tuple[int, int], ...] = ()

    @cached_property
    def manifold(self) -> Manifold:
        return Manifold(self.size, self.units)


@dataclass(frozen=True)
class Span:
    """A phase: its name, steps, the length of one in s (None: free, or not stated), its variables in their order.

    first: its first stage. parent: the phase before it, -1 for the first. chosen: the size of what is chosen at its
    last stage. at_z, at_shared, at_own: where its part starts in z, in the shared parameters and in of_stages.
    """

    name: str
    steps: int
    step: float | None
    states: tuple[Column, ...]
    controls: tuple[Column, ...]
    parameters: tuple[Column, ...]
    first: int
    parent: int
    chosen: int
    at_z: int
    at_shared: int
    at_own: int
    free_duration: bool = False

    @cached_property
    def nu(self) -> int:
        return sum(column.size for column in self.controls)

    @cached_property
    def nx(self) -> int:
        return sum(column.manifold.dimension for column in self.states)

    @cached_property
    def shared(self) -> int:
        return sum(column.size for column in self.parameters if not column.per_stage)

    @cached_property
    def own(self) -> int:
        """Entries of a stage in of_stages."""
        return sum(c.size for c in self.parameters if c.per_stage) + sum(c.manifold.anchors for c in self.states)

    @cached_property
    def size_z(self) -> int:
        return self.steps * (self.nu + self.nx) + self.chosen + self.nx

    def cut(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """u (steps, nu) and coordinates x (stages, nx) of a vector along z."""
        here, end = z[self.at_z : self.at_z + self.size_z], self.steps * (self.nu + self.nx)
        body = here[:end].reshape(self.steps, self.nu + self.nx)
        return body[:, : self.nu], np.vstack([body[:, self.nu :], here[end + self.chosen :]])

    def coordinates(self, z: np.ndarray) -> dict[str, np.ndarray]:
        """Every state (stages, coordinates) and control (steps, size) of a vector along z."""
        u, x = self.cut(z)
        sizes = [column.manifold.dimension for column in self.states]
        return {**_split(x, self.states, sizes), **_split(u, self.controls)}

    def trajectories(self, z: np.ndarray, of_stages: np.ndarray) -> dict[str, np.ndarray]:
        """Every state (stages, size) and control (steps, size)."""
        found, at = self.coordinates(z), sum(column.size for column in self.parameters if column.per_stage)
        for column in self.states:
            anchors = self.of_stages(of_stages)[:, at : at + column.manifold.anchors]
            found[column.name] = column.manifold.joined(found[column.name], anchors)
            at += column.manifold.anchors
        return found

    def of_stages(self, of_stages: np.ndarray) -> np.ndarray:
        """This phase's part of of_stages (stages, own)."""
        rows = self.steps + 1
        return of_stages[self.at_own : self.at_own + rows * self.own].reshape(rows, self.own)

    def parameters_by_name(self, shared: np.ndarray, of_stages: np.ndarray) -> dict[str, np.ndarray]:
        """Every parameter: (size,), or (stages, size) where each stage has its own."""
        own = [column for column in self.parameters if column.per_stage]
        common = [column for column in self.parameters if not column.per_stage]
        here = shared[None, self.at_shared : self.at_shared + self.shared]
        one = {name: rows[0] for name, rows in _split(here, tuple(common)).items()}
        return {**one, **_split(self.of_stages(of_stages), tuple(own))}

    def along_z(self, side: str) -> np.ndarray:
        """The variables' "lower" or "upper" limits in the order of z."""
        state = np.concatenate([getattr(column, side) for column in self.states])
        control = np.concatenate([np.zeros(0), *(getattr(column, side) for column in self.controls)])
        chosen = np.full(self.chosen, -np.inf if side == "lower" else np.inf)
        return np.concatenate([np.tile(np.concatenate([control, state]), self.steps), chosen, state])


@dataclass(frozen=True)
class Piece:
    """Rows of one constraint on a run of stages; `at` is where those of each stage start in y.

    phase, stages: the phase, and the run counted in it. rows: their indices in the constraint as it was stated.
    """

    name: str
    kind: str
    phase: int
    stages: tuple[int, int]
    rows: tuple[int, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    at: tuple[int, ...]

    @cached_property
    def places(self) -> np.ndarray:
        """(stages, rows): indices into y."""
        return np.array(self.at)[:, None] + np.arange(len(self.rows))


@dataclass(frozen=True)
class Layout:
    """The phases, and the constraints in their order."""

    phases: tuple[Span, ...]
    pieces: tuple[Piece, ...]

    @cached_property
    def size_z(self) -> int:
        return sum(phase.size_z for phase in self.phases)

    @cached_property
    def size_y(self) -> int:
        return sum(piece.places.size for piece in self.pieces)

    @cached_property
    def size_own(self) -> int:
        """The length of of_stages."""
        return sum((phase.steps + 1) * phase.own for phase in self.phases)

    def along_z(self, side: str) -> np.ndarray:
        """The variables' "lower" or "upper" limits in the order of z."""
        return np.concatenate([phase.along_z(side) for phase in self.phases])

    def along_y(self, side: str) -> np.ndarray:
        """The constraints' "lower" or "upper" limits in the order of y."""
        limits = np.zeros(self.size_y)
        for piece in self.pieces:
            limits[piece.places] = getattr(piece, side)
        return limits

    def kind(self, kind: str) -> slice:
        """Where the rows of "dynamics", "equality" or "inequality" stand in y."""
        return self._kinds[kind]

    @cached_property
    def _kinds(self) -> dict[str, slice]:
        sizes = [sum(piece.places.size for piece in self.pieces if piece.kind == kind) for kind in KINDS]
        ends = np.cumsum(sizes).tolist()
        return {kind: slice(end - size, end) for kind, size, end in zip(KINDS, sizes, ends)}


KINDS = ("dynamics", "equality", "inequality")


def _split(rows: np.ndarray, columns: tuple[Column, ...], sizes: list[int] | None = None) -> dict[str, np.ndarray]:
    sizes = [column.size for column in columns] if sizes is None else sizes
    ends = np.cumsum(sizes)
    return {column.name: rows[:, end - size : end] for column, size, end in zip(columns, sizes, ends)}


def dynamics_name(state: str) -> str:
    """What the rows of a state's dynamics are called."""
    return f"dynamics of {state}"


def entry_name(phase: str, state: str) -> str:
    """What the rows that lead to a state of another phase are called."""
    return f"entry into '{phase}': {state}"


def layout_of(transcription: Transcription) -> Layout:
    """The layout of a transcribed problem."""
    spans: list[Span] = []
    for phase in transcription.phases:
        before = spans[-1] if spans else None
        spans.append(_span(phase, before))
    return Layout(tuple(spans), tuple(_pieces(transcription)))


def _span(phase: Phase, before: Span | None) -> Span:
    problem, free = phase.problem, bool(phase.problem.held)
    return Span(
        name=problem.name,
        steps=problem.steps,
        step=None if free or (problem.step is None and problem.duration is None) else float(problem.time_step),
        **{kind: tuple(map(_described, getattr(problem, kind))) for kind in ("states", "controls", "parameters")},
        first=phase.first,
        parent=phase.parent,
        chosen=phase.chosen.numel(),
        at_z=before.at_z + before.size_z if before else 0,
        at_shared=before.at_shared + before.shared if before else 0,
        at_own=before.at_own + (before.steps + 1) * before.own if before else 0,
        free_duration=free,
    )


def _described(v: Variable) -> Column:
    limits = tuple(v.lower.tolist()), tuple(v.upper.tolist())
    return Column(v.name, v.manifold.size, *limits, v.per_stage, v.manifold.units)


def block_places(transcription: Transcription, block: Block) -> np.ndarray:
    """(stages, rows without the objective): where the rows of a block stand in y."""
    stages = np.array(block.stages)[:, None]
    parts = []
    if block.next is not None:
        children = stages - block.stages[0] + block.child
        parts.append(transcription.at_dynamics[children] + np.arange(block.next.numel()))
    first = int(transcription.at_dynamics[-1])
    for kind, at in (("equalities", block.at_equality), ("inequalities", block.at_inequality)):
        counts = transcription.count(kind)
        starts = first + np.concatenate([[0], np.cumsum(counts)])
        size = sum(term.expression.numel() for term in getattr(block, kind))
        parts.append(starts[stages] + at + np.arange(size))
        first += sum(counts)
    return np.hstack(parts)


def _pieces(transcription: Transcription) -> Iterator[Piece]:
    for block in transcription.blocks:
        places = block_places(transcription, block)
        phase = transcription.phases.index(block.phase)
        stages = (block.stages[0] - block.phase.first, block.stages[-1] + 1 - block.phase.first)
        column = 0
        rows: list[tuple[str, str, int, tuple, np.ndarray, np.ndarray]] = []
        for name, size in next_rows(block):
            zero = np.zeros(size)
            rows.append((name, "dynamics", size, tuple(range(size)), zero, zero))
        for term in [*block.equalities, *block.inequalities]:
            size = term.expression.numel()
            zero = np.zeros(size)
            low, high = (zero, zero) if term.kind == "equality" else (term.lower, term.upper)
            rows.append((term.name, term.kind, size, term.rows or tuple(range(size)), low, high))
        for name, kind, size, indices, low, high in rows:
            at = tuple(places[:, column].tolist())
            yield Piece(name, kind, phase, stages, indices, tuple(low.tolist()), tuple(high.tolist()), at)
            column += size


def next_rows(block: Block) -> Iterator[tuple[str, int]]:
    """The names and sizes of the rows that lead to a block's next stages, state by state."""
    if block.entering is None:
        return
    for state in block.entering.problem.states:
        inside = block.entering is block.phase
        name = dynamics_name(state.name) if inside else entry_name(block.entering.problem.name, state.name)
        yield name, state.size
