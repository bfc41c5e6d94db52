"""IPOPT, inside CasADi, on the very program that a task's solver solves: the oracle of tests, the rival of benchmarks."""

from dataclasses import dataclass
from time import perf_counter

import casadi as ca
import numpy as np
from trisweep.ocp.casadi_backend import assemble

# Bounds as they are given, not moved outwards by 1e-8, so that both solve the same problem to the last digit.
OPTIONS = {"tol": 1e-8, "max_iter": 1000, "bound_relax_factor": 0.0, "print_level": 0, "sb": "yes"}


@dataclass(frozen=True)
class Answer:
    objective: float
    iterations: int
    seconds: float
    solved: bool
    z: np.ndarray


class Ipopt:
    """The program of a task, ready for CasADi's IPOPT; `solver` is the task's own, for bounds, guess and parameters."""

    def __init__(self, task, solver, **options):
        program = assemble(solver.transcription)
        self.lower, self.upper = solver._bounds[:2]
        shared, of_stages = solver._parameters(task.parameters)
        self.parameters = np.concatenate([shared, of_stages.ravel()])
        self.guess = solver._guess(task.guess)
        self.program = program
        nlp = {"x": program.z, "p": program.p, "f": program.f, "g": program.g}
        self.function = ca.nlpsol("ipopt", "ipopt", nlp, {"expand": True, "print_time": False, "ipopt": OPTIONS | options})

    def solve(self) -> Answer:
        begin = perf_counter()
        found = self.function(
            x0=self.guess, p=self.parameters, lbx=self.lower, ubx=self.upper, lbg=self.program.lower, ubg=self.program.upper
        )
        seconds = perf_counter() - begin
        stats = self.function.stats()
        z = np.array(found["x"]).ravel()
        return Answer(float(found["f"]), stats["iter_count"], seconds, stats["success"], z)
