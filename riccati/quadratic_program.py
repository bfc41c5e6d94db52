"""Convex quadratic programs on a tree: a linear-quadratic problem with limits on states, controls and rows of both.

    minimize    the objective of `LQProblem`      subject to its dynamics and equalities, and at every stage
                x_lower <= x <= x_upper,   u_lower <= u <= u_upper,   lower <= Cx x + Cu u <= upper

Mehrotra's predictor-corrector on the sweep (`native/src/interior_point/direction/predictor_corrector.hpp`). What is
said of an answer is computed again, from the data, in any units (`conditions.py`); the solver goes on until both agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import ProblemError, said
from ..floats import checked_floats
from ..native import core
from .conditions import QPResidual, StageRows, measure
from .problem import ARRAY, Array, CheckedStage, LQProblem, Stage

# A residual computed again may differ from the solver's by this factor: order of sums, and its room beyond the bounds.
SLACK = 10.0
ROUNDS, LEAST_TOLERANCE = 4, 1e-15  # of solving on where the conditions do not hold yet, and the solver's own then


@dataclass(frozen=True)
class StageLimits:
    """Limits of one stage; a number stands for all entries, what is left out has none.

    x_lower, x_upper (nx,), u_lower, u_upper (nu,), and rows Cx (nc, nx), Cu (nc, nu) with lower, upper (nc,).
    """

    x_lower: ArrayLike = -np.inf
    x_upper: ArrayLike = np.inf
    u_lower: ArrayLike = -np.inf
    u_upper: ArrayLike = np.inf
    Cx: ArrayLike | None = None
    Cu: ArrayLike | None = None
    lower: ArrayLike = -np.inf
    upper: ArrayLike = np.inf


@dataclass(frozen=True)
class QPSolution:
    """An answer: one entry a stage in each list.

    status: "solved", "infeasible", "unbounded", "iteration limit", "time limit", "not minimal" or "stalled".
    costates: multipliers of the edges (nx,); multipliers: of the equalities (ng,); row_multipliers: of the rows (nc,);
    x_multipliers, u_multipliers: of the limits. A positive one presses on an upper limit, a negative one on a lower.
    """

    status: str
    x: list[Array]
    u: list[Array]
    costates: list[Array]
    multipliers: list[Array]
    row_multipliers: list[Array]
    x_multipliers: list[Array]
    u_multipliers: list[Array]
    objective: float
    residual: QPResidual
    iterations: int
    seconds: float


class QP:
    """A convex quadratic program, ready to solve again and again.

    stages: as in `LQProblem`. limits: one `StageLimits` for all stages, or one (or None) for each.
    initial_state: (nx,) fixes the root's state, which then has no limits; None leaves it free.

    >>> from trisweep.riccati import QP, StageLimits, Stage
    >>> QP([Stage(Q=[[2.0]], q=[-4.0])], StageLimits(x_upper=1.0)).solve().x[0].round(6)
    array([1.])
    """

    def __init__(
        self,
        stages: Sequence[Stage],
        limits: StageLimits | Sequence[StageLimits | None] | None = None,
        initial_state: ArrayLike | None = None,
    ):
        self.problem = LQProblem(stages, initial_state)
        self._limits = _check_limits(self.problem, limits)
        self._stated = stages, limits
        checked, fixed = self.problem.stages, initial_state is not None
        self._nx = [0 if fixed and k == 0 else s.nx for k, s in enumerate(checked)]
        structure = core.Structure()
        structure.nx, structure.nu = self._nx, [s.nu for s in checked]
        structure.equalities = [s.ng for s in checked]
        structure.inequalities = [len(rows.Cx) for rows in self._limits]
        structure.parent = [-1 if s.parent is None else s.parent for s in checked]
        structure.quadratic = True
        self._core = core.Solver(structure)
        for k in range(len(checked)):
            self._set_stage(k)
        bounds = [
            np.concatenate([part for r, nx in zip(self._limits, self._nx) for part in (r.u[side], r.x[side][:nx])])
            for side in (0, 1)
        ]
        rows = [np.concatenate([np.zeros(0), *(r.c[side] for r in self._limits)]) for side in (0, 1)]
        self._core.set_bounds(*bounds, *rows)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles as it was stated."""
        return QP, (*self._stated, self.problem.initial_state)

    def solve(
        self,
        warm_start: QPSolution | None = None,
        initial_state: ArrayLike | None = None,
        tolerance: float = 1e-8,
        iterations: int = 200,
        seconds: float = np.inf,
    ) -> QPSolution:
        """Solve, from an earlier solution where one is given.

        initial_state: another one than that of the statement, where this fixed it. tolerance: of the KKT conditions.
        """
        settings = _settings(tolerance, iterations, seconds)
        if warm_start is not None:
            self._check_start(warm_start)
        if initial_state is not None:
            self._move_root(initial_state)
        stages = self.problem.stages
        settings.warm_start = warm_start is not None
        sizes = [(s.nu, nx) for s, nx in zip(stages, self._nx)]
        if warm_start is None:
            self._core.set_guess(np.zeros(sum(map(sum, sizes))))
        else:
            self._set_start(warm_start)
        answer = self._answer(self._core.solve(settings))
        for _ in range(ROUNDS):
            if answer.status != "solved" or answer.residual.worst <= SLACK * tolerance:
                return answer
            answer = self._go_on(answer, settings, tolerance)
        held = answer.status != "solved" or answer.residual.worst <= SLACK * tolerance
        return answer if held else replace(answer, status="stalled")

    def _go_on(self, answer: QPSolution, settings: core.Settings, tolerance: float) -> QPSolution:
        """From an answer of which the solver thinks better than its residual says."""
        share = np.clip(tolerance / answer.residual.worst, 1e-4, 0.1) if np.isfinite(answer.residual.worst) else 0.1
        settings.tolerance, settings.warm_start = max(settings.tolerance * share, LEAST_TOLERANCE), True
        self._set_start(answer)
        better = self._answer(self._core.solve(settings))
        served = better.status == "solved" or better.residual.worst <= SLACK * tolerance
        found, status = (better, "solved") if served else (answer, "stalled")
        iterations, seconds = answer.iterations + better.iterations, answer.seconds + better.seconds
        return replace(found, status=status, iterations=iterations, seconds=seconds)

    def _set_stage(self, k: int) -> None:
        s, rows, root = self.problem.stages[k], self._limits[k], self.problem.initial_state
        H = np.block([[s.R, s.S.T], [s.S, s.Q]])
        h, G, C = np.concatenate([s.r, s.q]), np.hstack([s.Gu, s.Gx]), np.hstack([rows.Cu, rows.Cx])
        g, c, E, b = s.g, np.zeros(len(C)), s.E, np.zeros(0) if s.b is None else s.b
        if root is not None and k == 0:
            h, g, c = s.r + s.S.T @ root, s.g + s.Gx @ root, rows.Cx @ root
            H, G, C = s.R, s.Gu, rows.Cu
        elif root is not None and s.parent == 0 and s.A is not None and s.B is not None:
            E, b = s.B, b + s.A @ root
        self._core.set_quadratic(k, *(np.ascontiguousarray(part) for part in (H, h, G, g, C, c, E, b)))

    def _move_root(self, state: ArrayLike) -> None:
        if self.problem.initial_state is None:
            raise ProblemError("solve: initial_state is given, but the root of this QP is free; expected None")
        vectors = replace(self.problem.right_hand_side, initial_state=state)
        self.problem = self.problem.with_right_hand_side(vectors)
        for k, s in enumerate(self.problem.stages):
            if k == 0 or s.parent == 0:
                self._set_stage(k)

    def _check_start(self, start: QPSolution) -> None:
        if not isinstance(start, QPSolution):
            raise ProblemError(f"solve: warm_start is {said(start)}, expected a QPSolution")
        if [len(x) for x in start.x] != [s.nx for s in self.problem.stages]:
            raise ProblemError("solve: warm_start is the solution of another QP: its states have other sizes")
        parts = (start.x, start.u, start.costates, start.multipliers, start.row_multipliers)
        if not all(
            np.isfinite(part).all() for kind in (*parts, start.x_multipliers, start.u_multipliers) for part in kind
        ):
            raise ProblemError("solve: warm_start has an entry that is not finite, expected numbers")

    def _set_start(self, start: QPSolution) -> None:
        first = len(start.x[0]) - self._nx[0]
        x, wx = [start.x[0][first:], *start.x[1:]], [start.x_multipliers[0][first:], *start.x_multipliers[1:]]
        self._core.set_guess(np.concatenate([part for pair in zip(start.u, x) for part in pair]))
        y = np.concatenate([np.zeros(0), *start.costates[1:], *start.multipliers, *start.row_multipliers])
        self._core.set_multipliers(y, np.concatenate([part for pair in zip(start.u_multipliers, wx) for part in pair]))

    def _answer(self, result: core.Result) -> QPSolution:
        stages, root = self.problem.stages, self.problem.initial_state
        sizes = [size for s, nx in zip(stages, self._nx) for size in (s.nu, nx)]
        z, w = _cut(result.z, sizes), _cut(result.w, sizes)
        u, x, wu, wx = z[::2], z[1::2], w[::2], w[1::2]
        kinds = [self._nx[1:], [s.ng for s in stages], [len(rows.Cx) for rows in self._limits]]
        y = _cut(result.y, [size for kind in kinds for size in kind])
        n = len(stages)
        costates, multipliers, row_multipliers = [np.zeros(0), *y[: n - 1]], y[n - 1 : 2 * n - 1], y[2 * n - 1 :]
        if root is not None:
            x[0], wx[0] = root.copy(), np.zeros(len(root))
        answer = QPSolution(
            result.status.name.replace("_", " "), x, u, costates, multipliers, row_multipliers, wx, wu,
            self.problem.objective(x, u), QPResidual(*[np.nan] * 5), result.iterations, result.seconds,
        )  # fmt: skip
        residual, slope = measure(self.problem, self._limits, answer)
        if root is not None:
            costates[0] = slope[stages[0].nu :][: len(root)]
        return replace(answer, residual=residual)


