"""A statement as a table that a person reads: a variable, a cost, a constraint a line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .costs_and_constraints.limits import Limits
from .costs_and_constraints.terms import Kind, Term

if TYPE_CHECKING:
    from .problem import Problem
    from .variables import State

SHOWN = 5  # different limits of one thing


def summary(problem: Problem) -> str:
    """What was stated so far, and of the phases that follow."""
    lines = [("state", v.name, _size(v.entries), _of_state(problem, v)) for v in problem.states]
    lines += [("control", v.name, _size(v.size), ranges(v.limits)) for v in problem.controls]
    lines += [("parameter", v.name, _size(v.size), "one a stage" if v.per_stage else "") for v in problem.parameters]
    if problem.dynamics:
        lines.append(("dynamics", ", ".join(problem.dynamics), "", "" if problem.discrete else problem.integrator))
    costs, constraints = _named(problem, Kind.OBJECTIVE), _named(problem, Kind.EQUALITY, Kind.INEQUALITY)
    lines += [("minimize", name, "", _stages(terms, problem.steps)) for name, terms in costs.items()]
    for name, terms in constraints.items():
        rows = len({row for term in terms for row in term.stated_rows})
        lines.append(("constrain", name, _size(rows), f"{_kinds(terms)}, {_stages(terms, problem.steps)}"))
    widths = [max((len(line[k]) for line in lines), default=0) for k in range(3)]
    table = ["  " + "  ".join([*map(str.ljust, line, widths), line[3]]).rstrip() for line in lines]
    return "\n".join([f"{problem.name}: {_horizon(problem)}", *table, *(summary(link.phase) for link in problem.links)])


def ranges(limits: Limits) -> str:
    """Limits as [lower, upper], equal ones once."""
    pairs = list(dict.fromkeys(zip(*(_words(side) for side in limits.numbers))))
    shown = [f"[{low}, {high}]" for low, high in pairs[:SHOWN]] + ["..."] * (len(pairs) > SHOWN)
    return "" if pairs == [("-inf", "inf")] else f"in {' '.join(shown)}"


def _words(side: np.ndarray) -> list[str]:
    return ["given" if np.isnan(number) else f"{number:.4g}" for number in side]


def _horizon(problem: Problem) -> str:
    steps = f"{problem.steps} step{'s' if problem.steps > 1 else ''}"
    if problem.free_duration is not None:
        return f"{steps}, the duration {ranges(problem.free_duration.limits)} s"
    if problem.step is None and problem.duration is None:
        return steps
    if problem.lengths is None:
        return f"{steps} of {problem.time_step:.4g} s"
    if problem.lengths.default is None:
        return f"{steps} of '{problem.lengths.name}', given"
    lengths = problem.lengths.default[:-1]
    return f"{steps} of {lengths.min():.4g} to {lengths.max():.4g} s"


def _of_state(problem: Problem, state: State) -> str:
    first = "first value given" if state in problem.started else ""
    return ", ".join(part for part in (first, ranges(state.limits)) if part)


def _size(count: int) -> str:
    return f"({count})"


def _named(problem: Problem, *kinds: Kind) -> dict[str, list[Term]]:
    """Terms of some kinds by the name they were stated by, in its order."""
    found: dict[str, list[Term]] = {}
    for term in problem.terms:
        if term.kind in kinds:
            found.setdefault(term.name, []).append(term)
    return found


def _kinds(terms: Sequence[Term]) -> str:
    words = []
    for term in terms:
        soft = "soft, " if term.price is not None else ""
        words.append("equality" if term.kind is Kind.EQUALITY else soft + (ranges(term.limits) or "no limits"))
    return ", ".join(dict.fromkeys(words))


def _stages(terms: Sequence[Term], steps: int) -> str:
    """Where terms stand, in words."""
    stages = sorted({stage for term in terms for stage in term.stages})
    if stages == list(range(steps + 1)):
        return "all stages"
    if stages == list(range(steps)):
        return "all steps"
    if len(stages) == 1:
        return {0: "at the start", steps: "at the end"}.get(stages[0], f"at stage {stages[0]}")
    if stages == list(range(stages[0], stages[-1] + 1)):
        return f"stages {stages[0]} to {stages[-1]}"
    return f"{len(stages)} stages from {stages[0]} to {stages[-1]}"
