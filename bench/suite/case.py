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

    optimum: the published objective, as it is minimised here, or one for each instance, and tolerance: by how much of
    max(1, |optimum|) ours may differ from it, which is what the discretisations explain. None: nothing is published.
    instances: how many there are; all share the problem, and `instance(i)` is the guess and the parameters of one.
    """

    build: Callable[[], Stated]
    source: str
    optimum: float | tuple[float, ...] | None = None
    tolerance: float = 1e-3
    instances: int = 1
    instance: Callable[[int], tuple[Mapping[str, Any], Mapping[str, Any]]] | None = None
    name: str = ""
    family: str = ""

    def starts(self, instance: int, stated: Stated) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """Guess and parameters of an instance of the problem that `build` stated."""
        return (stated.guess, stated.parameters) if self.instance is None else self.instance(instance)

    def published(self, instance: int = 0) -> float | None:
        """The published objective of an instance; only the first has one, unless each has its own."""
        if isinstance(self.optimum, tuple):
            return self.optimum[instance]
        return self.optimum if instance == 0 else None

    def agrees(self, objective: float, instance: int = 0) -> bool:
        """Whether an objective is the published one, as far as it can be."""
        optimum = self.published(instance)
        return optimum is None or abs(objective - optimum) <= self.tolerance * max(1.0, abs(optimum))