def _settings(tolerance: float, iterations: int, seconds: float) -> core.Settings:
    for name, value, most in (("tolerance", tolerance, 0.1), ("seconds", seconds, np.inf)):
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float | np.integer | np.floating)
            or not 0 < value <= most
        ):
            raise ProblemError(f"solve: {name} is {said(value)}, expected a positive number of at most {most:g}")
    if isinstance(iterations, bool) or not isinstance(iterations, int | np.integer) or not 0 <= iterations <= 10**9:
        raise ProblemError(f"solve: iterations is {said(iterations)}, expected a whole number from 0 to 1e9")
    settings = core.Settings()
    settings.tolerance, settings.iterations, settings.seconds = float(tolerance), int(iterations), min(seconds, 1e9)
    return settings


def _check_limits(problem: LQProblem, limits: StageLimits | Sequence[StageLimits | None] | None) -> list[StageRows]:
    stages, fixed = problem.stages, problem.initial_state is not None
    if limits is None or isinstance(limits, StageLimits):
        alike = limits or StageLimits()
        root = replace(alike, x_lower=-np.inf, x_upper=np.inf) if fixed else alike
        return [_check(k, s, root if k == 0 else alike) for k, s in enumerate(stages)]
    if not isinstance(limits, Sequence):
        raise ProblemError(f"limits is {said(limits)}, expected StageLimits(...), or a list of them")
    if len(limits) != len(stages):
        raise ProblemError(f"limits has {len(limits)} entries, expected one for each of the {len(stages)} stages")
    found = [_check(k, s, each or StageLimits()) for k, (s, each) in enumerate(zip(stages, limits))]
    if fixed and not (np.isneginf(found[0].x[0]).all() and np.isposinf(found[0].x[1]).all()):
        raise ProblemError("stage 0: its state is fixed by initial_state, but has limits; expected none")
    return found


