"""How a solve ended: the word, what it means and what to try. The only home of all three.

The core ends with the same words (native/src/interior_point/status.hpp); back ends translate theirs into these.
"""

from __future__ import annotations

from enum import Enum


class Status(str, Enum):
    """A word that compares equal to its text, `solution.status == "solved"`, with a sentence and an advice."""

    sentence: str
    advice: str

    def __new__(cls, word: str, sentence: str, advice: str) -> Status:
        status = str.__new__(cls, word)
        status._value_ = word
        status.sentence, status.advice = sentence, advice
        return status

    SOLVED = (
        "solved",
        "all conditions hold within the tolerance, computed again apart from the solver",
        "",
    )
    INFEASIBLE = (
        "infeasible",
        "the violation of the constraints is least here, and not zero",
        "no motion nearby meets all constraints: relax those named, or start from another guess",
    )
    ITERATION_LIMIT = (
        "iteration limit",
        "the iterations that were allowed are used up",
        "allow more iterations (Settings.iterations), or start from a better guess",
    )
    TIME_LIMIT = (
        "time limit",
        "the seconds that were allowed are used up",
        "allow more seconds (Settings.seconds), or start from a better guess",
    )
    INTERRUPTED = (
        "interrupted",
        "Ctrl-C or a callback asked for an end",
        "the last point is here: solve again with guess=solution to go on",
    )
    NOT_FINITE = (
        "not finite",
        "a function or a derivative of it is not a number at the guess or on the way",
        "keep the guess away from where the named term is not defined, if need be with limits on variables",
    )
    STALLED = (
        "stalled",
        "no step improves the point, or the check speaks against it",
        "no step improves the point: look for bad scaling, slopes that jump, constraints that repeat each other",
    )
    UNBOUNDED = (
        "unbounded",
        "variables have grown beyond all measure",
        "the variables grow without limit while the cost falls: add limits, or a cost on what grows",
    )
    NOT_MINIMAL = (
        "not minimal",
        "a saddle or a maximum: the first-order conditions hold, the second-order ones do not",
        "first-order conditions hold, but the cost curves down from here: start elsewhere, or add limits",
    )

    def __str__(self) -> str:
        return self.value

    def __format__(self, form: str) -> str:
        return format(self.value, form)

    @classmethod
    def named(cls, word: str) -> Status:
        """The status of this word; ValueError where there is none."""
        for status in cls:
            if status.value == word:
                return status
        raise ValueError(f"status {word!r}")
