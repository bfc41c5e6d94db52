"""From a statement to stages: which expressions stand on which stages, in the form that the interior point takes.

Terms are cut between the steps, which have controls, and the last stage, which has none; terms with the same stages
become one block, a function of (u, x, parameters, parameters of the stage) with rows

    objective (0 or 1), next state (0 or nx), equalities, inequalities

so that what all steps share is compiled once and evaluated several stages at a time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import casadi as ca
import numpy as np

from ..adjoint import expand
from ..riccati import ProblemError
from . import integrators
from .problem import Problem, Term


@dataclass(eq=False)
class Block:
    """Terms on a run of stages, as one function. `names` has one entry a row: (term, row of the term)."""

    stages: range
    terms: list[Term]
    at_equality: int = 0
    at_inequality: int = 0
    objective: ca.SX | None = None
    next: ca.SX | None = None
    equalities: list[Term] = field(default_factory=list)
    inequalities: list[Term] = field(default_factory=list)

    @property
    def rows(self) -> ca.SX:
        """The outputs, in order."""
        parts = [part for part in (self.objective, self.next) if part is not None]
        return ca.vertcat(*parts, *(term.expression for term in [*self.equalities, *self.inequalities]))

    @property
    def names(self) -> list[tuple[str, int]]:
        names = [("objective", 0)] if self.objective is not None else []
        names += [("dynamics", i) for i in range(0 if self.next is None else self.next.numel())]
        return names + [
            (term.name, i) for term in [*self.equalities, *self.inequalities] for i in range(term.expression.numel())
        ]


@dataclass(eq=False)
class Transcription:
    """A problem as stages. u, x, p, p_stage: columns of all controls, states, shared and per-stage parameters."""

    problem: Problem
    u: ca.SX
    x: ca.SX
    p: ca.SX
    p_stage: ca.SX
    blocks: list[Block]

    @property
    def stages(self) -> int:
        return self.problem.steps + 1

    def count(self, kind: str) -> list[int]:
        """Rows of "equalities" or "inequalities" at every stage."""
        rows = [0] * self.stages
        for block in self.blocks:
            for k in block.stages:
                rows[k] += sum(term.expression.numel() for term in getattr(block, kind))
        return rows

    def functions(self, block: Block, hessian: str) -> tuple[ca.Function, ca.Function]:
        """(u, x, p, p_stage) -> rows, and (u, x, p, p_stage, weights) -> Jacobian, lower triangle of the Hessian."""
        u = self.u if block.stages[0] < self.problem.steps else ca.SX(0, 1)
        inputs = [u, self.x, self.p, self.p_stage]
        weights = ca.SX.sym("weight", block.rows.numel())
        expansion = expand(ca.vertcat(u, self.x), block.rows, weights, self._kind(block, hessian))
        name = f"stages_{block.stages[0]}_{block.stages[-1]}"
        values = ca.Function(f"{name}_values", inputs, [ca.densify(expansion.values)])
        derivatives = ca.Function(
            f"{name}_derivatives", [*inputs, weights], [expansion.jacobian, ca.tril(expansion.hessian)]
        )
        return values, derivatives

    @staticmethod
    def _kind(block: Block, hessian: str) -> str:
        # Gauss-Newton keeps the curvature of the first row alone, which must be the objective.
        return "no-dynamics" if hessian == "gauss-newton" and block.objective is None else hessian


def transcribe(problem: Problem) -> Transcription:
    """Turn a statement into stages; says what is still missing in it."""
    if not problem.states:
        raise ProblemError("build: the problem has no state, expected at least one; see Problem.state")
    missing = [v.name for v in problem.states if v.name not in problem.dynamics]
    if missing:
        raise ProblemError(f"build: state {', '.join(missing)} has no dynamics; say them with derivative or next")
    steps = tuple(range(problem.steps))
    terms = [Term("dynamics", "next", next_state(problem), steps), *problem.terms]
    groups: dict[tuple[int, ...], list[Term]] = {}
    for term in terms:
        for part in (
            tuple(k for k in term.stages if k < problem.steps),
            (problem.steps,) * (problem.steps in term.stages),
        ):
            if part:
                groups.setdefault(part, []).append(term)
    shared = [v.symbol for v in problem.parameters if not v.per_stage]
    own = [v.symbol for v in problem.parameters if v.per_stage]
    return Transcription(
        problem,
        u=ca.vertcat(ca.SX(0, 1), *(v.symbol for v in problem.controls)),
        x=ca.vertcat(*(v.symbol for v in problem.states)),
        p=ca.vertcat(ca.SX(0, 1), *shared),
        p_stage=ca.vertcat(ca.SX(0, 1), *own),
        blocks=_blocks(groups, problem.steps + 1),
    )


def next_state(problem: Problem) -> ca.SX:
    """All states at the next stage, in the order of the states."""
    if problem.discrete or set(problem.dynamics) == {"duration"}:
        return ca.vertcat(*(problem.dynamics[v.name] for v in problem.states))
    return integrators.step(problem)


def _blocks(groups: dict[tuple[int, ...], list[Term]], stages: int) -> list[Block]:
    """The blocks of all groups. A block's rows come after the same number of others on each of its stages."""
    blocks, filled = [], np.zeros((stages, 2), dtype=int)  # equalities and inequalities so far
    for group, terms in groups.items():
        rows = [
            sum(term.expression.numel() for term in terms if term.kind == kind) for kind in ("equality", "inequality")
        ]
        for run in _runs(group, filled):
            at_equality, at_inequality = filled[run[0]].tolist()
            blocks.append(_block(range(run[0], run[-1] + 1), terms, at_equality, at_inequality))
            filled[run] += rows
    return blocks


def _runs(stages: tuple[int, ...], filled: np.ndarray) -> list[list[int]]:
    """Cut a sorted tuple of indices into runs of consecutive ones with the same rows before them."""
    cuts = [
        i
        for i, (before, here) in enumerate(pairwise(stages), 1)
        if here != before + 1 or (filled[here] != filled[before]).any()
    ]
    return [part.tolist() for part in np.split(np.array(stages), cuts)]


def _block(stages: range, terms: list[Term], at_equality: int, at_inequality: int) -> Block:
    block = Block(stages, terms, at_equality, at_inequality)
    objectives = [term.expression for term in terms if term.kind == "objective"]
    if objectives:
        block.objective = sum(objectives[1:], objectives[0])
    block.next = next((term.expression for term in terms if term.kind == "next"), None)
    block.equalities = [term for term in terms if term.kind == "equality"]
    block.inequalities = [term for term in terms if term.kind == "inequality"]
    return block