def _check(k: int, s: CheckedStage, limits: StageLimits) -> StageRows:
    where = f"limits of stage {k}"
    if not isinstance(limits, StageLimits):
        raise ProblemError(f"{where}: {limits!r}, expected StageLimits(...) or None")
    parts = {"Cx": limits.Cx, "Cu": limits.Cu}
    matrices = [checked_floats(f"{where}: {name}", C, ARRAY) for name, C in parts.items() if C is not None]
    count = len(np.atleast_2d(matrices[0])) if matrices else 0
    Cx = _matrix(f"{where}: Cx", limits.Cx, (count, s.nx))
    Cu = _matrix(f"{where}: Cu", limits.Cu, (count, s.nu))

    def pair(low: str, high: str, size: int) -> tuple[Array, Array]:
        lower, upper = (_spread(f"{where}: {name}", getattr(limits, name), size) for name in (low, high))
        if (lower > upper).any():
            i = int(np.argmax(lower > upper))
            raise ProblemError(f"{where}: {low}[{i}] is {lower[i]:g}, above {high}[{i}], which is {upper[i]:g}")
        return lower, upper

    x, u = pair("x_lower", "x_upper", s.nx), pair("u_lower", "u_upper", s.nu)
    return StageRows(x, u, Cx, Cu, pair("lower", "upper", count))


def _matrix(where: str, value: ArrayLike | None, shape: tuple[int, int]) -> Array:
    array = np.zeros(shape) if value is None else checked_floats(where, value, ARRAY)
    if array.shape != shape:
        raise ProblemError(f"{where} has shape {array.shape}, expected {shape}")
    if not np.isfinite(array).all():
        raise ProblemError(f"{where} has an entry that is not finite")
    return array


def _spread(where: str, value: ArrayLike, size: int) -> Array:
    array = checked_floats(where, value, ARRAY)
    if array.shape not in ((), (size,)):
        raise ProblemError(f"{where} has shape {array.shape}, expected a number or ({size},)")
    if np.isnan(array).any():
        raise ProblemError(f"{where} has an entry that is NaN")
    return np.broadcast_to(array, (size,)).copy()


def _cut(flat: Array, sizes: list[int]) -> list[Array]:
    return [part.copy() for part in np.split(flat, np.cumsum(sizes)[:-1])] if sizes else []
