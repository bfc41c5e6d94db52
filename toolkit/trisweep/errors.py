"""Every exception that Trisweep raises for misuse: a sentence with the object, its value and what was expected.

Mathematics that fails is no exception but a status, see `trisweep.ocp`. This file imports nothing of ours, and every
room may import it.
"""

from reprlib import Repr

_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 60


def said(value: object) -> str:
    """What was given, for a sentence: in few characters, whatever it is."""
    try:
        return " ".join(_SHORT.repr(value).split())
    except Exception:  # such as an integer of more digits than Python writes
        return f"a {type(value).__name__}"


class TrisweepError(ValueError):
    """The base of all of them: `except TrisweepError` catches whatever was said wrongly."""


class ModelError(TrisweepError):
    """A robot, a state of it or a constraint on it is wrong."""


class ProblemError(TrisweepError):
    """An optimal-control or linear-quadratic problem, or what was given to solve it, is wrong."""


class NodeError(TrisweepError):
    """An implicit node or its derivatives are misused."""


class CompileError(TrisweepError):
    """A function cannot be turned into machine code."""
