"""From a statement to stages: which expressions stand on which stages, in the form that the interior point takes.

The stages of all phases stand in a row, a phase before those that follow it. Terms are cut between the steps of a
phase, which have its controls, and its last stage, whose controls are what is chosen for the phases that follow; terms
with the same stages become one block, a function of (u, x, shared parameters, parameters of the stage, parameters of
the child) with rows

    objective (0 or 1), dynamics: the next state (0 or nx of the child), equalities, inequalities

so that what all steps share is compiled once and evaluated several stages at a time. The anchors of states on manifolds
are parameters of their stage; a next state is given in the coordinates about the child's anchors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import casadi as ca
import numpy as np

from ...adjoint import expand_to_compile, nodes_of
from ...cached import cached_property
from ...errors import ProblemError
from ..statement import integrators
from ..statement.costs_and_constraints.terms import Kind, Term, term
from ..statement.problem import Problem
from .stages import Block, Phase

# Operations whose slope may be one thing here and another there, and constant in between: no slope tells of them.
CORNERED = {ca.OP_FLOOR, ca.OP_CEIL, ca.OP_SIGN, ca.OP_FABS, ca.OP_FMIN, ca.OP_FMAX, ca.OP_FMOD, ca.OP_REMAINDER}
CORNERED |= {ca.OP_COPYSIGN, ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE, ca.OP_IF_ELSE_ZERO, ca.OP_CALL}


@dataclass(eq=False)
class Transcription:
    """A problem as stages."""

    problem: Problem
    phases: list[Phase]
    blocks: list[Block]

    @property
    def stages(self) -> int:
        return self.phases[-1].last + 1

    @cached_property
    def nu(self) -> list[int]:
        """The number of controls at every stage."""
        return [n for p in self.phases for n in [*[p.u.numel()] * p.problem.steps, p.chosen.numel()]]

    @cached_property
    def nx(self) -> list[int]:
        """The number of states' coordinates at every stage."""
        return [p.x.numel() for p in self.phases for _ in range(p.problem.steps + 1)]

    @cached_property
    def parents(self) -> list[int]:
        """The stage before every stage, -1 for the first."""
        found = list(range(-1, self.stages - 1))
        for phase in self.phases:
            found[phase.first] = self.phases[phase.parent].last if phase.parent >= 0 else -1
        return found

    @cached_property
    def at_z(self) -> np.ndarray:
        """Where the (u, x) of every stage start in z; one more entry for the end."""
        return _starts(np.add(self.nu, self.nx))

    def run(self, block: Block) -> slice:
        """The part of z that a block's stages are."""
        return slice(int(self.at_z[block.stages[0]]), int(self.at_z[block.stages[-1] + 1]))

    @cached_property
    def at_dynamics(self) -> np.ndarray:
        """Where the rows that lead to every stage start in y; the first stage has none."""
        return _starts([0, *self.nx[1:]])

    @cached_property
    def fixed(self) -> list[int]:
        """The entries of the first stage's x that are given with a solve."""
        found: list[int] = []
        at = 0
        for v in self.phases[0].states:
            found += range(at, at + v.size) if v in self.problem.started else []
            at += v.size
        return found

    @cached_property
    def fixed_z(self) -> np.ndarray:
        """Their places in z."""
        return np.array(self.fixed, dtype=int) + self.nu[0]

    @cached_property
    def pinned_z(self) -> np.ndarray:
        """The places in z of the first stage's states that a row of their own gives a number there."""
        first = self.phases[0]
        place = {symbol.element_hash(): self.nu[0] + i for i, symbol in enumerate(ca.vertsplit(first.x))}
        given = {s.element_hash() for s in ca.symvar(ca.vertcat(first.shared_parameters, first.stage_parameters))}
        found = set()
        rows = [each.expression for block in self.blocks if block.stages[0] == 0 for each in block.of(Kind.EQUALITY)]
        for row in ca.vertsplit(ca.vertcat(*rows)) if rows else []:
            asked = [symbol for symbol in ca.symvar(row) if symbol.element_hash() not in given]
            if len(asked) == 1 and asked[0].element_hash() in place and ca.jacobian(row, asked[0]).is_constant():
                found.add(place[asked[0].element_hash()])
        return np.array(sorted(found), dtype=int)

    @cached_property
    def choices(self) -> np.ndarray:
        """(n, 2) places in z: what is chosen at the end of a phase, and the state of the next that it becomes."""
        pairs = []
        for phase in self.phases:
            here = int(self.at_z[phase.last])
            for i, link in zip(phase.following, phase.problem.links):
                first = self.phases[i].first
                there, at = int(self.at_z[first]) + self.nu[first], {}
                for v in link.phase.carried:
                    at[v.name], there = there, there + v.size
                for choice in link.choices:
                    pairs += [(here + j, at[choice.name] + j) for j in range(choice.size)]
                    here += choice.size
        return np.array(pairs, dtype=int).reshape(-1, 2)

    def count(self, kind: Kind) -> list[int]:
        """Rows of a kind at every stage."""
        rows = [0] * self.stages
        for block in self.blocks:
            for k in block.stages:
                rows[k] += block.count(kind)
        return rows

    def functions(self, block: Block, hessian: str) -> tuple[ca.Function, ca.Function]:
        """inputs -> rows, and (inputs, weights) -> Jacobian, lower triangle of the Hessian. Where the objective rests
        on nodes, the second has one more input: the share of their curvature that counts by it.
        """
        inputs, still = block.inputs, block.phase.still
        weights, share = ca.SX.sym("weight", block.rows.numel()), ca.SX.sym("share")
        z, kind = ca.vertcat(*inputs[:2]), self.kind(block, hessian)
        damped = kind == "exact" and bool(block.head) and bool(nodes_of(block.rows[0]))
        of_nodes = ca.vertcat(share * weights[0], weights[1:]) if damped else None
        rows, jacobian, lower = expand_to_compile(z, block.rows, weights, kind, of_nodes)
        # Their names tell no stages, so that blocks which are alike share their machine code.
        values = ca.Function("values", inputs, [ca.densify(rows)])
        given = [*inputs, weights, share] if damped else [*inputs, weights]
        return values, ca.Function("derivatives", given, [still(jacobian), still(lower)])

    @staticmethod
    def is_quadratic(block: Block, derivatives: ca.Function) -> bool:
        """Whether exact derivatives tell that the objective of a block is quadratic and its other rows are affine."""
        inputs, first = derivatives.sx_in(), block.head
        jacobian, hessian = derivatives(*inputs)
        z, weights = ca.vertcat(*inputs[:2]), inputs[len(block.inputs)][first:]
        if any(derivatives.instruction_id(k) in CORNERED for k in range(derivatives.n_instructions())):
            return False
        return not ca.depends_on(hessian, ca.vertcat(z, weights)) and not ca.depends_on(jacobian[first:, :], z)

    @staticmethod
    def kind(block: Block, hessian: str) -> str:
        # Gauss-Newton keeps the curvature of the first row alone, which must be the objective.
        return "no-dynamics" if hessian == "gauss-newton" and not block.head else hessian

    @staticmethod
    def recentring(phase: Phase) -> ca.Function | None:
        """(x, stage parameters) -> the same with every state on a manifold at zero increments; None: there is none."""
        if not phase.child_parameters.numel():
            return None
        parts = [v.manifold.recentred(v.symbol, v.anchor) for v in phase.states]
        moved = ca.vertcat(phase.parameters_per_stage, *(anchor for _, anchor in parts))
        outputs = [ca.densify(ca.vertcat(*(x for x, _ in parts))), ca.densify(moved)]
        return ca.Function("recentre", [phase.x, phase.stage_parameters], outputs)


