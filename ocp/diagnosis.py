"""What went wrong, by the names of the statement: constraints that do not hold, terms that are not finite."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..adjoint import solved
from .kkt import Point
from .layout import Layout, dynamics_name
from .transcription import Block, Transcription


@dataclass(frozen=True)
class Violation:
    """A row that does not hold: of which constraint ("limits of q" for those of a variable), where and by how much."""

    name: str
    stage: int
    row: int
    amount: float

    def __str__(self) -> str:
        return f"'{self.name}' row {self.row} at stage {self.stage} by {self.amount:.2g}"


@dataclass(frozen=True)
class Fault:
    """A term that is not finite: name, stage and row, and `what` is not: its "value", "gradient" or "curvature"."""

    name: str
    stage: int
    row: int
    what: str

    def __str__(self) -> str:
        what = "is" if self.what == "value" else f"has a {self.what} that is"
        return f"'{self.name}' row {self.row} at stage {self.stage} {what} not finite"


def violations(
    layout: Layout, outside_rows: np.ndarray, outside_bounds: np.ndarray, above: float = 0.0
) -> list[Violation]:
    """The worst row of every constraint and variable that misses its limits by more than `above`, worst first."""
    found: dict[str, Violation] = {}

    def note(name: str, first_stage: int, rows: tuple[int, ...], amounts: np.ndarray) -> None:
        stage, row = np.unravel_index(np.argmax(amounts), amounts.shape)
        amount = float(amounts[stage, row])
        if amount > max(above, found[name].amount if name in found else 0.0):
            found[name] = Violation(name, first_stage + int(stage), rows[row], amount)

    for piece in layout.pieces:
        note(piece.name, piece.stages[0], piece.rows, outside_rows[piece.places])
    for name, amounts in layout.by_name(outside_bounds).items():
        note(f"limits of {name}", 0, tuple(range(amounts.shape[1])), amounts)
    return sorted(found.values(), key=lambda violation: -violation.amount)


def find_fault(transcription: Transcription, layout: Layout, point: Point, at: tuple[int, int, int]) -> Fault:
    """The term behind a number that is not finite; at: block, stage, row (-1: a derivative) as the core knows them."""
    block, stage = transcription.blocks[at[0]], at[1]
    u, x = layout.cut(point.z)
    here = [u[stage] if stage < layout.steps else np.zeros(0), x[stage], point.parameters, point.of_stages[stage]]
    inputs = [
        transcription.u if stage < layout.steps else ca.SX(0, 1),
        transcription.x,
        transcription.p,
        transcription.p_stage,
    ]
    z = ca.vertcat(*inputs[:2])
    parts = _parts(transcription, block)
    for what, derive in (
        ("value", lambda row: row),
        ("gradient", lambda row: ca.gradient(row, z)),
        ("curvature", lambda row: ca.hessian(row, z)[0]),
    ):
        for name, expression in parts:
            expression = solved(expression)
            for row in range(expression.numel()):
                number = ca.Function("term", inputs, [ca.densify(derive(expression[row]))])(*here)
                if not np.isfinite(np.array(number)).all():
                    return Fault(name, stage, row, what)
    # The trouble was at another point than this one: all that is known is the core's word.
    if at[2] < 0:
        return Fault(" or ".join(name for name, _ in parts), stage, 0, "curvature")
    name, row = block.names[at[2]]
    return Fault(name, stage, row, "value")


def _parts(transcription: Transcription, block: Block) -> list[tuple[str, ca.SX]]:
    """The terms of a block with their names, every cost and every state's dynamics apart."""
    parts = [(term.name, term.expression) for term in block.terms if term.kind == "objective"]
    if block.next is not None:
        states = transcription.problem.states
        ends = np.cumsum([state.size for state in states]).tolist()
        parts += [(dynamics_name(v.name), block.next[end - v.size : end]) for v, end in zip(states, ends)]
    return parts + [(term.name, term.expression) for term in [*block.equalities, *block.inequalities]]
