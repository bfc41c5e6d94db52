"""Events of a simulation: where a quantity of the state passes through zero, found within the step that it happens in.

The integrators make steps of any length, so the place of an event is the root, over the length of the step, of the
quantity after it: as exact as the steps themselves, with no interpolation (Brent 1973).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import casadi as ca
import numpy as np

from ...errors import ModelError, said
from ..given import all_of, word

# A quantity of time, configuration and velocities.
Quantity: TypeAlias = Callable[[float, np.ndarray, np.ndarray], object]

DIRECTIONS = {"both": (-1, 1), "rising": (1,), "falling": (-1,)}


@dataclass(frozen=True, eq=False)
class Event:
    """`value(t, q, v)`, a number, passes through zero: any callable, or a CasADi function. stops: the run ends there.
    direction: "rising", "falling" or "both".

    Event("touchdown", lambda t, q, v: q[2] - 0.1, direction="falling")
    """

    name: str
    value: Quantity | ca.Function
    stops: bool = True
    direction: str = "both"

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise ModelError(f"Event: name is {said(self.name)}, expected a text that messages can call it by")
        word(f"event '{self.name}': direction", self.direction, DIRECTIONS)
        if not isinstance(self.stops, (bool, np.bool_)):
            raise ModelError(f"event '{self.name}': stops is {said(self.stops)}, expected True or False")
        if not callable(self.value):
            raise ModelError(f"event '{self.name}': value is {self.value!r}, expected a function of t, q and v")

    def at(self, t: float, q: np.ndarray, v: np.ndarray) -> float:
        """The quantity, checked."""
        found = self.value(t, q, v) if isinstance(self.value, ca.Function) else self.value(t, q.copy(), v.copy())
        try:
            number = float(np.asarray(found, dtype=float).item())
        except (TypeError, ValueError, OverflowError):
            raise ModelError(f"event '{self.name}': at {t:g} s the value is {said(found)}, expected a number") from None
        if not np.isfinite(number):
            raise ModelError(f"event '{self.name}': at {t:g} s the value is {number}, expected a finite number")
        return number


def listed_events(events: Sequence[Event]) -> tuple[Event, ...]:
    """The user's events, checked to be such."""
    return all_of(Event, "simulate: events", events, "a list of Event", "Event")


class Happening(NamedTuple):
    """An event that took place: time, s, and the state there."""

    name: str
    time: float
    q: np.ndarray
    v: np.ndarray


# The state after a step of a length from where a step began.
Reach: TypeAlias = Callable[[float], tuple[np.ndarray, np.ndarray]]


class Watch:
    """Looks for events from one state to the next."""

    def __init__(self, events: Sequence[Event], t: float, q: np.ndarray, v: np.ndarray):
        self.events, self.found = tuple(events), list[Happening]()
        self.levels = [event.at(t, q, v) for event in self.events]

    def look(self, t: float, h: float, reach: Reach, q: np.ndarray, v: np.ndarray) -> Happening | None:
        """What happens first, if it ends the run, in the step of length h from t to (q, v); the rest is noted."""
        levels = [event.at(t + h, q, v) for event in self.events]
        here = [
            self._located(event, before, t, h, reach)
            for event, before, after in zip(self.events, self.levels, levels)
            if np.sign(after) != np.sign(before) and before and np.sign(after - before) in DIRECTIONS[event.direction]
        ]
        here.sort(key=lambda pair: pair[1].time)
        last = next((happening for event, happening in here if event.stops), None)
        self.found += [happening for _, happening in here if last is None or happening.time <= last.time]
        self.levels = levels
        return last

    @staticmethod
    def _located(event: Event, before: float, t: float, h: float, reach: Reach) -> tuple[Event, Happening]:
        from scipy.optimize import brentq

        def level(length: float) -> float:
            return before if length == 0.0 else event.at(t + length, *reach(length))

        length = brentq(level, 0.0, h, xtol=1e-14 * max(1.0, t), rtol=8.9e-16, maxiter=200)
        return event, Happening(event.name, t + length, *reach(length))
