"""A step of a simulation as machine code that feeds itself."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import casadi as ca
import numpy as np

from ...forks import no_fork
from ..constraints.constraint import Constraint
from ..forward_problem import ForwardProblem, forward_problem
from ..methods import PROXIMAL, choose_counted, expression
from ..proximal.default_mu import weight
from ..proximal.error_estimate import Measures, error_estimate
from ..proximal.iteration import Iterate
from ..proximal.settings import DEFAULT, Proximal
from .integrators import INTEGRATORS
from .projection import projected

if TYPE_CHECKING:
    from ...native import CompiledFunction
    from ..model import Model

# Proximal iterations of a step; one that needs more is taken again from the forces it has reached.
ITERATIONS = 4

_compiled: WeakKeyDictionary[Model, dict[tuple[object, ...], CompiledFunction]] = WeakKeyDictionary()


class Stepper:
    """`function` is (q, v, forces, t, tau, h) -> (q, v, forces, a, forces, measures, tau, error) of a step of length h;
    the first three carry over. drift: "projection", or "stabilisation" by the constraints' own periods.
    """

    def __init__(
        self,
        model: Model,
        constraints: tuple[Constraint, ...],
        h: float,
        integrator: str,
        method: str | None,
        settings: Proximal | None,
        policy: ca.Function | None,
        drift: str,
    ):
        self.model, self.constraints, self.settings = model, constraints, settings or DEFAULT
        self.kind = PROXIMAL.get(choose_counted(model, constraints)[0] if method is None else method)
        self.method, self.h, self.integrator, self.policy, self.drift = method, h, integrator, policy, drift
        self.iterations = (self.settings.iterations or ITERATIONS) if self.kind else 0
        self.function, self.compiling = self._compiled(), 0.0

    @property
    def may_go_on(self) -> bool:
        """True if steps that have not converged may take more iterations."""
        return self.kind is not None and self.settings.iterations is None

    def strengthen(self, iterations: int) -> None:
        """More iterations in every step; `compiling` counts the seconds that this took."""
        start = time.perf_counter()
        self.iterations = iterations
        self.function = self._compiled()
        self.compiling += time.perf_counter() - start

    def errors(self, measures: np.ndarray) -> np.ndarray:
        """Of steps (count,), an estimate of the accelerations' relative error."""
        if self.iterations == 1:
            return np.full(len(measures), np.inf)
        parts = measures.reshape(len(measures), -1, len(Measures._fields))
        return np.asarray(error_estimate(*np.moveaxis(parts, 2, 0))).max(axis=1, initial=0.0)

    def _compiled(self) -> CompiledFunction:
        from ...native import compile_function

        policy = self.policy and self.policy.serialize()
        step = (tuple(row.key for row in self.constraints), self.integrator, self.method, self.drift, policy)
        key = (*step, self.settings.mu, self.settings.steps, self.iterations)
        cache = _compiled.setdefault(self.model, {})
        if key not in cache:
            with no_fork():
                cache[key] = compile_function(self._expression(), lanes=1, name=f"a step of '{self.model.name}'")
        return cache[key]

    def _expression(self) -> ca.Function:
        model, size = self.model, sum(row.size for row in self.constraints)
        sizes = {"q": model.nq, "v": model.nv, "forces": size, "t": 1, "tau": model.nv, "h": 1}
        q, v, forces, t, tau, h = symbols = [ca.SX.sym(name, n) for name, n in sizes.items()]
        applied = tau if self.policy is None else tau + self.policy(t, q, v)

        def dynamics(q: ca.SX, v: ca.SX, forces: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
            return self._solved(forward_problem(model, q, v, applied, self.constraints), forces)

        after = INTEGRATORS[self.integrator](model, dynamics, q, v, forces, h)
        if self.drift == "projection":
            at = projected(model, self.constraints, after.q, after.v, lambda problem: self._solved(problem)[0])
            after = after._replace(q=ca.SX(at[0]), v=ca.SX(at[1]))
        outputs = [*after[:6], applied, after.error]
        return ca.Function("step", symbols, [ca.densify(part) for part in ca.cse(outputs)])

    def _solved(self, problem: ForwardProblem, forces: ca.SX | None = None) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Accelerations, stacked forces and what judges them; a proximal method starts from the forces given."""
        if self.kind is None:
            a, found = expression(problem, self.method)
            return ca.SX(a), ca.vertcat(ca.SX(0, 1), *found), ca.SX(0, 1)
        mu = self.settings.mu or weight(self.model, self.constraints, self.kind.stiffness)
        ends = np.cumsum([0, *(row.size for row in self.constraints)]).tolist()
        start = None if forces is None else ca.vertsplit(forces, ends)
        iterate = Iterate(self.kind, problem, mu, start, self.settings.steps)
        while iterate.count < self.iterations:
            iterate.advance()
        iterate.refine()
        return ca.SX(iterate.a), ca.SX(iterate.force), ca.vertcat(*iterate.measures())
