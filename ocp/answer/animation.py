"""Which robot a motion is of, and its configurations phase after phase, for the pictures of `dynamics`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ...adjoint import nodes_of
from ...dynamics.simulation.animation import animate as draw
from ...errors import ProblemError
from ..statement.variables import same

if TYPE_CHECKING:
    from ...dynamics import Model
    from ..solve.solver import Solver
    from ..statement.problem import Problem
    from .phase_solution import PhaseSolution
    from .solution import Solution


def animate(solution: Solution, path: str | Path, model: Model | None, q: str | None, last: str | None) -> Path:
    """What `Solution.animate` does."""
    phases = solution.branch(last)
    if model is None or q is None:
        found = {} if solution.solver is None else _robots(solution.solver, phases)
        wanted = [name for name, robot in found.items() if model in (None, robot) and q in (None, name)]
        if model is None and len(wanted) != 1:
            why = f"there are several robots, {', '.join(wanted)}" if wanted else "no robot is known by this solution"
            raise ProblemError(f"animate: {why}, expected animate(path, model, q=...)")
        model, q = model or found[wanted[0]], q or (wanted[0] if wanted else "q")
    times, trajectory = _trajectory(phases, model, q)
    return draw(model, times, trajectory, path, f"{model.name}: {solution.status}, objective {solution.objective:.6g}")


def _robots(solver: Solver, phases: list[PhaseSolution]) -> dict[str, Model]:
    """The robots whose configurations are states, by the states' names."""
    found: dict[str, Model] = {}
    for phase in phases:
        found |= robots(solver.transcription.phases[phase.index].problem)
    return found


def robots(problem: Problem) -> dict[str, Model]:
    """The states of a statement that are configurations, and the robots, as `on=` or forward dynamics tell."""
    found = {state.name: state.on for state in problem.states if state.on is not None}
    for node in nodes_of(ca.veccat(*problem.dynamics.values())):
        asked = getattr(node.derivatives, "problem", None)
        for state in problem.states:
            if asked is not None and same(ca.SX(asked.q), state.value):
                found.setdefault(state.name, asked.model)
    return found


def _trajectory(phases: list[PhaseSolution], model: Model, q: str) -> tuple[np.ndarray, np.ndarray]:
    """Times (n,) and configurations (n, nq), one phase after another."""
    found = [phase for phase in phases if q in phase.trajectories]
    sizes = {phase[q].shape[1] for phase in found}
    if sizes != {model.nq}:
        what = f"has {sizes.pop()} entries" if sizes else "is not there"
        raise ProblemError(f"animate: '{q}' {what}, expected the {model.nq} coordinates of '{model.name}'; give q=")
    trajectory = np.vstack([phase[q] for phase in found])
    if not np.isfinite(trajectory).all():
        raise ProblemError(f"animate: '{q}' has an entry that is not finite, expected numbers")
    return np.concatenate([phase.times for phase in found]), trajectory
