"""The same statement through CasADi's IPOPT and FATROP, with the same kind of answer: oracles and rivals.

What they know of the problem is `casadi_backend`'s program; what is said of their answer is computed by the same judge.
"""

from __future__ import annotations

from time import perf_counter
from types import SimpleNamespace

import casadi as ca
import numpy as np

from ...errors import ProblemError
from ..stages.transcription import Transcription
from .nonlinear_program import assemble
from .settings import Settings
from .solver import Solver
from .warm_start import Start

STATUSES = {
    "Solve_Succeeded": "solved",
    "Solved_To_Acceptable_Level": "stalled",
    "Infeasible_Problem_Detected": "infeasible",
    "Maximum_Iterations_Exceeded": "iteration limit",
    "Maximum_CpuTime_Exceeded": "time limit",
    "Maximum_WallTime_Exceeded": "time limit",
    "Diverging_Iterates": "unbounded",
    "Invalid_Number_Detected": "not finite",
    "User_Requested_Stop": "interrupted",
}


class RivalSolver(Solver):
    """A solver whose point comes from IPOPT or FATROP. Warm starts give them the trajectories; gains are not known."""

    def __init__(self, transcription: Transcription, name: str):
        self.name = name
        super().__init__(transcription, "exact")

    def _prepare(self, hessian: str) -> None:
        """CasADi's program and its judge: nothing is compiled."""
        transcription = self.transcription
        if self.name == "fatrop" and any(len(phase.following) > 1 for phase in transcription.phases):
            raise ProblemError(
                "build: the backend 'fatrop' takes no trees, but a phase here has several that follow it"
            )
        self.program = program = assemble(transcription, self.layout)
        self._conditions = self.plain_conditions
        # FATROP wants (x, u) of every stage.
        sizes = zip(transcription.at_z, transcription.nu, transcription.nx)
        self._order = np.concatenate([at + np.r_[nu : nu + nx, 0:nu] for at, nu, nx in sizes])
        z = ca.MX.sym("z", len(self._order))
        both = ca.Function("both", [program.z, program.p], [program.f, program.g])
        f, g = both(z[np.argsort(self._order).tolist()], program.p)
        self._nlp = {"x": z, "p": program.p, "f": f, "g": g}
        self._made: dict[Settings, ca.Function] = {}

    def _function(self, settings: Settings) -> ca.Function:
        if settings not in self._made:
            self._made[settings] = self._make(settings)
        return self._made[settings]

    def _make(self, settings: Settings) -> ca.Function:
        tolerance = "tol" if self.name == "ipopt" else "tolerance"
        own = {tolerance: settings.tolerance, "max_iter": settings.iterations, "print_level": 0}
        options = {"expand": True, "print_time": False, "error_on_fail": False, self.name: own}
        if self.name == "ipopt":
            own["sb"] = "yes"
            if np.isfinite(settings.seconds):
                own["max_wall_time"] = settings.seconds
            own["mu_init"] = settings.initial_barrier
        else:
            options |= {"structure_detection": "auto", "equality": (self.program.kinds != "i").tolist()}
        return ca.nlpsol("rival", self.name, self._nlp, options)

    def _run(self, z, shared, of_stages, settings: Settings, warm_start: Start | None, watcher):
        if watcher is not None:
            raise ProblemError(f"solve: the backend '{self.name}' has no callback and no log, only 'native' has")
        function, program, order = self._function(settings), self.program, self._order
        begin = perf_counter()
        try:
            found = function(
                x0=z[order],
                p=np.concatenate([shared, of_stages]),
                lbx=self._bounds[0][order],
                ubx=self._bounds[1][order],
                lbg=program.lower,
                ubg=program.upper,
            )
        except RuntimeError as error:
            reason = str(error).strip().splitlines()[-1]
            raise ProblemError(f"solve: the backend '{self.name}' refuses this problem: {reason}") from None
        seconds = perf_counter() - begin
        stats = function.stats()
        status = STATUSES.get(str(stats["return_status"]), "solved" if stats["success"] else "stalled")
        y = np.empty(len(program.places))
        y[program.places] = np.where(program.kinds == "d", -1.0, 1.0) * np.array(found["lam_g"]).ravel()
        z, w = np.empty(len(order)), np.empty(len(order))
        z[order], w[order] = np.array(found["x"]).ravel(), np.array(found["lam_x"]).ravel()
        nu, nx = self.transcription.nu, self.transcription.nx
        return SimpleNamespace(
            status=SimpleNamespace(name=status),
            z=z,
            w=w,
            y=y,
            stage_parameters=of_stages,
            gains=np.full(np.dot(nu, nx), np.nan),
            records=[],
            iterations=int(stats["iter_count"]),
            seconds=seconds,
            seconds_functions=sum(stats[key] for key in stats if key.startswith("t_wall_nlp")),
            seconds_linear=float(stats.get("fatrop", {}).get("compute_sd_time", 0.0)),
            evaluations=int(stats.get("n_call_nlp_f", 0)),
            differentiations=int(stats.get("n_call_nlp_hess_l", 0)),
            factorizations=int(stats["iter_count"]),
            fault=(-1, -1, -1),
        )
