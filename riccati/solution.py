"""The answer to a linear-quadratic problem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from ..cached import cached_property
from .problem import Array


class Gain(NamedTuple):
    """The optimal feedback u = K x + k of one stage: K (nu, nx), k (nu,)."""

    K: Array
    k: Array


class CostToGo(NamedTuple):
    """1/2 x' P x + p' x + constant on the states of one stage that satisfy Gx x + g = 0.

    P (nx, nx), p (nx,), and the rows that the stages below leave on x: Gx (rows, nx), g (rows,).
    """

    P: Array
    p: Array
    Gx: Array
    g: Array


ADVICE = {
    "solved": "",
    "indefinite": "the reduced Hessian is not positive definite there: add curvature to the controls (R) or states (Q) "
    "that no equality determines; where there is enough, equalities from there on nearly depend on each other",
    "inconsistent": "the equalities of these stages, with the dynamics between them, contradict each other: "
    "relax or remove one of them",
    "inaccurate": "the KKT residual stayed above tolerance after a step of refinement: the data are too badly scaled "
    "or too close to singular for double precision",
}


@dataclass(frozen=True)
class LQSolution:
    """One vector a stage of everything; all NaN unless the status is "solved" or "inaccurate".

    status: "solved", "indefinite", "inconsistent" or "inaccurate"
    stages_at_fault: the stages whose equalities contradict each other, or the one that lacks curvature
    x, u: states (nx,) and controls (nu,)
    costates: multipliers of each edge's dynamics, and of the initial state at the root (empty where it is free)
    multipliers: multipliers of each stage's equalities; zero on rows that the others imply
    residual: the KKT residual recomputed from the problem's data, relative to its largest terms; the worst of
        stationarity, dynamics and equalities in `residuals`
    objective: the cost
    refined: whether a step of iterative refinement was taken
    """

    status: str
    stages_at_fault: tuple[int, ...]
    x: list[Array]
    u: list[Array]
    costates: list[Array]
    multipliers: list[Array]
    objective: float
    residuals: dict[str, float]
    refined: bool
    _read: Callable[[], tuple[list[Gain], list[CostToGo]]] = field(repr=False, compare=False)

    @property
    def residual(self) -> float:
        return max(self.residuals.values())

    @property
    def advice(self) -> str:
        """One sentence on what to change; empty where there is nothing to."""
        return ADVICE[self.status]

    @cached_property
    def _sweep(self) -> tuple[list[Gain], list[CostToGo]]:
        return self._read()

    @property
    def gains(self) -> list[Gain]:
        """The optimal feedback u = K x + k of every stage."""
        return self._sweep[0]

    @property
    def cost_to_go(self) -> list[CostToGo]:
        """P, p of every stage, and the constraint rows left on its state."""
        return self._sweep[1]

    def __str__(self) -> str:
        head = f"{self.status}: objective {self.objective:.9g}, KKT residual {self.residual:.1e}"
        if self.status == "solved":
            return head
        where = f"stage{'s' * (len(self.stages_at_fault) > 1)} {', '.join(map(str, self.stages_at_fault))}"
        return f"{self.status}{' at ' + where if self.stages_at_fault else ''}: {self.advice}"
