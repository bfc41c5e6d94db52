"""What a transcription is made of: phases, runs of stages with the same variables, and blocks, functions on them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import casadi as ca

from ...adjoint import ImplicitNode, keep, solved
from ...cached import cached_property
from ..statement.costs_and_constraints.terms import Kind, Term
from ..statement.problem import Problem
from ..statement.variables import Control, State

NOTHING = ca.SX(0, 1)


@dataclass(eq=False)
class Phase:
    """A problem among the stages: `first` is its first stage, `parent` the phase before it (-1: none), and `following`
    are those after it. u, x, shared_parameters, stage_parameters: columns of controls, coordinates of the states, what
    all stages share, and what each has of its own: parameters and anchors.
    """

    problem: Problem
    first: int
    parent: int
    following: list[int] = field(default_factory=list)

    @property
    def last(self) -> int:
        """The last stage."""
        return self.first + self.problem.steps

    @property
    def states(self) -> list[State]:
        """All that x has: the free duration, where there is one, and the states."""
        return self.problem.carried

    @cached_property
    def u(self) -> ca.SX:
        return _column(v.symbol for v in self.problem.controls)

    @cached_property
    def x(self) -> ca.SX:
        return _column(v.symbol for v in self.states)

    @cached_property
    def shared_parameters(self) -> ca.SX:
        return _column(v.symbol for v in self.problem.parameters if not v.per_stage)

    @cached_property
    def stage_parameters(self) -> ca.SX:
        return _column([self.parameters_per_stage, *(v.anchor for v in self.states)])

    @cached_property
    def parameters_per_stage(self) -> ca.SX:
        """The stage parameters that are the user's."""
        return _column(v.symbol for v in self.problem.parameters if v.per_stage)

    @cached_property
    def child_parameters(self) -> ca.SX:
        """Symbols for the stage parameters of the first stage of this phase, or of its next: what a parent sees of it;
        nothing where no state lies on a manifold.
        """
        on_manifold = any(v.manifold.units for v in self.states)
        return ca.SX.sym("child", self.stage_parameters.numel()) if on_manifold else NOTHING

    @cached_property
    def choices(self) -> tuple[Control, ...]:
        """What is chosen at the last stage for the phases that follow."""
        return tuple(v for link in self.problem.links for v in link.choices)

    @cached_property
    def chosen(self) -> ca.SX:
        return _column(v.symbol for v in self.choices)

    def arrived(self, states: dict[str, ca.SX]) -> ca.SX:
        """States of this phase by name, as coordinates about the anchors in `child_parameters`."""
        at, parts = self.parameters_per_stage.numel(), []
        for v in self.states:
            end, state = at + v.manifold.anchors, states[v.name]
            parts.append(v.manifold.coordinates(self.child_parameters[at:end], state) if v.manifold.units else state)
            at = end
        return ca.vertcat(*parts)

    def still(self, expression: ca.SX) -> ca.SX:
        """An expression at zero increments of the states on manifolds."""
        increments = [
            v.symbol[j]
            for v in self.states
            for j in range(v.size)
            if v.manifold.units and j not in v.manifold.plain_coordinates
        ]
        if not increments:
            return expression
        return ca.sparsify(ca.substitute(expression, ca.vertcat(*increments), ca.SX.zeros(len(increments), 1)))


@dataclass(eq=False)
class Block:
    """Terms on a run of stages of one phase, as one function; child: the child of its first stage, or -1, and
    entering: the phase of the child. at_equality, at_inequality: its first rows among those of a stage.
    """

    phase: Phase
    stages: range
    terms: list[Term]
    at_equality: int = 0
    at_inequality: int = 0
    child: int = -1
    entering: Phase | None = None
    nodes: list[ImplicitNode] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.nodes = keep(self.rows)  # an integrator may have made some

    def __str__(self) -> str:
        first, last = self.stages[0] - self.phase.first, self.stages[-1] - self.phase.first
        stages = f"stage {first}" if first == last else f"stages {first} to {last}"
        return f"{stages} of '{self.phase.problem.name}'"

    def of(self, kind: Kind) -> list[Term]:
        """Its terms of a kind."""
        return [term for term in self.terms if term.kind is kind]

    def count(self, kind: Kind) -> int:
        """Its rows of a kind; all costs are one."""
        rows = sum(term.rows for term in self.of(kind))
        return rows if kind.constrains else min(rows, 1)

    @property
    def head(self) -> int:
        """Its rows before those that have multipliers: 1 where there is a cost."""
        return self.count(Kind.OBJECTIVE)

    @property
    def inputs(self) -> list[ca.SX]:
        """u, x, shared parameters, parameters of the stage, parameters of the child."""
        phase = self.phase
        u = phase.u if self.stages[0] < phase.last else phase.chosen
        child = NOTHING if self.entering is None else self.entering.child_parameters
        return [u, phase.x, phase.shared_parameters, phase.stage_parameters, child]

    @property
    def constraints(self) -> list[Term]:
        """The terms whose rows have multipliers, in the order of the rows."""
        return [term for kind in Kind if kind.constrains for term in self.of(kind)]

    @property
    def rows(self) -> ca.SX:
        """The outputs: the sum of all costs, if there are some, then all constraints."""
        costs = [term.expression for term in self.of(Kind.OBJECTIVE)]
        objective = [sum(costs[1:], costs[0])] if costs else []
        return ca.vertcat(*objective, *(term.expression for term in self.constraints))

    @property
    def plain_rows(self) -> ca.SX:
        """The same without any node: what CasADi alone can evaluate and differentiate."""
        return ca.densify(solved(self.rows))

    @property
    def smooth_rows(self) -> ca.SX:
        """The same but for steplike nodes, so that CasADi's derivatives are right; those are then to be `solved`."""
        return ca.densify(solved(self.rows, slopes=True))

    def names(self) -> list[tuple[str, int]]:
        """One entry a row: (term, row of the term)."""
        names = [("objective", 0)] if self.head else []
        return names + [(term.name, i) for term in self.constraints for i in range(term.rows)]


def _column(parts: Iterable[ca.SX]) -> ca.SX:
    return ca.vertcat(NOTHING, *parts)
