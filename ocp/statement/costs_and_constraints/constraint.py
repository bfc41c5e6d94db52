"""A constraint as it is said, and the terms that it becomes: equalities, and inequalities with limits, hard or soft."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from ....adjoint import nodes_of
from ....errors import ProblemError
from ..expressions import own_limits
from ..variables import Control, State, Variable, checked_names, compares, same, uses
from .limits import Limits
from .named_stages import Stages, stages_of
from .soft import checked_price
from .terms import Kind, Term, term

if TYPE_CHECKING:
    from ..problem import Problem

OURS = ("dynamics of ", "entry into ")  # how constraints that are nobody's are called


def constraint_terms(
    problem: Problem,
    name: str,
    expression: Any,
    equals: Any,
    limits: tuple[Any, Any],
    at: Stages,
    names: Sequence[str] | None,
    soft: Any,
) -> list[Term]:
    """`Problem.constrain` in terms; rows whose limits are equal numbers are equalities."""
    _check_name(problem, name)
    expression = problem.expression(name, expression)
    rows = expression.numel()
    if compares(expression):
        raise ProblemError(f"constrain: '{name}' is a comparison, expected the expression alone, with equals=, "
                           "lower= or upper=")  # fmt: skip
    if (equals is None) == all(side is None for side in limits):
        raise ProblemError(f"constrain: '{name}' has {'no' if equals is None else 'both equals and'} bounds, "
                           "expected equals, or lower and/or upper")  # fmt: skip
    stages = stages_of(name, expression, at, problem.steps, problem.controls)
    called = checked_names(f"constrain: '{name}'", names, rows) or _called(problem, expression)
    if equals is not None:
        if soft is not None:
            raise ProblemError(f"constrain: '{name}' has equals and soft, expected a cost, or lower and/or upper")
        return [_equality(problem, name, expression, equals, stages, called)]
    return _between(name, expression, own_limits(problem, f"constrain: '{name}'", rows, *limits), stages, called, soft)


def _check_name(problem: Problem, name: str) -> None:
    if not isinstance(name, str):
        raise ProblemError(f"constrain: name is {name!r}, expected a text that messages can call it by")
    if any(each.name == name for each in problem.terms):
        raise ProblemError(f"constrain: there is a constraint '{name}' already, expected another name")
    if name.startswith(OURS):
        raise ProblemError(f"constrain: '{name}' is what the rows of dynamics are called, expected another name")


def _equality(
    problem: Problem, name: str, expression: ca.SX, equals: Any, stages: tuple[int, ...], called: tuple[str, ...]
) -> Term:
    """expression - equals = 0; states with turns are compared in their tangent space."""
    rows, target = expression.numel(), problem.expression(name, equals)
    for state in problem.states:
        if state.manifold.units and same(expression, state.value) and target.numel() == rows:
            expression, target = state.manifold.difference(target, state.value), ca.SX(0)
            called = state.names
    if target.numel() not in (1, rows):
        raise ProblemError(f"constrain: '{name}' has {rows} rows, but equals has {target.numel()}")
    left = expression - target
    if left.numel() and left.is_constant():
        raise ProblemError(
            f"constrain: '{name}' compares {expression} with {target}, which says nothing of any variable, "
            "expected an expression of states, controls or parameters"
        )
    variables: list[Variable] = [*problem.carried, *problem.controls]
    known = not uses(target, variables) and not nodes_of(target)
    limits = Limits(*[ca.repmat(target, left.numel() // target.numel(), 1)] * 2) if known and rows else None
    return term(name, Kind.EQUALITY, left, stages, limits, names=called)


def _between(
    name: str, expression: ca.SX, limits: Limits, stages: tuple[int, ...], called: tuple[str, ...], soft: Any
) -> list[Term]:
    """lower <= expression <= upper."""
    if soft is not None:
        if limits.fixed.any():
            raise ProblemError(f"constrain: '{name}' is soft, but row {np.argmax(limits.fixed)} has lower = upper, "
                               "expected a cost, or limits that differ")  # fmt: skip
        price = checked_price(f"constrain: '{name}'", expression.numel(), soft)
        return [term(name, Kind.INEQUALITY, expression, stages, limits, None, called, price)]
    at_fixed, rest = (np.flatnonzero(part).tolist() for part in (limits.fixed, ~limits.fixed))
    terms = []
    if at_fixed:
        left = expression[at_fixed] - limits.lower[at_fixed]
        terms.append(term(name, Kind.EQUALITY, left, stages, limits.rows(at_fixed), at_fixed, called))
    if rest:
        terms.append(term(name, Kind.INEQUALITY, expression[rest], stages, limits.rows(rest), rest, called))
    return terms


def _called(problem: Problem, expression: ca.SX) -> tuple[str, ...]:
    """The names of rows that are entries of states and controls, "" of others; none where no row has one."""
    variables: list[State | Control] = [*problem.states, *problem.controls]
    known = {entry.element_hash(): name for v in variables for entry, name in zip(ca.vertsplit(v.symbol), v.names)}
    found = tuple(known.get(row.element_hash(), "") for row in ca.vertsplit(expression)) if known else ()
    return found if any(found) else ()
