"""A problem of a published collection, with what is known of its answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from trisweep import Problem


class Stated(NamedTuple):
    """A problem, a guess by the names of its variables, and values for its parameters."""

    problem: Problem
    guess: Mapping[str, Any] = {}
    parameters: Mapping[str, Any] = {}


@dataclass(frozen=True)
class Case:
    """build: states the problem. source: who published it.

    optimum: the published objective, as it is minimised here, and tolerance: by how much of max(1, |optimum|) ours may
    differ from it, which is what the two discretisations explain. None: nothing is published for it.
    instances: how many there are; all share the problem, and `instance(i)` is the guess and the parameters of one.
    """

    build: Callable[[], Stated]
    source: str
    optimum: float | None = None
    tolerance: float = 1e-3
    instances: int = 1
    instance: Callable[[int], tuple[Mapping[str, Any], Mapping[str, Any]]] | None = None
    name: str = ""
    family: str = ""

    def agrees(self, objective: float) -> bool:
        """Whether an objective is the published one, as far as it can be."""
        if self.optimum is None:
            return True
        return abs(objective - self.optimum) <= self.tolerance * max(1.0, abs(self.optimum))