def transcribe(problem: Problem) -> Transcription:
    """Turn a statement into stages; says what is still missing in it."""
    phases = _phases(problem)
    names = [phase.problem.name for phase in phases]
    for name in names:
        if names.count(name) > 1:
            raise ProblemError(f"build: two phases are named '{name}', expected Problem(..., name=) to tell them apart")
    for phase in phases:
        _check(phase.problem)
    blocks, filled = [], np.zeros((phases[-1].last + 1, 2), dtype=int)  # equalities and inequalities so far
    for phase in phases:
        groups: dict[tuple[int, ...], list[Term]] = {}
        for each in _terms(phase):
            for part in (
                tuple(phase.first + k for k in each.stages if k < phase.problem.steps),
                (phase.last,) * (phase.problem.steps in each.stages),
            ):
                if part:
                    groups.setdefault(part, []).append(each)
        blocks += _blocks(phase, groups, filled)
        blocks += [_entry(phase, phases[i], link.entry) for i, link in zip(phase.following, phase.problem.links)]
    return Transcription(problem, phases, blocks)


def _phases(problem: Problem) -> list[Phase]:
    """All phases, each before those that follow it."""
    found: list[Phase] = []

    def add(problem: Problem, parent: int) -> None:
        found.append(Phase(problem, found[-1].last + 1 if found else 0, parent))
        here = len(found) - 1
        for link in problem.links:
            found[here].following.append(len(found))
            add(link.phase, here)

    add(problem, -1)
    return found


