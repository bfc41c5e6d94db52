"""Stating an optimal-control problem.

    import trisweep as ts
    ocp = ts.Problem(steps=50, step=0.05)
    x, u = ocp.state("x", 2), ocp.control("u")
    ocp.derivative(x=ts.vertcat(x[1], u))
    ocp.minimize(u**2)
    ocp.constrain("stop", x, equals=0, at="end")
    solution = ocp.build().solve()

A problem of N steps has stages 0 ... N; controls act on the N steps, and the last stage has none. Everything is checked
where it is said.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..adjoint import nodes_of
from ..riccati import ProblemError

if TYPE_CHECKING:
    from .solver import Solver

INTEGRATORS = ("euler", "semi-implicit euler", "rk4", "implicit midpoint")


@dataclass(frozen=True)
class Free:
    """A duration that is found with the motion: a guess and bounds, in s; the lower one is positive."""

    guess: float
    lower: float = 1e-3
    upper: float = np.inf


@dataclass(frozen=True, eq=False)
class Variable:
    """A state, control or parameter: its symbol, a column, and bounds (size,), infinite where there is none."""

    name: str
    symbol: ca.SX
    lower: np.ndarray
    upper: np.ndarray
    per_stage: bool = False

    @property
    def size(self) -> int:
        return self.symbol.numel()


@dataclass(frozen=True, eq=False)
class Term:
    """A named expression on some stages: what it is for, and bounds (rows,) where it is an inequality.

    kind: "objective", "next", "equality" or "inequality". stages: sorted indices.
    rows: their indices in the constraint as it was stated, where they are not all of it.
    """

    name: str
    kind: str
    expression: ca.SX
    stages: tuple[int, ...]
    lower: np.ndarray | None = None
    upper: np.ndarray | None = None
    rows: tuple[int, ...] | None = None


@dataclass(eq=False)
class Problem:
    """An optimal-control problem of `steps` steps.

    step: s, or `duration` for all steps together: s, or Free. integrator: what `derivative` is turned into steps by.
    """

    steps: int
    step: float | None = None
    duration: float | Free | None = None
    integrator: str = "euler"
    states: list[Variable] = field(default_factory=list, init=False, repr=False)
    controls: list[Variable] = field(default_factory=list, init=False, repr=False)
    parameters: list[Variable] = field(default_factory=list, init=False, repr=False)
    terms: list[Term] = field(default_factory=list, init=False, repr=False)
    dynamics: dict[str, ca.SX] = field(default_factory=dict, init=False, repr=False)
    discrete: bool = field(default=False, init=False, repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.steps, bool) or not isinstance(self.steps, (int, np.integer)) or self.steps < 1:
            raise ProblemError(f"Problem: steps is {self.steps!r}, expected a whole number of at least 1")
        if self.integrator not in INTEGRATORS:
            raise ProblemError(
                f"Problem: integrator is {self.integrator!r}, expected one of {', '.join(map(repr, INTEGRATORS))}"
            )
        if self.step is not None and self.duration is not None:
            raise ProblemError("Problem: step and duration are both given, expected one of them")
        for name in ("step", "duration"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, Free) and not (np.isscalar(value) and 0 < value < np.inf):
                raise ProblemError(f"Problem: {name} is {value!r}, expected a positive number of seconds")
        if isinstance(self.duration, Free):
            free = self.duration
            if not 0 < free.lower <= free.guess <= free.upper:
                raise ProblemError(f"Problem: duration is {free}, expected 0 < lower <= guess <= upper")
            self._add(self.states, "duration", 1, free.lower, free.upper)
            self.dynamics["duration"] = self.states[0].symbol

    # --- variables

    def state(self, name: str, size: int = 1, lower: ArrayLike | None = None, upper: ArrayLike | None = None) -> ca.SX:
        """A state (size,) with bounds on every stage; returns its symbol."""
        return self._add(self.states, name, size, lower, upper)

    def control(
        self, name: str, size: int = 1, lower: ArrayLike | None = None, upper: ArrayLike | None = None
    ) -> ca.SX:
        """A control (size,) with bounds on every step; returns its symbol."""
        return self._add(self.controls, name, size, lower, upper)

    def parameter(self, name: str, size: int = 1, per_stage: bool = False) -> ca.SX:
        """A number or vector that is given with every solve, one for all stages or one for each; returns its symbol."""
        return self._add(self.parameters, name, size, None, None, per_stage)

    @property
    def held(self) -> list[str]:
        """States that stay as they are: the free duration."""
        return ["duration"] if isinstance(self.duration, Free) else []

    @property
    def time_step(self) -> ca.SX | float:
        """The length of a step, in s; an expression where the duration is free."""
        if isinstance(self.duration, Free):
            return self.states[0].symbol / self.steps
        if self.duration is not None:
            return self.duration / self.steps
        if self.step is None:
            raise ProblemError(
                "Problem: neither step nor duration is given, but the dynamics need the length of a step"
            )
        return self.step

    # --- dynamics

    def derivative(self, **rates: ca.SX) -> None:
        """The time derivatives of states, by their names: q' = v is `derivative(q=v)`."""
        self._set_dynamics("derivative", rates, discrete=False)

    def next(self, **values: ca.SX) -> None:
        """The states' values at the next stage, by their names."""
        self._set_dynamics("next", values, discrete=True)

    # --- cost and constraints

    def minimize(self, expression: ca.SX, at: str | int | slice = "steps", name: str | None = None) -> None:
        """Add a cost: a number, summed over the steps (a plain sum), or at the stages that `at` names ("end", ...)."""
        name = name or f"cost {sum(term.kind == 'objective' for term in self.terms) + 1}"
        expression = self._expression(name, expression)
        if expression.numel() != 1:
            raise ProblemError(
                f"minimize: '{name}' has shape {expression.shape}, expected one number; use sumsqr or dot"
            )
        stages = self._stages(name, expression, at)
        self.terms.append(Term(name, "objective", expression, stages))

    def constrain(
        self,
        name: str,
        expression: ca.SX,
        equals: ArrayLike | ca.SX | None = None,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        at: str | int | slice = "all",
    ) -> None:
        """Demand `expression == equals`, or lower <= expression <= upper, on the stages that `at` names.

        at: "all" (every stage on which the expression makes sense), "start", "end", "steps", an index or a slice.
        """
        if any(term.name == name for term in self.terms):
            raise ProblemError(f"constrain: there is a constraint '{name}' already, expected another name")
        expression = self._expression(name, expression)
        rows = expression.numel()
        if (equals is None) == (lower is None and upper is None):
            raise ProblemError(f"constrain: '{name}' has {'no' if equals is None else 'both equals and'} bounds, "
                               "expected equals, or lower and/or upper")  # fmt: skip
        stages = self._stages(name, expression, at)
        if equals is not None:
            target = self._expression(name, equals)
            if target.numel() not in (1, rows):
                raise ProblemError(f"constrain: '{name}' has {rows} rows, but equals has {target.numel()}")
            self.terms.append(Term(name, "equality", expression - target, stages))
            return
        low, high = _bounds(f"constrain: '{name}'", rows, lower, upper)
        fixed = low == high
        if fixed.any():
            at_fixed = np.flatnonzero(fixed).tolist()
            self.terms.append(Term(name, "equality", expression[at_fixed] - low[fixed], stages, rows=tuple(at_fixed)))
        if not fixed.all():
            rest = np.flatnonzero(~fixed).tolist()
            self.terms.append(Term(name, "inequality", expression[rest], stages, low[rest], high[rest], tuple(rest)))

    def build(self, hessian: str = "exact", backend: str = "native") -> Solver:
        """Derivatives and machine code: a solver for this problem.

        hessian: "exact", "gauss-newton" (curvature of the cost alone), "no-dynamics" (all but that of the nodes).
        backend: "native", or "ipopt" or "fatrop" through CasADi.
        """
        from .solver import build

        return build(self, hessian, backend)

    # --- checks

    def _add(self, variables, name, size, lower, upper, per_stage=False) -> ca.SX:
        kind = {id(self.states): "state", id(self.controls): "control"}.get(id(variables), "parameter")
        if not isinstance(name, str) or not name.isidentifier():
            raise ProblemError(f"{kind}: name is {name!r}, expected an identifier such as 'q'")
        if any(v.name == name for v in [*self.states, *self.controls, *self.parameters]):
            raise ProblemError(f"{kind} '{name}': the name is taken, expected another one")
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 1:
            raise ProblemError(f"{kind} '{name}': size is {size!r}, expected a whole number of at least 1")
        low, high = _bounds(f"{kind} '{name}'", size, lower, upper)
        variables.append(Variable(name, ca.SX.sym(name, int(size)), low, high, per_stage))
        return variables[-1].symbol

    def _set_dynamics(self, verb: str, given: dict[str, ca.SX], discrete: bool) -> None:
        own = [name for name in self.dynamics if name != "duration"]
        if own and discrete != self.discrete:
            raise ProblemError(f"{verb}: the dynamics are said by {'next' if self.discrete else 'derivative'} already")
        self.discrete = discrete
        states = {v.name: v for v in self.states}
        for name, value in given.items():
            if name not in states or (name == "duration" and isinstance(self.duration, Free)):
                raise ProblemError(f"{verb}: there is no state '{name}'; the states are {', '.join(states) or 'none'}")
            if name in self.dynamics:
                raise ProblemError(f"{verb}: state '{name}' has dynamics already")
            expression = self._expression(f"{verb} of {name}", value)
            if expression.numel() != states[name].size:
                raise ProblemError(
                    f"{verb}: '{name}' has {states[name].size} entries, but its {verb} has {expression.numel()}"
                )
            self.dynamics[name] = expression

    def _expression(self, name: str, value) -> ca.SX:
        """A column whose symbols are all this problem's."""
        try:
            expression = ca.vec(ca.SX(value))
        except (TypeError, NotImplementedError):
            raise ProblemError(f"'{name}' is a {type(value).__name__}, expected numbers or CasADi SX") from None
        nodes = nodes_of(expression)
        own = [*(v.symbol for v in self._all()), *(node.unknowns for node in nodes)]
        known = {s.element_hash() for column in own for s in ca.vertsplit(column)}
        for symbol in ca.symvar(ca.veccat(expression, *(node.solution for node in nodes))):
            if symbol.element_hash() not in known:
                names = ", ".join(v.name for v in self._all())
                raise ProblemError(f"'{name}' uses the symbol '{symbol}', which is none of this problem's: {names}")
        numbers = expression if expression.is_constant() else None
        if numbers is not None and not np.isfinite(np.array(ca.DM(numbers))).all():
            raise ProblemError(f"'{name}' is {np.array(ca.DM(numbers)).ravel()}, expected finite numbers")
        return expression

    def _all(self) -> list[Variable]:
        return [*self.states, *self.controls, *self.parameters]

    def _stages(self, name: str, expression: ca.SX, at: str | int | slice) -> tuple[int, ...]:
        controlled = uses(expression, self.controls)
        last = self.steps - 1 if controlled else self.steps
        everything = range(self.steps + 1)
        if isinstance(at, str):
            named = {"all": range(last + 1), "steps": range(self.steps), "start": [0], "end": [self.steps]}
            if at not in named:
                raise ProblemError(
                    f"'{name}': at is {at!r}, expected one of {', '.join(map(repr, named))}, an index or a slice"
                )
            stages = named[at]
        elif isinstance(at, slice):
            stages = everything[at]
        elif isinstance(at, (int, np.integer)) and -self.steps - 1 <= at <= self.steps:
            stages = [everything[at]]
        else:
            raise ProblemError(f"'{name}': at is {at!r}, expected a stage from 0 to {self.steps}, a slice or a word")
        stages = tuple(sorted(stages))
        if not stages:
            raise ProblemError(f"'{name}': at is {at!r}, which names no stage of 0 to {self.steps}")
        if controlled and stages[-1] > last:
            which = ", ".join(v.name for v in self.controls if uses(expression, [v]))
            raise ProblemError(
                f"'{name}' uses the control {which} at stage {self.steps}, the last, where there is none"
            )
        return stages


