"""Every choice of a solve, one field and one line each."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from ...errors import ProblemError
from ...native import core

BARRIERS = {"monotone": False, "adaptive": True}  # and whether the core chooses mu from iteration to iteration
MOST_THREADS = 256
DEFAULT = core.Settings()  # the core's defaults are everybody's: native/src/interior_point/settings.hpp


@dataclass(frozen=True)
class Settings:
    """How hard, how long and from where to solve."""

    tolerance: float = DEFAULT.tolerance  # scaled KKT error of a solution
    iterations: int = DEFAULT.iterations  # at most
    seconds: float = np.inf  # at most
    initial_barrier: float = DEFAULT.initial_barrier  # mu at the start
    barrier: str = "monotone"  # or "adaptive": how mu falls
    threads: int = DEFAULT.threads  # that evaluate the functions of the stages; the result does not depend on it
    log: bool = False  # print the table of iterations as they come

    def __new__(cls, *_: object, **given: object) -> Settings:
        known = [part.name for part in fields(cls)]
        for name in given:
            if name not in known:
                raise ProblemError(f"Settings: there is no setting '{name}'; the settings are {', '.join(known)}")
        return super().__new__(cls)

    def __post_init__(self) -> None:
        for name in ("tolerance", "seconds", "initial_barrier"):
            value = getattr(self, name)
            if not (isinstance(value, (int, float)) and value > 0):
                raise ProblemError(f"Settings: {name} is {value!r}, expected a positive number")
        if not isinstance(self.iterations, int) or self.iterations < 0:
            raise ProblemError(f"Settings: iterations is {self.iterations!r}, expected a whole number of at least 0")
        if self.barrier not in BARRIERS:
            expected = " or ".join(map(repr, BARRIERS))
            raise ProblemError(f"Settings: barrier is {self.barrier!r}, expected {expected}")
        if type(self.threads) is not int or not 1 <= self.threads <= MOST_THREADS:
            raise ProblemError(f"Settings: threads is {self.threads!r}, expected a number from 1 to {MOST_THREADS}")
        if not isinstance(self.log, bool):
            raise ProblemError(f"Settings: log is {self.log!r}, expected True or False")
