"""What went wrong, by the names of the statement: constraints that do not hold, terms that are not finite."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ...adjoint import solved
from ..judge.residual import Point
from ..stages.layout import Layout, dynamics_rows
from ..stages.stages import Block
from ..stages.transcription import Transcription
from ..statement.costs_and_constraints.terms import Kind

if TYPE_CHECKING:
    from ..judge.conditions import Conditions


AGAINST = 1e-4  # share of the largest multiplier with which a row takes part in a contradiction


@dataclass(frozen=True)
class Violation:
    """A row that does not hold: of which constraint ("limits of q" for those of a variable), where and by how much; by
    nothing where it holds at the cost of others.

    phase: its name, empty where there is only one. entry: what the row is called, empty where it has no name.
    """

    name: str
    stage: int
    row: int
    amount: float
    phase: str = ""
    entry: str = ""

    def __str__(self) -> str:
        by = f" by {self.amount:.2g}" if self.amount else ""
        which = f"of '{self.entry}'" if self.entry else f"row {self.row}"
        return f"'{self.name}' {which} at stage {self.stage}{_of(self.phase)}{by}"


@dataclass(frozen=True)
class Fault:
    """A term that is not finite: name, stage and row, and `what` is not: its "value", "gradient" or "curvature"."""

    name: str
    stage: int
    row: int
    what: str
    phase: str = ""

    def __str__(self) -> str:
        what = "is" if self.what == "value" else f"has a {self.what} that is"
        return f"'{self.name}' row {self.row} at stage {self.stage}{_of(self.phase)} {what} not finite"


def _of(phase: str) -> str:
    return f" of '{phase}'" if phase else ""


def violations(
    layout: Layout, outside_rows: np.ndarray, outside_bounds: np.ndarray, above: float = 0.0
) -> list[Violation]:
    """The worst row of every constraint and variable that misses its limits by more than `above`, worst first."""
    found: dict[tuple[int, str], Violation] = {}
    names = [phase.name if len(layout.phases) > 1 else "" for phase in layout.phases]

    def note(
        phase: int, name: str, first_stage: int, rows: tuple[int, ...], amounts: np.ndarray, called: tuple[str, ...]
    ) -> None:
        stage, row = np.unravel_index(np.argmax(amounts), amounts.shape)
        amount, key = float(amounts[stage, row]), (phase, name)
        if amount > max(above, found[key].amount if key in found else 0.0):
            entry = called[row] if called else ""
            found[key] = Violation(name, first_stage + int(stage), rows[row], amount, names[phase], entry)

    for rows in layout.constraints:
        note(rows.phase, rows.name, rows.stages[0], rows.rows, outside_rows[rows.places], rows.names)
    for i, place in enumerate(layout.phases):
        called = {v.name: v.names for v in (*place.states, *place.controls)}
        for name, amounts in place.coordinates(outside_bounds).items():
            note(i, f"limits of {name}", 0, tuple(range(amounts.shape[1])), amounts, called[name])
    return sorted(found.values(), key=lambda violation: -violation.amount)


def opponents(layout: Layout, y: np.ndarray, w: np.ndarray, violated: list[Violation]) -> list[Violation]:
    """The constraints that hold, but stand against those violated: at a point where the violation is least, its slopes
    are balanced by multipliers, whose rows are the contradiction. Dynamics have no say in it.
    """
    share = AGAINST * max(float(np.abs(y).max(initial=0.0)), float(np.abs(w).max(initial=0.0)))
    named = {(each.phase, each.name) for each in violated}
    ours = {rows.name for rows in layout.constraints if rows.kind.leads_on}
    found = [each for each in violations(layout, np.abs(y), np.abs(w), share) if each.name not in ours]
    return [replace(each, amount=0.0) for each in found if (each.phase, each.name) not in named]


def everywhere(layout: Layout) -> list[str]:
    """The equalities that are demanded on every stage of their phase, the last one included."""
    stages: Counter[tuple[int, str]] = Counter()
    for rows in layout.constraints:
        if rows.kind is Kind.EQUALITY:
            stages[rows.phase, rows.name] += rows.stages[1] - rows.stages[0]
    return [name for (phase, name), count in stages.items() if count > layout.phases[phase].steps]


def find_fault(conditions: Conditions, point: Point, at: tuple[int, int, int]) -> Fault | None:
    """The term behind a number that is not finite; at: block, stage, row (-1: a derivative) as the core knows them.

    None where the core names no stage: the number is one of its own.
    """
    if at[1] < 0:
        return None
    transcription: Transcription = conditions.transcription
    block = transcription.blocks[at[0]]
    stage, phase = at[1] - block.phase.first, block.phase.problem.name if len(transcription.phases) > 1 else ""
    everywhere = conditions.inputs(block, point)
    here = [part[min(at[1] - block.stages[0], len(part) - 1)] for part in everywhere]
    inputs = block.inputs
    z = ca.vertcat(*inputs[:2])
    parts = _parts(block)
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
                    return Fault(name, stage, row, what, phase)
    # The trouble was at another point than this one: all that is known is the core's word.
    if at[2] < 0:
        return Fault(" or ".join(name for name, _ in parts), stage, 0, "curvature", phase)
    name, row = block.names()[at[2]]
    return Fault(name, stage, row, "value", phase)


def _parts(block: Block) -> list[tuple[str, ca.SX]]:
    """The terms of a block with their names, every cost and every state's dynamics apart."""
    parts, end = [(term.name, term.expression) for term in block.of(Kind.OBJECTIVE)], 0
    for step in block.of(Kind.DYNAMICS):
        for name, size in dynamics_rows(block):
            parts.append((name, step.expression[end : end + size]))
            end += size
    return parts + [(term.name, term.expression) for term in block.constraints if not term.kind.leads_on]
