"""What a back end is to a solver: it is asked for a point with its multipliers, and says how it came there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ..answer.iteration import Iteration
from ..answer.statistics import Statistics
from ..answer.status import Status
from ..judge.residual import Measured, Point
from ..stages.limit_vectors import LimitVectors
from .settings import Settings

Watcher = Callable[[Iteration], bool]  # sees every iteration; true asks for an end


@dataclass(frozen=True, eq=False)
class Request:
    """A solve: start is where from, with multipliers and the barrier they speak of if `warm`; otherwise, if that is too
    far from the problem, from `fallback`.
    """

    start: Point
    warm: bool
    limits: LimitVectors
    settings: Settings
    watcher: Watcher | None
    fallback: Point | None = None


@dataclass(frozen=True, eq=False)
class Outcome:
    """How a solve ended, in the vectors of `layout` and the units of the statement.

    gains: K (nu, nx) by rows of every stage, NaN where they are not known.
    fault: block, stage and row (-1: a derivative) that was not finite.
    """

    status: Status
    point: Point
    gains: np.ndarray
    statistics: Statistics
    records: list[Iteration] = field(default_factory=list)
    fault: tuple[int, int, int] = (-1, -1, -1)


class Backend(Protocol):
    """Ready to solve one problem. code: what was made of the statement, for one like it in another process, where it
    pickles; None: it is to be made anew there.
    """

    @property
    def code(self) -> Any: ...

    def run(self, request: Request) -> Outcome:
        """Solve."""
        ...

    def error(self, point: Point, limits: LimitVectors) -> float:
        """The largest error of the KKT conditions at a point relative to their terms, computed again apart from the
        solve; NaN where `judge` alone knows it.
        """
        ...

    def judge(self, point: Point, limits: LimitVectors) -> Measured:
        """The KKT conditions at a point, computed again apart from the solve."""
        ...

    def renew(self) -> None:
        """Forget what a solve may be in the middle of: this process is a fork, and that solve goes on elsewhere."""
        ...
