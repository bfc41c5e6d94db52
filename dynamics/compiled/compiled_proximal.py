"""The proximal methods as machine code that is called until it has converged.

A call is a factorization and so many iterations as the first states that came needed, in one piece of straight code.
States that have not converged by then are handed in again with the forces they have reached, which goes on where they
were left; few ever are. Those that do not arrive in this way either are solved by numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ...errors import ModelError
from ..algebra.arrays import Array
from ..constraints.constraint import Constraint
from ..forward_problem import forward_problem
from ..methods import DEFAULT_PROXIMAL, PROXIMAL, contradicting, named
from ..proximal.default_mu import weight
from ..proximal.error_estimate import error_estimate
from ..proximal.iteration import Iterate, run
from ..proximal.settings import CONTRADICTION, NUMERIC, Proximal, ProximalReport
from .machine_code import Expression, MachineCode, checked, grouped, put

if TYPE_CHECKING:
    from ..model import Model

# States that are tried to find the iterations of a call, and their least and most.
SAMPLES, FEWEST, MOST = 5, 2, 12

# How often states are handed in again before a longer code is made for them, and the iterations of that.
RETRIES, AFTER = 2, 12


class ProximalCode:
    """The machine code of a proximal method for one model, constraints and settings, with forces on some links."""

    def __init__(
        self,
        model: Model,
        constraints: tuple[Constraint, ...],
        method: str | None,
        settings: Proximal,
        links: tuple[str, ...],
    ):
        self.model, self.constraints, self.settings, self.links = model, constraints, settings, links
        self.kind = named(PROXIMAL, method or DEFAULT_PROXIMAL)
        self.mu = settings.mu or weight(model, constraints, self.kind.stiffness)
        ends = [0, *np.cumsum([row.size for row in constraints]).tolist()]
        self.ends, self.slices = ends[1:-1], [slice(*pair) for pair in pairwise(ends)]
        pushes = {f"external force on '{link}'": 6 for link in links}
        self.arguments = {"q": model.nq, "v": model.nv, "tau": model.nv} | pushes
        self.limit = settings.iterations or NUMERIC
        self.at_rest = np.zeros(ends[-1])
        self.first: int | None = None
        self.codes: dict[int, ProximalCall] = {}

    @property
    def call(self) -> ProximalCall | None:
        """The call that solves most states, once it is known how many iterations it takes."""
        return self.codes.get(self.first) if self.first else None

    def __call__(self, out: Any, *given: ArrayLike) -> Any:
        """Accelerations, and a tuple of each constraint's forces, by as many calls as it takes."""
        a, forces, report = self.report(given, None)
        right = np.logical_and(report.converged, report.met)
        if not np.all(right):
            first = np.ravel(report.residual)[np.argmin(right)]
            raise ModelError(contradicting(self.constraints, self.kind.name, float(first)))
        return grouped((0, len(forces)), put(out, (a, *forces)))

    def report(
        self, given: Sequence[ArrayLike], forces: Sequence[ArrayLike] | None
    ) -> tuple[np.ndarray, tuple[np.ndarray, ...], ProximalReport]:
        """Accelerations, forces and report of one state or a batch, from forces to start from."""
        arrays = [*checked(self.model, self.arguments, given), _stacked(self.constraints, forces)]
        a, reached, iterations, judged = self.solve([np.atleast_2d(array) for array in arrays])
        error, residual, missed = judged.T
        converged = error <= self.settings.tolerance
        parts = tuple(reached[:, part] for part in self.slices)
        if any(array.ndim == 2 for array in arrays):
            return a, parts, ProximalReport(self.kind.name, self.mu, iterations, residual, error, converged, missed)
        numbers = int(iterations[0]), float(residual[0]), float(error[0]), bool(converged[0]), float(missed[0])
        return a[0], tuple(part[0] for part in parts), ProximalReport(self.kind.name, self.mu, *numbers)

    def _iterate(self, q: Array, v: Array, tau: Array, pushes: Sequence[Array], forces: Sequence[Array]) -> Iterate:
        """A solve at its beginning."""
        bodies = self.model.on_bodies(dict(zip(self.links, pushes)))
        problem = forward_problem(self.model, q, v, tau, self.constraints, bodies)
        return Iterate(self.kind, problem, self.mu, forces, self.settings.steps)

    def _whole(self, columns: Sequence[np.ndarray]) -> tuple[Any, ...]:
        """One state by numbers, in one go: conjugate steps that begin anew with every call may never arrive."""
        q, v, tau, *pushes, start = columns
        iterate = self._iterate(q, v, tau, pushes, np.split(start, self.ends))
        report = run(iterate, self.settings)
        error = min(report.error, self.settings.tolerance) if report.converged else report.error
        vectors = (np.ravel(part) for part in (iterate.a, iterate.force, iterate.settled()))
        return (*vectors, np.array([error, report.residual, report.missed]), report.iterations)

    def _needed(self, rows: list[np.ndarray]) -> int:
        """The most iterations that the first few states need."""
        most = FEWEST
        for n in range(min(SAMPLES, max(map(len, rows)))):
            q, v, tau, *pushes, start = (row[n % len(row)].reshape(-1, 1) for row in rows)
            iterate = self._iterate(q, v, tau, pushes, np.split(start, self.ends))
            run(iterate, replace(self.settings, iterations=MOST))
            most = max(most, iterate.count)
        return min(most, self.limit)

    def solve(self, rows: list[np.ndarray]) -> tuple[np.ndarray, ...]:
        """Accelerations, forces, iterations and (error, residual, missed) for rows of q, v, tau, external forces and
        forces to start from.
        """
        self.first = self.first or self._needed(rows)
        a, reached, settled, judged = self._call(self.first, rows)
        error, done = judged[:, 0], self.first
        iterations = np.full(len(a), done)
        while done < self.limit and (late := ~(error <= self.settings.tolerance)).any():
            more = min(self.first if done <= RETRIES * self.first else AFTER, self.limit - done)
            again = [array if len(array) == 1 else array[late] for array in rows[:-1]] + [reached[late]]
            a[late], reached[late], settled[late], judged[late] = self._call(more, again)
            error, done = judged[:, 0], done + more
            iterations[late] = done
        if done > self.first and self.settings.steps == "conjugate":
            for state in np.flatnonzero(~(error <= self.settings.tolerance)).tolist():
                a[state], reached[state], settled[state], judged[state], iterations[state] = self._whole(
                    [row[state % len(row)].reshape(-1, 1) for row in rows]
                )
        if not (np.isfinite(a).all() and np.isfinite(reached).all()):
            state = int(np.argmin(np.isfinite(a).all(axis=1) & np.isfinite(reached).all(axis=1)))
            raise ModelError(
                f"compiled proximal_dynamics: state {state} gives a result that is not finite, expected every joint to "
                "move some mass and numbers of a sensible size"
            )
        return (
            a,
            np.where((error <= self.settings.tolerance)[:, None], settled, reached),
            iterations,
            judged,
        )

    def _call(self, iterations: int, rows: list[np.ndarray]) -> tuple[np.ndarray, ...]:
        if iterations not in self.codes:
            sizes = self.arguments | {"forces to start from": len(self.at_rest)}
            self.codes[iterations] = ProximalCall(self, sizes, self._expression(iterations))
        a, *settled, reached, judged = self.codes[iterations].rows_of(*rows)
        return a, reached, np.concatenate(settled, axis=1), judged

    def _expression(self, iterations: int) -> Expression:
        """The symbols of a call: accelerations, settled forces, those reached, stacked, and what they are judged by."""

        def expression(q: ca.SX, v: ca.SX, tau: ca.SX, *rest: ca.SX) -> list[Array]:
            forces = ca.vertsplit(rest[-1], [0, *self.ends, rest[-1].shape[0]])
            iterate = self._iterate(q, v, tau, rest[:-1], forces)
            while iterate.count < iterations:
                iterate.advance()
            iterate.refine()
            judged = ca.vertcat(error_estimate(*iterate.measures()), iterate.largest_residual(), iterate.missed())
            settled = ca.vertsplit(iterate.settled(), [0, *self.ends, len(self.at_rest)])
            return [iterate.a, *settled, iterate.force, judged]

        return expression


