"""Every choice of a solve, one field and one line each."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from ...errors import ProblemError, said
from ...native import core

# Defaults, limits and rules are the core's: settings.hpp, barrier/barrier_rules.hpp, direction/curvature.hpp of
# native/src/interior_point.
DEFAULT, LIMITS = core.Settings(), core.Settings.limits()
RULES = {"barrier": core.BarrierRule, "curvature": core.CurvatureRule}
MOST_THREADS = int(LIMITS["threads"][1])


@dataclass(frozen=True)
class Settings:
    """How hard, how long and from where to solve."""

    tolerance: float = DEFAULT.tolerance  # scaled KKT error of a solution
    iterations: int = DEFAULT.iterations  # at most
    seconds: float = DEFAULT.seconds  # at most
    initial_barrier: float = DEFAULT.initial_barrier  # mu at the start; "adaptive" chooses another one at once
    barrier: str = DEFAULT.barrier.name  # "adaptive" or "monotone": how mu falls
    curvature: str = DEFAULT.curvature.name  # "damped" or "shifted": how a Hessian that curves down is met
    patience: int = DEFAULT.patience  # short steps in a row before restoration; 0: where there is no step at all
    threads: int = DEFAULT.threads  # that evaluate the functions of the stages; the result does not depend on it
    portfolio: bool = False  # other rules at the same time, on a second thread: the first to solve it has the answer
    log: bool = False  # print the table of iterations as they come

    def __new__(cls, *_: object, **given: object) -> Settings:
        known = [part.name for part in fields(cls)]
        for name in given:
            if name not in known:
                raise ProblemError(f"Settings: there is no setting '{name}'; the settings are {', '.join(known)}")
        return super().__new__(cls)

    def __post_init__(self) -> None:
        for name, (least, most) in LIMITS.items():
            value, is_count = getattr(self, name), isinstance(getattr(DEFAULT, name), int)
            if _is_number(value, is_count) and (least <= value <= most if is_count else least < value <= most):
                continue
            limit = "" if most == np.inf else f" of at most {most:g}"
            expected = f"a number from {least:.0f} to {most:.0f}" if is_count else f"a positive number{limit}"
            raise ProblemError(f"Settings: {name} is {said(value)}, expected {expected}")
        for name, rules in RULES.items():
            value, words = getattr(self, name), list(rules.__members__)
            if not isinstance(value, str) or value not in words:
                expected = " or ".join(map(repr, words))
                raise ProblemError(f"Settings: {name} is {said(value)}, expected {expected}")
        for name in ("portfolio", "log"):
            value = getattr(self, name)
            if not isinstance(value, bool):
                raise ProblemError(f"Settings: {name} is {said(value)}, expected True or False")


def _is_number(value: object, whole: bool) -> bool:
    kinds = (int, np.integer) if whole else (int, float, np.integer, np.floating)
    return isinstance(value, kinds) and not isinstance(value, bool)
