"""Every choice of a solve, one field and one line each."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from ...errors import ProblemError, said
from ...native import core

BARRIERS = {"monotone": False, "adaptive": True}  # and whether the core chooses mu from iteration to iteration
MOST_THREADS = 256
DEFAULT = core.Settings()  # the core's defaults are everybody's: native/src/interior_point/settings.hpp
MOST_ITERATIONS = 10**9
MOST = {"tolerance": 0.1, "seconds": np.inf, "initial_barrier": 1e10}


@dataclass(frozen=True)
class Settings:
    """How hard, how long and from where to solve."""

    tolerance: float = DEFAULT.tolerance  # scaled KKT error of a solution
    iterations: int = DEFAULT.iterations  # at most
    seconds: float = np.inf  # at most
    initial_barrier: float = DEFAULT.initial_barrier  # mu at the start
    barrier: str = "monotone"  # or "adaptive": how mu falls
    patience: int = DEFAULT.patience  # short steps in a row before restoration; 0: where there is no step at all
    threads: int = DEFAULT.threads  # that evaluate the functions of the stages; the result does not depend on it
    log: bool = False  # print the table of iterations as they come

    def __new__(cls, *_: object, **given: object) -> Settings:
        known = [part.name for part in fields(cls)]
        for name in given:
            if name not in known:
                raise ProblemError(f"Settings: there is no setting '{name}'; the settings are {', '.join(known)}")
        return super().__new__(cls)

    def __post_init__(self) -> None:
        for name, most in MOST.items():
            value = getattr(self, name)
            if not _is_number(value) or not 0 < value <= most:
                limit = "" if most == np.inf else f" of at most {most:g}"
                raise ProblemError(f"Settings: {name} is {said(value)}, expected a positive number{limit}")
        for name, least, most in (
            ("iterations", 0, MOST_ITERATIONS),
            ("patience", 0, MOST_ITERATIONS),
            ("threads", 1, MOST_THREADS),
        ):
            value = getattr(self, name)
            if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or not least <= value <= most:
                raise ProblemError(f"Settings: {name} is {said(value)}, expected a number from {least} to {most}")
        if not isinstance(self.barrier, str) or self.barrier not in BARRIERS:
            expected = " or ".join(map(repr, BARRIERS))
            raise ProblemError(f"Settings: barrier is {said(self.barrier)}, expected {expected}")
        if not isinstance(self.log, bool):
            raise ProblemError(f"Settings: log is {said(self.log)}, expected True or False")


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
