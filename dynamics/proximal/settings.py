"""What a proximal solve is told, and what it tells of how it went."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import ModelError, said
from ..given import positive

MOST_ITERATIONS = 10**6


@dataclass(frozen=True)
class Proximal:
    """Settings of the proximal methods.

    mu: weight of the constraints, kg (Sathya 2025's; Pinocchio's is its inverse). None: `stiffness` of the method
    over the largest eigenvalue of J M^-1 J' at a few configurations of the model.
    iterations: at most; of symbols exactly so many. None: 200, of symbols 4.
    tolerance: of the accelerations, relative to the largest or to 1.
    steps: "conjugate", or "plain" for the papers' own, which need many more where the mechanism is near singular.
    """

    mu: float | None = None
    iterations: int | None = None
    tolerance: float = 1e-10
    steps: str = "conjugate"

    def __post_init__(self) -> None:
        if self.mu is not None:
            positive("Proximal: mu", self.mu, "a number more than 0, or None")
        whole = isinstance(self.iterations, (int, np.integer)) and not isinstance(self.iterations, bool)
        if self.iterations is not None and not (whole and 1 <= self.iterations <= MOST_ITERATIONS):
            raise ModelError(f"Proximal: iterations is {said(self.iterations)}, expected at least 1, or None; at most "
                             f"{MOST_ITERATIONS}")  # fmt: skip
        positive("Proximal: tolerance", self.tolerance)
        if not isinstance(self.steps, str) or self.steps not in ("conjugate", "plain"):
            raise ModelError(f"Proximal: steps is {said(self.steps)}, expected 'conjugate' or 'plain'")


DEFAULT = Proximal()

# Iterations at most on numbers, and exactly on symbols, where `Proximal` does not say.
NUMERIC, SYMBOLIC = 200, 4


# What rows may lack of being met, beside the largest acceleration or demand or 1, before they are said to contradict
# each other: well above the rounding of velocity terms, well below what a solve leaves.
CONTRADICTION = 1e-9


@dataclass(frozen=True)
class ProximalReport:
    """How a proximal solve went; of a batch the last five are arrays (count,).

    residual: max |k - J a|, computed from the accelerations; what contradictory rows leave of it no force can change.
    error: an estimate of the accelerations', relative to the largest or to 1.
    converged: whether that is within the tolerance; of rows that contradict each other, or nearly depend on each other,
    to least squares.
    missed: the residual beside the largest acceleration or demand or 1.
    """

    method: str
    mu: float
    iterations: int | np.ndarray
    residual: float | np.ndarray
    error: float | np.ndarray
    converged: bool | np.ndarray
    missed: float | np.ndarray

    @property
    def met(self) -> bool | np.ndarray:
        """Whether the rows hold, but for rounding."""
        return self.missed <= CONTRADICTION
