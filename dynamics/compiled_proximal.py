"""The proximal methods as machine code that is called until it has converged.

A call is a factorization and a few iterations in one piece of straight code. States that have not converged by then
are handed in again with the forces they have reached, which goes on where they were left; most never need it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from .constraint import Constraint
from .errors import ModelError
from .forward import proximal_method
from .proximal import NUMERIC, Iterate, Proximal, ProximalReport, still_to_come, weight

if TYPE_CHECKING:
    from .compiled import Compiled

# Iterations in the first call, and in each one after it.
FIRST, AFTER = 3, 12


def proximal_dynamics(
    compiled: Compiled,
    inputs: dict[str, np.ndarray],
    constraints: tuple[Constraint, ...],
    method: str | None,
    settings: Proximal,
    forces: Sequence[np.ndarray] | None,
) -> tuple[np.ndarray, tuple[np.ndarray, ...], ProximalReport]:
    """Accelerations, forces and report of one state or a batch. inputs: q, v, tau and the external forces."""
    arrays = {name: compiled.checked(name, value) for name, value in inputs.items()}
    ends = np.cumsum([row.size for row in constraints])[:-1]
    start = _stacked(constraints, forces)
    batch = any(array.ndim == 2 for array in (*arrays.values(), start))
    rows = [np.atleast_2d(array) for array in (*arrays.values(), start)]
    count = max(len(array) for array in rows)
    kind = proximal_method(compiled.model, constraints, method)
    mu = settings.mu or weight(compiled.model, constraints, kind.stiffness)
    limit = settings.iterations or NUMERIC

    def call(iterations: int, rows: list[np.ndarray]) -> tuple[np.ndarray, ...]:
        key = (
            "proximal_dynamics",
            tuple(row.key for row in constraints),
            kind.name,
            mu,
            settings.steps,
            iterations,
            *inputs,
        )
        expression = _expression(compiled, kind, constraints, mu, settings.steps, iterations, list(arrays))
        function, _ = compiled.function(key, expression, [*arrays, "forces"], {"forces": start.shape[-1]})
        return function.batch(*rows)

    done = min(FIRST, limit)
    a, reached, settled, judged = call(done, rows)
    iterations = np.full(count, done)
    while done < limit:
        more = min(AFTER, limit - done)
        late = np.flatnonzero(~(still_to_come(*judged[:, :5].T) <= settings.tolerance))
        if not len(late):
            break
        again = [array if len(array) == 1 else array[late] for array in rows[:-1]] + [reached[late]]
        a[late], reached[late], settled[late], judged[late] = call(more, again)
        done += more
        iterations[late] = done
    if not (np.isfinite(a).all() and np.isfinite(reached).all()):
        state = int(np.argmin(np.isfinite(a).all(axis=1) & np.isfinite(reached).all(axis=1)))
        raise ModelError(
            f"compiled proximal_dynamics: state {state} gives a result that is not finite, expected every joint to "
            "move some mass and numbers of a sensible size"
        )
    error, residual = still_to_come(*judged[:, :5].T), judged[:, 5]
    converged = error <= settings.tolerance
    parts = tuple(np.split(np.where(converged[:, None], settled, reached), ends, axis=1))
    if batch:
        return a, parts, ProximalReport(kind.name, mu, iterations, residual, error, converged)
    report = ProximalReport(kind.name, mu, done, float(residual[0]), float(error[0]), bool(converged[0]))
    return a[0], tuple(part[0] for part in parts), report


def _expression(compiled: Compiled, kind, constraints, mu: float, steps: str, iterations: int, names: list[str]):
    """The symbols of a call: accelerations, stacked forces as they are and settled, and what they are judged by."""

    def expression(q, v, tau, *rest):
        links = [name.split("'")[1] for name in names[3:]]
        bodies = compiled.model._bodies(dict(zip(links, rest[:-1])))
        forces = ca.vertsplit(rest[-1], [0, *np.cumsum([row.size for row in constraints]).tolist()])
        iterate = Iterate(kind, compiled.model, (q, v, tau), constraints, bodies, mu, forces, steps)
        while iterate.count < iterations:
            iterate.advance()
        judged = ca.vertcat(*iterate.measures(), iterate.residual())
        return [iterate.a, iterate.force, iterate.settled(), judged]

    return expression


def _stacked(constraints: Sequence[Constraint], forces: Sequence[np.ndarray] | None) -> np.ndarray:
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
