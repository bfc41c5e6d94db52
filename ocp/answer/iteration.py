"""What is known of one iteration of a solve: an entry of `Solution.records`, and what a callback is given."""

from __future__ import annotations

from typing import NamedTuple


class Iteration(NamedTuple):
    """The point at which an iteration begins, and the step that led to it.

    objective: in the units of the statement. infeasibility, dual_infeasibility, complementarity: largest entries of
    the KKT conditions, as the solver scales them. mu: the barrier. step: the largest entry of the last direction;
    delta: what was added to the Hessian's diagonal to find it; alpha_primal, alpha_dual: the shares of it that were
    taken, after so many trials. kind: f less objective, h less violation, s second-order correction, w watchdog,
    r restoration, t tiny, p predictor and corrector of a convex QP.
    """

    iteration: int
    objective: float
    infeasibility: float
    dual_infeasibility: float
    complementarity: float
    mu: float
    step: float
    delta: float
    alpha_primal: float
    alpha_dual: float
    trials: int
    kind: str