class ProximalCall(MachineCode):
    """One call of a proximal method: its accelerations and forces where the state has converged by then."""

    def __init__(self, whole: ProximalCode, arguments: Mapping[str, int], expression: Expression):
        number = len(whole.constraints)
        judged = number + 2
        limits = [(judged, 0, whole.settings.tolerance), (judged, 2, CONTRADICTION)]
        fixed = [whole.at_rest.tolist()]
        super().__init__(whole.model, "proximal_dynamics", arguments, expression, (0, number), limits, fixed)
        self.whole = whole

    def carefully(self, out: Any, *given: ArrayLike) -> Any:
        """By as many calls as it takes."""
        return self.whole(out, *given)


def _stacked(constraints: Sequence[Constraint], forces: Sequence[ArrayLike] | None) -> np.ndarray:
    """Forces to start from (m,) or (count, m), checked."""
    if forces is None:
        return np.zeros(sum(row.size for row in constraints))
    if len(forces) != len(constraints):
        raise ModelError(f"forces has {len(forces)} entries, expected one for each of {len(constraints)} constraints")
    arrays = [np.asarray(force, dtype=float) for force in forces]
    for row, array in zip(constraints, arrays):
        if array.ndim not in (1, 2) or array.shape[-1] != row.size or not np.isfinite(array).all():
            raise ModelError(
                f"force of the constraint on '{row.link}' has shape {array.shape}, expected ({row.size},) or "
                f"(count, {row.size}) of numbers"
            )
    if any(array.ndim == 2 for array in arrays):
        count = max(len(np.atleast_2d(array)) for array in arrays)
        arrays = [np.broadcast_to(array, (count, array.shape[-1])) for array in arrays]
    return np.concatenate(arrays, axis=-1)
