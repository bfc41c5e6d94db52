"""A statement as bytes, for pickle: all phases of a motion, the nodes their expressions rest on, robots included.

CasADi's expressions pickle one by one at best, and then every copy of a symbol is another symbol. So all expressions of
a statement go together, as the outputs of one function of all their symbols; in the pickle stand their numbers. What
was derived from the statement, and is derived again where it is wanted, stays behind.
"""

from __future__ import annotations

import copyreg
import io
import pickle
from typing import Any

import casadi as ca

from ...adjoint import keep
from ...cached import cached_property
from ...errors import ProblemError
from .links import lineage
from .problem import Problem


def pack(problem: Problem) -> tuple[Any, ...]:
    """What makes the problem again, as `__reduce__` has it."""
    phases = _phases(lineage(problem)[0])
    try:
        content, expressions = _packed(phases)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ProblemError(
            f"pickle: problem '{problem.name}' rests on something that does not pickle ({error}), expected nodes whose "
            "solutions are expressions or functions of a module"
        ) from None
    return _unpacked, (content, expressions, phases.index(problem))


def _phases(problem: Problem) -> list[Problem]:
    return [problem, *(phase for link in problem.links for phase in _phases(link.phase))]


def _expressions(phases: list[Problem]) -> list[ca.SX]:
    """Wherever a node's unknowns may stand."""
    found = [ca.SX(0, 1)]
    for phase in phases:
        found += [term.expression for term in phase.terms]
        found += [*phase.dynamics.values(), *(value for link in phase.links for value in link.entry.values())]
    return found


class _Packer(pickle.Pickler):
    """Puts numbers in the place of expressions, and leaves out what was derived."""

    def __init__(self, buffer: io.BytesIO):
        super().__init__(buffer, pickle.HIGHEST_PROTOCOL)
        self.expressions: list[ca.SX] = []
        self._numbers: dict[int, int] = {}

    def persistent_id(self, thing: Any) -> int | None:
        if not isinstance(thing, ca.SX):
            return None
        if id(thing) not in self._numbers:
            self._numbers[id(thing)] = len(self.expressions)
            self.expressions.append(thing)
        return self._numbers[id(thing)]

    def reducer_override(self, thing: Any) -> Any:
        kind = type(thing)
        derived = {n for each in kind.__mro__ for n, part in vars(each).items() if isinstance(part, cached_property)}
        if not isinstance(thing, Problem) and (not derived or hasattr(kind, "__setstate__")):
            return NotImplemented
        state = {name: part for name, part in vars(thing).items() if name not in derived}
        return copyreg.__newobj__, (kind,), state, None, None, _set_state  # type: ignore[attr-defined]


def _set_state(thing: Any, state: dict[str, Any]) -> None:
    thing.__dict__.update(state)


class _Unpacker(pickle.Unpickler):
    def __init__(self, buffer: io.BytesIO, expressions: list[ca.SX]):
        super().__init__(buffer)
        self._expressions = expressions

    def persistent_load(self, number: int) -> ca.SX:
        return ca.SX(self._expressions[number])


def _packed(phases: list[Problem]) -> tuple[bytes, str]:
    buffer = io.BytesIO()
    packer = _Packer(buffer)
    packer.dump(phases)
    everything = packer.expressions
    symbols = ca.vertcat(ca.SX(0, 1), *ca.symvar(ca.veccat(ca.SX(0, 1), *everything)))
    return buffer.getvalue(), ca.Function("statement", [symbols], everything).serialize()


def _unpacked(content: bytes, expressions: str, which: int) -> Problem:
    function = ca.Function.deserialize(expressions)
    phases = _Unpacker(io.BytesIO(content), function.call(function.sx_in())).load()
    keep(*_expressions(phases))
    return phases[which]
