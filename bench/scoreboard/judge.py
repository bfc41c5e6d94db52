"""Whether a "solved" is true: the KKT conditions by CasADi alone, and IPOPT started from the answer.

Both say no only for a reason: the conditions are measured against the size of the variables and of the multipliers, and
IPOPT, which gets the multipliers too, must end at a point with another objective: another one than its tolerance t
leaves open. IPOPT widens every limit l by t max(1, |l|), which moves the objective by the multiplier m times that, and
ends where products of multiplier and gap are t / 10 each:

    t (sum |m| max(1, |l|) + number of limits / 10)

That, and SAME of the objective, is no other objective. Where multipliers have no bound (complementarity) it is 1e-4 of
the objective, elsewhere less than SAME.
Where IPOPT does not end, it neither confirms nor refutes.
"""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca
import numpy as np
from trisweep.ocp import Solution, Solver
from trisweep.ocp.solve.nonlinear_program import assemble

PRIMAL, DUAL = 1e-6, 1e-5
TOLERANCE = 1e-8
SAME = 1e-5
OPTIONS = {
    "tol": TOLERANCE, "max_iter": 200, "print_level": 0, "sb": "yes", "mu_init": 1e-9, "warm_start_init_point": "yes",
    "warm_start_bound_push": 1e-9, "warm_start_bound_frac": 1e-9, "warm_start_slack_bound_push": 1e-9,
    "warm_start_slack_bound_frac": 1e-9, "warm_start_mult_bound_push": 1e-9,
}  # fmt: skip


class Verdict(NamedTuple):
    """false: what speaks against the answer, or nothing. moved: by how much IPOPT changed the objective, as a share of
    it, or of the tolerance where an optimum is 0; None where it did not end. open: how much the tolerance leaves open,
    likewise.
    """

    false: str = ""
    moved: float | None = None
    open: float = 0.0


class Judge:
    """Judges the answers of one solver of one problem; `seconds` is what IPOPT may take."""

    def __init__(self, solver: Solver, seconds: float):
        self.program = program = assemble(solver.transcription, solver.layout)
        nlp = {"x": program.z, "p": program.p, "f": program.f, "g": program.g}
        options = {"expand": True, "print_time": False, "error_on_fail": False}
        self.ipopt = ca.nlpsol("judge", "ipopt", nlp, {**options, "ipopt": {**OPTIONS, "max_wall_time": seconds}})

    def __call__(self, solution: Solution) -> Verdict:
        reason = conditions(solution)
        soft = len(solution.limit_vectors.soft) > 0  # which IPOPT's program takes for hard ones
        return Verdict(reason) if reason or soft else self.resolve(solution)

    def resolve(self, solution: Solution) -> Verdict:
        """What IPOPT makes of the answer and its multipliers."""
        program, point, limits = self.program, solution.point, solution.limit_vectors
        found = self.ipopt(
            x0=point.z,
            p=np.concatenate([point.shared_parameters, point.stage_parameters]),
            lam_x0=point.w,
            lam_g0=program.signs * point.y[program.places],
            lbx=limits.z_lower,
            ubx=limits.z_upper,
            lbg=limits.y_lower[program.places],
            ubg=limits.y_upper[program.places],
        )
        if not self.ipopt.stats()["success"]:
            return Verdict()
        here, there = solution.objective, float(found["f"])
        moved, size, left = abs(here - there), max(abs(here), TOLERANCE), left_open(solution)
        other = f"IPOPT goes on from objective {here:.9g} to {there:.9g}, {left:.1e} are open" if moved > left else ""
        return Verdict(other, moved / size, left / size)


def left_open(solution: Solution) -> float:
    """How much of the objective the tolerance of IPOPT leaves open at an answer."""
    point, limits, rows = solution.point, solution.limit_vectors, solution.layout.limited
    lower = np.concatenate([limits.z_lower, limits.y_lower[rows]])
    upper = np.concatenate([limits.z_upper, limits.y_upper[rows]])
    multipliers = np.concatenate([point.w, point.y[rows]])
    pressed = np.where(multipliers > 0, upper, lower)
    widened = np.where(np.isfinite(pressed), np.maximum(1.0, np.abs(pressed)), 0.0)
    count = np.isfinite(lower).sum() + np.isfinite(upper).sum()
    return TOLERANCE * float(np.abs(multipliers) @ widened + 0.1 * count) + SAME * abs(solution.objective)


def conditions(solution: Solution) -> str:
    """What `check()` says against an answer, or nothing."""
    residual, point = solution.check(), solution.point
    primal = PRIMAL * max(1.0, np.abs(point.z).max())
    dual = DUAL * max(1.0, np.abs(point.y).max(initial=0.0), np.abs(point.w).max(initial=0.0))
    allowed = {
        "dynamics": primal, "equalities": primal, "inequalities": primal, "bounds": primal,
        "stationarity": dual, "complementarity": dual,
    }  # fmt: skip
    for name, most in allowed.items():
        if not getattr(residual, name) <= most:
            return f"{name} {getattr(residual, name):.1e}, expected at most {most:.1e}"
    return ""
