"""Numbers and words as users give them to what runs for long: checked, each with a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import nan
from typing import TypeVar

import numpy as np

from ..errors import ModelError, said
from ..floats import floats

T = TypeVar("T")
G = TypeVar("G")


def number(value: object) -> float:
    """One number; NaN for whatever is none."""
    try:
        found = floats(value)
    except TypeError:
        return nan
    return nan if found.shape != () or isinstance(value, (bool, np.bool_, str)) else float(found)


def positive(what: str, value: object, expected: str = "more than 0") -> float:
    """One number, finite and more than 0."""
    found = number(value)
    if not (np.isfinite(found) and found > 0):
        raise ModelError(f"{what} is {said(value)}, expected {expected}")
    return found


def word(what: str, value: object, words: Iterable[str]) -> str:
    """One of these words."""
    known = tuple(words)
    if not isinstance(value, str) or value not in known:
        raise ModelError(f"{what} is {said(value)}, expected one of {', '.join(known)}")
    return value


def forces_on_links(given: Mapping[str, G]) -> dict[str, G]:
    """Forces by the links' names."""
    if isinstance(given, dict):
        return given
    if not isinstance(given, Mapping):
        raise ModelError(f"external is {said(given)}, expected a force (6,) for each name of a link")
    return dict(given)


def all_of(kind: type[T], what: str, given: Iterable[T], expected: str, each: str) -> tuple[T, ...]:
    """Things of one kind; expected: what messages call them all, and each of them."""
    try:
        found = tuple(given)
    except TypeError:
        raise ModelError(f"{what} is a {type(given).__name__}, expected {expected}") from None
    for one in found:
        if not isinstance(one, kind):
            raise ModelError(f"{what} holds {said(one)}, expected {each}")
    return found
