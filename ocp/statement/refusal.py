"""Verbs of a statement that are said wholly or not at all: who corrects a line says it again, and nothing twice."""

from __future__ import annotations

import functools
from collections.abc import Callable
from copy import copy
from typing import Concatenate, ParamSpec, TypeVar

Given = ParamSpec("Given")
Statement = TypeVar("Statement")
Said = TypeVar("Said")


def all_or_nothing(
    verb: Callable[Concatenate[Statement, Given], Said],
) -> Callable[Concatenate[Statement, Given], Said]:
    """The verb; where it raises, every list and field of the statement is as it was before."""

    @functools.wraps(verb)
    def whole(statement: Statement, /, *given: Given.args, **named: Given.kwargs) -> Said:
        fields = vars(statement)
        before = {name: copy(value) if isinstance(value, (list, dict)) else value for name, value in fields.items()}
        try:
            return verb(statement, *given, **named)
        except BaseException:
            fields.clear()
            fields.update(before)
            raise

    return whole
