"""What a solve took."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Statistics:
    """Counts, and seconds: of the solve, in functions, in linear algebra; of the build before it."""

    iterations: int
    seconds: float
    seconds_functions: float
    seconds_linear: float
    evaluations: int
    differentiations: int
    factorizations: int
    build_seconds: float = 0.0

    @property
    def seconds_rest(self) -> float:
        return self.seconds - self.seconds_functions - self.seconds_linear
