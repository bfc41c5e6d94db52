"""What a transcription is made of: phases, runs of stages with the same variables, and blocks, functions on them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import casadi as ca

from ..statement.problem import Problem
from ..statement.variables import Term, Variable

NOTHING = ca.SX(0, 1)


@dataclass(eq=False)
class Phase:
    """A problem among the stages: `first` is its first stage, `parent` the phase before it (-1: none), and `following`
    are those after it. u, x, p, p_stage: columns of controls, coordinates of the states, shared parameters, and what
    each stage has of its own: parameters and anchors.
    """

    problem: Problem
    first: int
    parent: int
    following: list[int] = field(default_factory=list)

    @property
    def last(self) -> int:
        """The last stage."""
        return self.first + self.problem.steps

    @cached_property
    def u(self) -> ca.SX:
        return _column(v.symbol for v in self.problem.controls)

    @cached_property
    def x(self) -> ca.SX:
        return _column(v.symbol for v in self.problem.states)

    @cached_property
    def p(self) -> ca.SX:
        return _column(v.symbol for v in self.problem.parameters if not v.per_stage)

    @cached_property
    def p_stage(self) -> ca.SX:
        own = (v.symbol for v in self.problem.parameters if v.per_stage)
        return _column([*own, *(v.anchor for v in self.problem.states)])

    @cached_property
    def p_next(self) -> ca.SX:
        """Symbols for the p_stage of the first stage of this phase, or of its next: what a parent sees of it."""
        on_manifold = any(v.manifold.units for v in self.problem.states)
        return ca.SX.sym("following", self.p_stage.numel()) if on_manifold else NOTHING

    @cached_property
    def choices(self) -> tuple[Variable, ...]:
        """What is chosen at the last stage for the phases that follow."""
        return tuple(v for link in self.problem.links for v in link.choices)

    @cached_property
    def chosen(self) -> ca.SX:
        return _column(v.symbol for v in self.choices)

    def arrived(self, states: dict[str, ca.SX]) -> ca.SX:
        """States of this phase by name, as coordinates about the anchors in p_next."""
        at, parts = self.p_stage.numel() - sum(v.manifold.anchors for v in self.problem.states), []
        for v in self.problem.states:
            end, state = at + v.manifold.anchors, states[v.name]
            parts.append(v.manifold.chart(self.p_next[at:end], state) if v.manifold.units else state)
            at = end
        return ca.vertcat(*parts)

    def still(self, expression: ca.SX) -> ca.SX:
        """An expression at zero increments of the states on manifolds."""
        increments = [
            v.symbol[j]
            for v in self.problem.states
            for j in range(v.size)
            if v.manifold.units and j not in v.manifold.plain_coordinates
        ]
        if not increments:
            return expression
        return ca.sparsify(ca.substitute(expression, ca.vertcat(*increments), ca.SX.zeros(len(increments), 1)))


@dataclass(eq=False)
class Block:
    """Terms on a run of stages of one phase, as one function; child: the child of its first stage, or -1."""

    phase: Phase
    stages: range
    terms: list[Term]
    at_equality: int = 0
    at_inequality: int = 0
    child: int = -1
    entering: Phase | None = None
    objective: ca.SX | None = None
    next: ca.SX | None = None
    equalities: list[Term] = field(default_factory=list)
    inequalities: list[Term] = field(default_factory=list)

    def __str__(self) -> str:
        first, last = self.stages[0] - self.phase.first, self.stages[-1] - self.phase.first
        stages = f"stage {first}" if first == last else f"stages {first} to {last}"
        return f"{stages} of '{self.phase.problem.name}'"

    @property
    def inputs(self) -> list[ca.SX]:
        """u, x, shared parameters, parameters of the stage, parameters of the child."""
        phase = self.phase
        u = phase.u if self.stages[0] < phase.last else phase.chosen
        return [u, phase.x, phase.p, phase.p_stage, NOTHING if self.entering is None else self.entering.p_next]

    @property
    def rows(self) -> ca.SX:
        """The outputs, in order."""
        parts = [part for part in (self.objective, self.next) if part is not None]
        return ca.vertcat(*parts, *(term.expression for term in [*self.equalities, *self.inequalities]))

    def names(self) -> list[tuple[str, int]]:
        """One entry a row: (term, row of the term)."""
        names = [("objective", 0)] if self.objective is not None else []
        names += [("dynamics", i) for i in range(0 if self.next is None else self.next.numel())]
        return names + [
            (term.name, i) for term in [*self.equalities, *self.inequalities] for i in range(term.expression.numel())
        ]


def _column(parts) -> ca.SX:
    return ca.vertcat(NOTHING, *parts)
