"""IPOPT, inside CasADi, on the very program that a task's solver solves.

>>> made = task("pendulum_swing_up")
>>> rival = Ipopt(made, made.build())
>>> rival.solve().objective
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import casadi as ca
import numpy as np

from ...ocp import Solution, Solver
from ...ocp.solve.nonlinear_program import assemble
from ..ready import Task

# Both solvers leave room of 1e-8 beyond the bounds: IPOPT by its default, ours by the tolerance.
OPTIONS = {"tol": 1e-8, "max_iter": 1000, "print_level": 0, "sb": "yes"}


@dataclass(frozen=True)
class Answer:
    """What IPOPT found: seconds by the wall, z the point along all stages."""

    objective: float
    iterations: int
    seconds: float
    solved: bool
    z: np.ndarray


@dataclass(frozen=True)
class Residuals:
    """Largest entries of the KKT conditions' parts, and of the multipliers (at least 1)."""

    violation: float
    stationarity: float
    complementarity: float
    multipliers: float


class Ipopt:
    """The program of a task, ready for CasADi's IPOPT; `solver` is the task's own, for bounds, guess and parameters.

    cost_hessian: leave the curvature of the constraints, dynamics among them, out of the Hessian. expand: into one
    graph of scalars (SX), where CasADi's calls of a stage's functions (MX) stand otherwise.
    """

    def __init__(
        self, task: Task, solver: Solver, cost_hessian: bool = False, expand: bool = True, **options: Any
    ) -> None:
        self.program = program = assemble(solver.transcription, solver.layout)
        shared, stage_parameters = solver.inputs.parameters(task.parameters)
        self.guess = solver.inputs.guess(task.guess, stage_parameters)
        self.limits = solver.limits.at(self.guess, shared, stage_parameters)
        self.parameters = np.concatenate([shared, stage_parameters])
        nlp = {"x": program.z, "p": program.p, "f": program.f, "g": program.g}
        all_options: dict[str, Any] = {"expand": expand, "print_time": False, "ipopt": OPTIONS | options}
        if cost_hessian:
            all_options["hess_lag"] = self._cost_hessian()
        self.function = ca.nlpsol("ipopt", "ipopt", nlp, all_options)

    def solve(self) -> Answer:
        """A solve from the task's guess."""
        begin = perf_counter()
        found = self.function(
            x0=self.guess,
            p=self.parameters,
            lbx=self.limits.z_lower,
            ubx=self.limits.z_upper,
            lbg=self.limits.y_lower[self.program.places],
            ubg=self.limits.y_upper[self.program.places],
        )
        seconds = perf_counter() - begin
        stats = self.function.stats()
        return Answer(float(found["f"]), stats["iter_count"], seconds, stats["success"], np.array(found["x"]).ravel())

    def _cost_hessian(self) -> ca.Function:
        program = self.program
        weight, rows = ca.MX.sym("weight"), ca.MX.sym("rows", program.g.numel())
        upper = ca.triu(ca.hessian(weight * program.f, program.z)[0])
        names = ["x", "p", "lam_f", "lam_g"], ["triu_hess_gamma_x_x"]
        return ca.Function("nlp_hess_l", [program.z, program.p, weight, rows], [upper], *names)

    def residuals(self, solution: Solution) -> Residuals:
        """The KKT conditions at our solution with our multipliers, by CasADi's evaluation and derivatives alone."""
        program, point, limits = self.program, solution.point, self.limits
        z, y = point.z, program.signs * point.y[program.places]
        rows = ca.MX.sym("y", len(y))
        gradient = ca.gradient(program.f + ca.dot(rows, program.g), program.z)
        both = ca.Function("kkt", [program.z, program.p, rows], [program.g, gradient])(z, self.parameters, y)
        g, slope = (np.array(part).ravel() for part in both)
        bounds = -point.w
        inside = program.places >= solution.layout.limited.start
        bounded = np.isfinite(limits.z_lower) | np.isfinite(limits.z_upper)
        lower, upper = limits.y_lower[program.places], limits.y_upper[program.places]
        gaps = np.minimum(z - limits.z_lower, limits.z_upper - z), np.minimum(g - lower, upper - g)
        return Residuals(
            violation=max(0.0, *(-gap.min() for gap in gaps)),
            stationarity=np.abs(slope - bounds).max(),
            complementarity=max(
                np.abs(gaps[0][bounded] * bounds[bounded]).max(initial=0.0),
                np.abs(gaps[1][inside] * y[inside]).max(initial=0.0),
            ),
            multipliers=max(1.0, np.abs(y).max(), np.abs(bounds).max(initial=0.0)),
        )
