"""Phases that follow each other: what the first states of the next one are, checked where it is said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import casadi as ca

from ...errors import ProblemError
from .costs_and_constraints.limits import unlimited
from .costs_and_constraints.terms import PhaseLink
from .variables import Control, State, uses

if TYPE_CHECKING:
    from .problem import Problem


def linked(before: Problem, phase: Problem, choose: Sequence[str], entry: Mapping[str, ca.SX]) -> PhaseLink:
    """The link that `Problem.then` makes."""
    what = f"then: '{before.name}' to '{getattr(phase, 'name', phase)}'"
    if not isinstance(phase, type(before)):
        raise ProblemError(f"{what}: a {type(phase).__name__} is given, expected a Problem")
    if phase.follows is not None or phase in lineage(before):
        raise ProblemError(f"{what}: the second phase has its place already, expected one that follows nothing yet")
    if isinstance(choose, str) or not isinstance(choose, Sequence) or not all(isinstance(name, str) for name in choose):
        raise ProblemError(f"{what}: choose is {choose!r}, expected a list of names of states")
    if phase.built:
        raise ProblemError(f"{what}: the second phase is built, expected one that is not")
    states = {v.name: v for v in phase.carried}
    free = [*([phase.free_duration.name] if phase.free_duration else []), *choose]
    for name in [*entry, *choose]:
        if name not in states or (name in entry and name in free):
            there = ", ".join(states) or "none"
            raise ProblemError(f"{what}: '{name}' is not a state to be given there; the states are {there}")
    for name in free:
        if states[name].manifold.units:
            raise ProblemError(f"{what}: '{name}' is a configuration, which cannot be chosen, expected its value")
    sizes = {name: states[name].size for name in free}
    choices = tuple(Control(name, ca.SX.sym(name, size), unlimited(size)) for name, size in sizes.items())
    given = {name: _entered(before, v, entry, what) for name, v in states.items() if name not in free}
    return PhaseLink(phase, given, choices)


def lineage(problem: Problem) -> list[Problem]:
    """The phases that lead to a problem, itself the last."""
    return [problem] if problem.follows is None else [*lineage(problem.follows), problem]


def _entered(before: Problem, state: State, entry: Mapping[str, ca.SX], what: str) -> ca.SX:
    """The first value of a state: as stated, or that of the state of the same name before it."""
    name = state.name
    same = [v.value for v in before.carried if v.name == name and v.manifold == state.manifold]
    if name not in entry and not same:
        raise ProblemError(
            f"{what}: state '{name}' has no value to start from; say then(..., {name}=...), or choose=['{name}']"
        )
    value = before.expression(f"{what}: {name}", entry[name]) if name in entry else same[0]
    if value.numel() != state.entries:
        raise ProblemError(f"{what}: '{name}' has {state.entries} entries, but {value.numel()} are given")
    if uses(value, before.controls):
        raise ProblemError(f"{what}: '{name}' uses a control, but the last stage of '{before.name}' has none")
    return value
