"""What `at` names: "all", "steps", "start", "end", an index, several, or a slice of the stages 0 ... N of N steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import casadi as ca
import numpy as np

from ....errors import ProblemError
from ..variables import Control, uses

Stages = str | int | slice | Sequence[int]


def named_stages(name: str, at: object, steps: int, last: int) -> tuple[int, ...]:
    """The stages, sorted, on which a term of that name stands; last: that of "all"."""
    everything = range(steps + 1)
    stages: Sequence[int]
    if isinstance(at, str):
        words: dict[str, Sequence[int]] = {
            "all": range(last + 1), "steps": range(steps), "start": [0], "end": [steps]
        }  # fmt: skip
        if at not in words:
            raise ProblemError(
                f"'{name}': at is {at!r}, expected one of {', '.join(map(repr, words))}, an index or a slice"
            )
        stages = words[at]
    elif isinstance(at, slice):
        try:
            stages = everything[at]
        except (TypeError, ValueError):
            raise ProblemError(f"'{name}': at is {at!r}, expected a slice of whole numbers") from None
    else:
        try:
            listed: list[Any] = list(at) if isinstance(at, Iterable) else [at]
        except TypeError:  # CasADi's matrices say that they can be iterated, and cannot
            listed = [at]
        if not all(isinstance(k, (int, np.integer)) and -steps - 1 <= k <= steps for k in listed):
            raise ProblemError(
                f"'{name}': at is {at!r}, expected a stage from 0 to {steps}, several, a slice or a word"
            )
        stages = [everything[k] for k in listed]
    if not stages:
        raise ProblemError(f"'{name}': at is {at!r}, which names no stage of 0 to {steps}")
    return tuple(sorted(set(stages)))


def stages_of(name: str, expression: ca.SX, at: Stages, steps: int, controls: Sequence[Control]) -> tuple[int, ...]:
    """Those on which an expression is said: what has controls in it makes no sense on the last one."""
    controlled = uses(expression, controls)
    last = steps - 1 if controlled else steps
    stages = named_stages(name, at, steps, last)
    if controlled and stages[-1] > last:
        which = ", ".join(v.name for v in controls if uses(expression, [v]))
        raise ProblemError(f"'{name}' uses the control {which} at stage {steps}, the last, where there is none")
    return stages