def uses(expression: ca.SX, variables: list[Variable]) -> bool:
    """Whether an expression, or a node it rests on, contains a symbol of the variables."""
    wanted = {s.element_hash() for v in variables for s in ca.vertsplit(v.symbol)}
    everything = [expression, *(node.residual for node in nodes_of(expression))]
    return any(s.element_hash() in wanted for s in ca.symvar(ca.veccat(*everything)))


def _bounds(where: str, size: int, lower: ArrayLike | None, upper: ArrayLike | None) -> tuple[np.ndarray, np.ndarray]:
    result = []
    for name, value, default in (("lower", lower, -np.inf), ("upper", upper, np.inf)):
        try:
            array = np.array(default if value is None else value, dtype=float)
        except (TypeError, ValueError):
            raise ProblemError(f"{where}: {name} is {value!r}, expected numbers") from None
        if array.ndim == 2 and 1 in array.shape:
            array = array.ravel()
        if array.ndim > 1 or array.size not in (1, size):
            raise ProblemError(f"{where}: {name} has shape {array.shape}, expected one number or ({size},)")
        if np.isnan(array).any():
            raise ProblemError(f"{where}: {name} has NaN, expected numbers or infinity")
        result.append(np.broadcast_to(array, (size,)).copy())
    low, high = result
    if (low > high).any():
        i = int(np.flatnonzero(low > high)[0])
        raise ProblemError(f"{where}: lower[{i}] is {low[i]:g} and upper[{i}] is {high[i]:g}, expected lower <= upper")
    if (low == np.inf).any() or (high == -np.inf).any():
        raise ProblemError(f"{where}: a lower bound is +inf or an upper one -inf, expected room between them")
    return low, high
