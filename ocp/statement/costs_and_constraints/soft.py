"""Soft limits: what is beyond them has a price."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ....errors import ProblemError, said
from ....floats import floats


@dataclass(frozen=True)
class Soft:
    """The price of an excess e beyond a limit: linear e + quadratic e^2 / 2, numbers or one for each row.

    A linear price above the multiplier that the limit would have if it were hard keeps the limit, where it can be kept.
    """

    linear: ArrayLike = 0.0
    quadratic: ArrayLike = 0.0


@dataclass(frozen=True, eq=False)
class Price:
    """Of every row (size,), linear and quadratic."""

    linear: np.ndarray
    quadratic: np.ndarray


def checked_price(where: str, size: int, soft: Any) -> Price:
    """The price of `size` rows as the user gave it: a `Soft`, or the linear price alone."""
    given = soft if isinstance(soft, Soft) else Soft(linear=soft)
    parts = []
    for name, value in (("linear", given.linear), ("quadratic", given.quadratic)):
        try:
            numbers = floats(value)
        except TypeError:
            raise ProblemError(f"{where}: soft has a {name} price {said(value)}, expected a number") from None
        if numbers.shape not in ((), (1,), (size,)):
            raise ProblemError(
                f"{where}: soft has {name} prices of shape {numbers.shape}, expected a number or {size} of them"
            )
        if not (np.isfinite(numbers).all() and (numbers >= 0).all()):
            raise ProblemError(f"{where}: soft has a {name} price of {said(value)}, expected 0 or more, finite")
        parts.append(np.broadcast_to(numbers, (size,)).copy())
    if not ((parts[0] > 0) | (parts[1] > 0)).all():
        raise ProblemError(f"{where}: soft has no price for a row, expected a linear or a quadratic one above 0")
    return Price(*parts)
