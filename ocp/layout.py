"""What stands where in the vectors of a solve.

    z   (u, x) of all stages in a row, the last stage without u
    y   a multiplier a row: dynamics F(u, x) - x_next of all steps, equalities, then inequalities of all stages

Plain data: it outlives the solver, and goes to a file with the solution.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .transcription import Block, Transcription


@dataclass(frozen=True)
class Column:
    """A state, control or parameter: name, size, and its limits where it has some."""

    name: str
    size: int
    lower: tuple[float, ...] = ()
    upper: tuple[float, ...] = ()
    per_stage: bool = False


@dataclass(frozen=True)
class Piece:
    """Rows of one constraint on a run of stages; `at` is where those of each stage start in y.

    rows: their indices in the constraint as it was stated.
    """

    name: str
    kind: str
    stages: tuple[int, int]
    rows: tuple[int, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    at: tuple[int, ...]

    @property
    def places(self) -> np.ndarray:
        """(stages, rows): indices into y."""
        return np.array(self.at)[:, None] + np.arange(len(self.rows))


@dataclass(frozen=True)
class Layout:
    """Steps, the length of one in s (None: free, or not stated); variables, parameters, constraints in their order."""

    steps: int
    step: float | None
    states: tuple[Column, ...]
    controls: tuple[Column, ...]
    parameters: tuple[Column, ...]
    pieces: tuple[Piece, ...]
    free_duration: bool = False

    @cached_property
    def nu(self) -> int:
        return sum(column.size for column in self.controls)

    @cached_property
    def nx(self) -> int:
        return sum(column.size for column in self.states)

    @cached_property
    def size_z(self) -> int:
        return self.steps * (self.nu + self.nx) + self.nx

    @cached_property
    def size_y(self) -> int:
        return sum(piece.places.size for piece in self.pieces)

    def cut(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """u (steps, nu) and x (stages, nx) of a vector along z."""
        body = z[: -self.nx].reshape(self.steps, self.nu + self.nx)
        return body[:, : self.nu], np.vstack([body[:, self.nu :], z[-self.nx :]])

    def by_name(self, z: np.ndarray) -> dict[str, np.ndarray]:
        """Every state (stages, size) and control (steps, size) of a vector along z."""
        u, x = self.cut(z)
        return {**_split(x, self.states), **_split(u, self.controls)}

    def parameters_by_name(self, shared: np.ndarray, of_stages: np.ndarray) -> dict[str, np.ndarray]:
        """Every parameter: (size,), or (stages, size) where each stage has its own."""
        own = [column for column in self.parameters if column.per_stage]
        common = [column for column in self.parameters if not column.per_stage]
        one = {name: rows[0] for name, rows in _split(shared[None], tuple(common)).items()}
        return {**one, **_split(of_stages, tuple(own))}

    def along_z(self, side: str) -> np.ndarray:
        """The variables' "lower" or "upper" limits in the order of z."""
        state = np.concatenate([getattr(column, side) for column in self.states])
        control = np.concatenate([np.zeros(0), *(getattr(column, side) for column in self.controls)])
        return np.concatenate([np.tile(np.concatenate([control, state]), self.steps), state])

    def along_y(self, side: str) -> np.ndarray:
        """The constraints' "lower" or "upper" limits in the order of y."""
        limits = np.zeros(self.size_y)
        for piece in self.pieces:
            limits[piece.places] = getattr(piece, side)
        return limits

    def kind(self, kind: str) -> slice:
        """Where the rows of "dynamics", "equality" or "inequality" stand in y."""
        sizes = {name: sum(p.places.size for p in self.pieces if p.kind == name) for name in KINDS}
        first = sum(sizes[name] for name in KINDS[: KINDS.index(kind)])
        return slice(first, first + sizes[kind])

    def constraint_names(self) -> Iterator[str]:
        yield from dict.fromkeys(piece.name for piece in self.pieces)


KINDS = ("dynamics", "equality", "inequality")


def _split(rows: np.ndarray, columns: tuple[Column, ...]) -> dict[str, np.ndarray]:
    ends = np.cumsum([column.size for column in columns])
    return {column.name: rows[:, end - column.size : end] for column, end in zip(columns, ends)}


def dynamics_name(state: str) -> str:
    """What the rows of a state's dynamics are called."""
    return f"dynamics of {state}"


def layout_of(transcription: Transcription) -> Layout:
    """The layout of a transcribed problem."""
    problem = transcription.problem
    columns = {
        kind: tuple(
            Column(v.name, v.size, tuple(v.lower.tolist()), tuple(v.upper.tolist()), v.per_stage)
            for v in getattr(problem, kind)
        )
        for kind in ("states", "controls", "parameters")
    }
    free = bool(problem.states) and problem.states[0].name == "duration" and "duration" in problem.dynamics
    step = None if free or (problem.step is None and problem.duration is None) else float(problem.time_step)
    return Layout(problem.steps, step, **columns, pieces=tuple(_pieces(transcription)), free_duration=free)


def block_places(transcription: Transcription, block: Block) -> np.ndarray:
    """(stages, rows without the objective): where the rows of a block stand in y."""
    nx = transcription.x.numel()
    stages = np.array(block.stages)[:, None]
    parts = []
    if block.next is not None:
        parts.append(stages * nx + np.arange(nx))
    first = transcription.problem.steps * nx
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
        stages = (block.stages[0], block.stages[-1] + 1)
        column = 0
        rows: list[tuple[str, str, int, tuple, np.ndarray, np.ndarray]] = []
        if block.next is not None:
            for state in transcription.problem.states:
                zero = np.zeros(state.size)
                rows.append((dynamics_name(state.name), "dynamics", state.size, tuple(range(state.size)), zero, zero))
        for term in [*block.equalities, *block.inequalities]:
            size = term.expression.numel()
            zero = np.zeros(size)
            low, high = (zero, zero) if term.kind == "equality" else (term.lower, term.upper)
            rows.append((term.name, term.kind, size, term.rows or tuple(range(size)), low, high))
        for name, kind, size, indices, low, high in rows:
            at = tuple(places[:, column].tolist())
            yield Piece(name, kind, stages, indices, tuple(low.tolist()), tuple(high.tolist()), at)
            column += size