def _check(problem: Problem) -> None:
    where = "build" if not problem.links and problem.follows is None else f"build: phase '{problem.name}'"
    if not problem.carried:
        raise ProblemError(f"{where}: the problem has no state, expected at least one; see Problem.state")
    missing = [v.name for v in problem.states if v.name not in problem.dynamics]
    if missing:
        raise ProblemError(f"{where}: state {', '.join(missing)} has no dynamics; say them with derivative or next")
    if problem.started and problem.follows is not None:
        raise ProblemError(f"{where}: start names {problem.started[0].name}, but the first states of a phase that "
                           "follows another come from then(...)")  # fmt: skip
    for link in problem.links:
        given = [*link.entry, *(v.name for v in link.choices)]
        late = [v.name for v in link.phase.carried if v.name not in given]
        if late:
            raise ProblemError(f"{where}: state {', '.join(late)} of '{link.phase.name}' was added after "
                               "then(...), expected all states before it")  # fmt: skip


def _terms(phase: Phase) -> list[Term]:
    """The statement's terms, with the step to the next stage as the first."""
    problem = phase.problem
    following = phase.arrived(next_states(problem))
    return [term("dynamics", Kind.DYNAMICS, following, tuple(range(problem.steps))), *problem.terms]


def next_states(problem: Problem) -> dict[str, ca.SX]:
    """All that is carried, at the next stage, by name: the free duration stays as it is."""
    stays = {} if problem.free_duration is None else {problem.free_duration.name: problem.free_duration.value}
    if not problem.states:
        return stays
    return {**stays, **(problem.dynamics if problem.discrete else integrators.step(problem))}


def _entry(phase: Phase, following: Phase, entry: dict[str, ca.SX]) -> Block:
    """What leads from the last stage of a phase to the first of another."""
    chosen = {v.name: v.symbol for link in phase.problem.links if link.phase is following.problem for v in link.choices}
    rows = following.arrived({**entry, **chosen})
    leads = term(f"entry into '{following.problem.name}'", Kind.DYNAMICS, rows, (phase.problem.steps,))
    return Block(phase, range(phase.last, phase.last + 1), [leads], child=following.first, entering=following)


def _blocks(phase: Phase, groups: dict[tuple[int, ...], list[Term]], filled: np.ndarray) -> list[Block]:
    """The blocks of all groups. A block's rows come after the same number of others on each of its stages."""
    blocks = []
    for group, terms in groups.items():
        for run in _runs(group, filled):
            block = Block(phase, range(run[0], run[-1] + 1), terms, *filled[run[0]].tolist())
            if block.of(Kind.DYNAMICS):
                block.child, block.entering = run[0] + 1, phase
            filled[run] += [block.count(kind) for kind in (Kind.EQUALITY, Kind.INEQUALITY)]
            blocks.append(block)
    return blocks


def _runs(stages: tuple[int, ...], filled: np.ndarray) -> list[list[int]]:
    """Cut a sorted tuple of indices into runs of consecutive ones with the same rows before them."""
    cuts = [
        i
        for i, (before, here) in enumerate(pairwise(stages), 1)
        if here != before + 1 or (filled[here] != filled[before]).any()
    ]
    return [part.tolist() for part in np.split(np.array(stages), cuts)]


def _starts(sizes: Sequence[int] | np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(int)
