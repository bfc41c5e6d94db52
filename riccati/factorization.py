"""The door to the C++ core: a problem's matrices factored once, solved for many right-hand sides."""

from __future__ import annotations

from threading import Lock

import numpy as np

from ..errors import ProblemError
from ..native import core
from .problem import Array, LQProblem, RightHandSide
from .solution import CostToGo, Gain, LQSolution

# An equality takes part in a contradiction when its weight times the size of its row exceeds this share of the largest.
CONFLICT_SHARE = 1e-6


def factorize(problem: LQProblem) -> Factorization:
    """Factor the matrices of a problem.

    >>> from trisweep.riccati import LQProblem, Stage, factorize
    >>> factorize(LQProblem([Stage(Q=[[2.0]], q=[-4.0])])).solve().x[0]
    array([2.])
    """
    return Factorization(problem)


class Factorization:
    """The factored matrices of a problem. Where the reduced Hessian is not positive definite, solutions say so.

    Safe to use from several threads: one solve at a time goes through the core.
    """

    def __init__(self, problem: LQProblem):
        if not isinstance(problem, LQProblem):
            raise ProblemError(f"factorize takes an LQProblem, got a {type(problem).__name__}")
        self.problem = problem
        stages = problem.stages
        self._core = core.Riccati(
            [s.nx for s in stages],
            [s.nu for s in stages],
            [s.ng for s in stages],
            [-1 if s.parent is None else s.parent for s in stages],
            problem.initial_state is None,
        )
        for k, s in enumerate(stages):
            H = np.block([[s.R, s.S.T], [s.S, s.Q]])
            self._core.set_stage(k, H, np.hstack([s.Gu, s.Gx]), s.E)
        self._lock = Lock()
        failed = self._core.factor()
        self._indefinite: tuple[int, ...] = (failed,) if failed >= 0 else ()

    def solve(self, right_hand_side: RightHandSide | None = None) -> LQSolution:
        """Solve for the problem's own vectors, or for others with the same shapes."""
        problem = self.problem
        if right_hand_side is not None:
            problem = problem.with_right_hand_side(right_hand_side)
        if self._indefinite:
            return _unsolved(problem, "indefinite", self._indefinite)
        stages = problem.stages
        with self._lock:
            self._set_vectors(problem)
            status, residuals, refined = self._core.solve()
            if status == "inconsistent":
                return _unsolved(problem, status, self._stages_in_conflict())
            all_u, all_x, all_costates, all_multipliers = self._core.unknowns()
        nx = [s.nx for s in stages]
        x, u, costates = _cut(all_x, nx), _cut(all_u, [s.nu for s in stages]), _cut(all_costates, nx)
        if problem.initial_state is None:
            costates[0] = np.zeros(0)
        return LQSolution(
            status=status,
            stages_at_fault=(),
            x=x,
            u=u,
            costates=costates,
            multipliers=_cut(all_multipliers, [s.ng for s in stages]),
            objective=problem.objective(x, u),
            residuals=dict(zip(("stationarity", "dynamics", "equalities"), residuals)),
            refined=refined,
            _read=lambda: self._read(problem),
        )

    def _set_vectors(self, problem: LQProblem) -> None:
        stages = problem.stages
        self._core.set_vectors(
            np.concatenate([part for s in stages for part in (s.r, s.q)]),
            np.concatenate([np.zeros(0), *(s.b for s in stages if s.b is not None)]),
            np.concatenate([s.g for s in stages]),
            np.zeros(0) if problem.initial_state is None else problem.initial_state,
        )

    def _stages_in_conflict(self) -> tuple[int, ...]:
        stages = self.problem.stages
        weights = _cut(self._core.conflict(), [s.ng for s in stages])
        shares = [
            np.abs(w * np.abs(np.hstack([s.Gu, s.Gx])).max(1, initial=1e-300)).max(initial=0.0)
            for s, w in zip(stages, weights)
        ]
        return tuple(k for k, share in enumerate(shares) if share > CONFLICT_SHARE * max(shares))

    def _read(self, problem: LQProblem) -> tuple[list[Gain], list[CostToGo]]:
        """What the sweep holds for this right-hand side; another one, or a refinement, may have gone through since."""
        count = range(len(problem.stages))
        with self._lock:
            self._set_vectors(problem)
            self._core.sweep()
            gains = [Gain(*self._core.feedback(k)) for k in count]
            return gains, [CostToGo(*self._core.cost_to_go(k)) for k in count]


def _cut(flat: Array, sizes: list[int]) -> list[Array]:
    return np.split(flat, np.cumsum(sizes)[:-1])


def _unsolved(problem: LQProblem, status: str, stages: tuple[int, ...]) -> LQSolution:
    def unknown(sizes: list[int]) -> list[Array]:
        return [np.full(size, np.nan) for size in sizes]

    nx = [s.nx for s in problem.stages]
    costates = unknown(nx)
    gains = [Gain(np.full((s.nu, s.nx), np.nan), np.full(s.nu, np.nan)) for s in problem.stages]
    cost_to_go = [CostToGo(np.full((n, n), np.nan), np.full(n, np.nan), np.zeros((0, n)), np.zeros(0)) for n in nx]
    return LQSolution(
        status=status,
        stages_at_fault=stages,
        x=unknown(nx),
        u=unknown([s.nu for s in problem.stages]),
        costates=costates if problem.initial_state is not None else [np.zeros(0), *costates[1:]],
        multipliers=unknown([s.ng for s in problem.stages]),
        objective=np.nan,
        residuals=dict.fromkeys(("stationarity", "dynamics", "equalities"), np.nan),
        refined=False,
        _read=lambda: (gains, cost_to_go),
    )
