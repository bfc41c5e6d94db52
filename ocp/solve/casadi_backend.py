"""The same statement through CasADi's IPOPT and FATROP, with the same kind of answer: oracles and rivals.

What they know of the problem is `nonlinear_program`; what is said of their answer is computed by the same judge.
"""

from __future__ import annotations

from functools import partial
from time import perf_counter
from typing import Any

import casadi as ca
import numpy as np

from ...errors import ProblemError
from ..answer.statistics import Statistics
from ..answer.status import Status
from ..judge.conditions import Conditions
from ..judge.residual import Measured, Point
from ..stages.layout import Layout
from ..stages.limit_vectors import LimitVectors
from ..stages.transcription import Transcription
from .backend import Outcome, Request
from .nonlinear_program import assemble
from .settings import Settings

STATUSES = {
    "Solve_Succeeded": Status.SOLVED,
    "Solved_To_Acceptable_Level": Status.STALLED,
    "Infeasible_Problem_Detected": Status.INFEASIBLE,
    "Maximum_Iterations_Exceeded": Status.ITERATION_LIMIT,
    "Maximum_CpuTime_Exceeded": Status.TIME_LIMIT,
    "Maximum_WallTime_Exceeded": Status.TIME_LIMIT,
    "Diverging_Iterates": Status.UNBOUNDED,
    "Invalid_Number_Detected": Status.NOT_FINITE,
    "User_Requested_Stop": Status.INTERRUPTED,
}


class CasadiBackend:
    """A point that comes from IPOPT or FATROP. Warm starts give them the trajectories; gains are not known."""

    code = None

    def __init__(self, name: str, transcription: Transcription, layout: Layout, hessian: str, code: None = None):
        if hessian != "exact":
            raise ProblemError(f"build: hessian is {hessian!r}, but the backend {name!r} has 'exact' only")
        if name == "fatrop" and any(len(phase.following) > 1 for phase in transcription.phases):
            raise ProblemError(
                "build: the backend 'fatrop' takes no trees, but a phase here has several that follow it"
            )
        if name == "fatrop" and transcription.fixed:
            raise ProblemError("build: the backend 'fatrop' takes no start(...), constrain states at the start instead")
        for block in transcription.blocks:
            for term in block.terms:
                if term.price is not None:
                    raise ProblemError(
                        f"build: the backend '{name}' has no soft limits, but '{term.name}' has; expected 'native'"
                    )
        self.name, self.transcription = name, transcription
        self.conditions = Conditions(transcription, layout)
        self.program = program = assemble(transcription, layout)
        # FATROP wants (x, u) of every stage.
        sizes = zip(transcription.at_z, transcription.nu, transcription.nx)
        self._order = np.concatenate([at + np.r_[nu : nu + nx, 0:nu] for at, nu, nx in sizes])
        z = ca.MX.sym("z", len(self._order))
        both = ca.Function("both", [program.z, program.p], [program.f, program.g])
        f, g = both(z[np.argsort(self._order).tolist()], program.p)
        self._nlp: Any = {"x": z, "p": program.p, "f": f, "g": g}
        self._made: dict[Settings, ca.Function] = {}

    def _function(self, settings: Settings) -> ca.Function:
        if settings not in self._made:
            self._made[settings] = self._make(settings)
        return self._made[settings]

    def _make(self, settings: Settings) -> ca.Function:
        tolerance = "tol" if self.name == "ipopt" else "tolerance"
        own: dict[str, Any] = {tolerance: settings.tolerance, "max_iter": settings.iterations, "print_level": 0}
        options: dict[str, Any] = {"expand": True, "print_time": False, "error_on_fail": False, self.name: own}
        if self.name == "ipopt":
            own["sb"] = "yes"
            if np.isfinite(settings.seconds):
                own["max_wall_time"] = settings.seconds
            own["mu_init"] = settings.initial_barrier
        else:
            equality = [not kind.has_limits for kind in self.program.kinds]
            options |= {"structure_detection": "auto", "equality": equality}
        return ca.nlpsol("rival", self.name, self._nlp, options)

    def error(self, point: Point, limits: LimitVectors) -> float:
        """Not known apart from all the rest."""
        return np.nan

    def judge(self, point: Point, limits: LimitVectors) -> Measured:
        """By CasADi alone."""
        return self.conditions.measure(point, limits)

    def renew(self) -> None:
        """Nothing: CasADi's functions keep no state between calls."""

    def run(self, request: Request) -> Outcome:
        """Solve by CasADi's plugin."""
        if request.watcher is not None:
            raise ProblemError(f"solve: the backend '{self.name}' has no callback and no log, only 'native' has")
        if request.settings.portfolio:
            raise ProblemError(f"solve: the backend '{self.name}' has no portfolio, only 'native' has")
        function, program, order = self._function(request.settings), self.program, self._order
        start, limits = request.start, request.limits
        begin = perf_counter()
        try:
            found = function(
                x0=start.z[order],
                p=np.concatenate([start.shared_parameters, start.stage_parameters]),
                lbx=limits.z_lower[order],
                ubx=limits.z_upper[order],
                lbg=limits.y_lower[program.places],
                ubg=limits.y_upper[program.places],
            )
        except RuntimeError as error:
            reason = str(error).strip().splitlines()[-1]
            raise ProblemError(f"solve: the backend '{self.name}' refuses this problem: {reason}") from None
        seconds = perf_counter() - begin
        stats = function.stats()
        y = np.empty(len(program.places))
        y[program.places] = program.signs * np.array(found["lam_g"]).ravel()
        z, w = np.empty(len(order)), np.empty(len(order))
        z[order], w[order] = np.array(found["x"]).ravel(), np.array(found["lam_x"]).ravel()
        # A solver that refuses to start leaves the count as it finds it.
        iterations = int(stats["iter_count"])
        iterations = iterations if 0 <= iterations <= request.settings.iterations else 0
        otherwise = Status.SOLVED if stats["success"] else Status.STALLED
        status = STATUSES.get(str(stats["return_status"]), otherwise)
        point = Point(z, y, w, start.shared_parameters, start.stage_parameters)
        return Outcome(
            status=status,
            point=point,
            fault=self.conditions.first_fault(point) if status is Status.NOT_FINITE else (-1, -1, -1),
            gains=np.full(np.dot(self.transcription.nu, self.transcription.nx), np.nan),
            statistics=Statistics(
                iterations=iterations,
                seconds=seconds,
                seconds_functions=sum(stats[key] for key in stats if key.startswith("t_wall_nlp")),
                seconds_linear=float(stats.get("fatrop", {}).get("compute_sd_time", 0.0)),
                evaluations=int(stats.get("n_call_nlp_f", 0)),
                differentiations=int(stats.get("n_call_nlp_hess_l", 0)),
                factorizations=iterations,
            ),
        )


ipopt, fatrop = partial(CasadiBackend, "ipopt"), partial(CasadiBackend, "fatrop")
