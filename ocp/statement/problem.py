"""Stating an optimal-control problem.

    import trisweep as ts
    ocp = ts.Problem(steps=50, step=0.05)
    x, u = ocp.state("x", 2), ocp.control("u")
    ocp.derivative(x=ts.vertcat(x[1], u))
    ocp.minimize(u**2)
    ocp.constrain("stop", x, equals=0, at="end")
    solution = ocp.build().solve()

A problem of N steps has stages 0 ... N; controls act on the N steps, and the last stage has none. Problems can follow
each other: `stance.then(flight)` makes both phases of one motion, and a phase that several follow branches into a tree.
Everything is checked where it is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ...adjoint import ImplicitNode, keep
from ...errors import ProblemError
from .costs_and_constraints.constraint import constraint_terms
from .costs_and_constraints.limits import coordinate_limits
from .costs_and_constraints.named_stages import Stages, stages_of
from .costs_and_constraints.soft import Soft
from .costs_and_constraints.terms import Kind, PhaseLink, Term, term
from .expressions import add_dynamics, own_expression, own_limits
from .horizon import check_steps, free_duration, step_lengths, time_step
from .integrators import METHODS
from .refusal import all_or_nothing
from .variables import (
    Control,
    Free,
    Parameter,
    State,
    Variable,
    check_name,
    checked_names,
    checked_size,
    new_state,
    stated_manifold,
)

if TYPE_CHECKING:
    from ...dynamics import Cloud, Model, Scene
    from ..solve.solver import Solver
    from .space.avoid import Avoidance


@dataclass(eq=False)
class Problem:
    """An optimal-control problem of `steps` steps.

    step: s; or one for each step, such as a fine start and a coarse tail; or the name of a parameter that every solve
    is given, one length or one a step. Or `duration` for all steps together: s, or Free. integrator: what `derivative`
    is turned into steps by. name: of this phase, where the motion has several.
    """

    steps: int
    step: float | Sequence[float] | np.ndarray | str | None = None
    duration: float | Free | None = None
    integrator: str = "euler"
    name: str = "motion"
    states: list[State] = field(default_factory=list, init=False, repr=False)
    controls: list[Control] = field(default_factory=list, init=False, repr=False)
    parameters: list[Parameter] = field(default_factory=list, init=False, repr=False)
    terms: list[Term] = field(default_factory=list, init=False, repr=False)
    dynamics: dict[str, ca.SX] = field(default_factory=dict, init=False, repr=False)
    discrete: bool = field(default=False, init=False, repr=False)
    links: list[PhaseLink] = field(default_factory=list, init=False, repr=False)
    follows: Problem | None = field(default=None, init=False, repr=False)
    started: list[State] = field(default_factory=list, init=False, repr=False)
    nodes: list[ImplicitNode] = field(default_factory=list, init=False, repr=False)
    free_duration: State | None = field(default=None, init=False, repr=False)
    lengths: Parameter | None = field(default=None, init=False, repr=False)
    built: bool = field(default=False, init=False, repr=False)

    def __post_init__(self) -> None:
        check_steps(self.steps)
        if not isinstance(self.integrator, str) or self.integrator not in METHODS:
            raise ProblemError(
                f"Problem: integrator is {self.integrator!r}, expected one of {', '.join(map(repr, METHODS))}"
            )
        if not isinstance(self.name, str) or not self.name:
            raise ProblemError(f"Problem: name is {self.name!r}, expected some words")
        if self.step is not None and self.duration is not None:
            raise ProblemError("Problem: step and duration are both given, expected one of them")
        self.free_duration = free_duration(self.duration)
        self.lengths = step_lengths(self.step, self.steps)
        if self.lengths is not None:
            self._check_name("parameter", self.lengths.name)
            self.parameters.append(self.lengths)

    def __str__(self) -> str:
        from .summary import summary

        return summary(self)

    # --- variables

    @all_or_nothing
    def state(
        self,
        name: str,
        size: int | None = None,
        lower: ArrayLike | ca.SX | None = None,
        upper: ArrayLike | ca.SX | None = None,
        on: Model | None = None,
        names: Sequence[str] | None = None,
        soft: ArrayLike | Soft | None = None,
    ) -> ca.SX:
        """A state (size,), 1 if not said, with limits on every stage, numbers or expressions of parameters; returns its
        symbol.

        on: the robot whose configuration (nq,) it is. A floating base, a ball or a joint without limits has unit
        quaternions or (cos, sin) pairs there: the solver turns these and never leaves the unit sphere, the state's
        derivative is a velocity (nv,), and `constrain(..., q, equals=q0)` compares in nv rows.
        names: what messages call its coordinates; without, those of the robot's joints where it is `on` one.
        soft: the price of what is beyond the limits, as in `constrain`, where they are "soft limits of ...".
        """
        self._check_name("state", name)
        manifold = stated_manifold(name, size, on)
        if soft is not None and manifold.units:
            raise ProblemError(f"state '{name}': soft is given, but it has turns, expected hard limits or constrain")
        hard = (lower, upper) if soft is None else (None, None)
        entries = own_limits(self, f"state '{name}'", manifold.size, *hard)
        names = on.velocity_names if names is None and on is not None else names
        called = checked_names(f"state '{name}'", names, manifold.dimension)
        limits = coordinate_limits(f"state '{name}'", manifold, entries)
        self.states.append(new_state(name, manifold, limits, on, called))
        return self._softened(name, self.states[-1].value, lower, upper, soft)

    @all_or_nothing
    def control(
        self,
        name: str,
        size: int = 1,
        lower: ArrayLike | ca.SX | None = None,
        upper: ArrayLike | ca.SX | None = None,
        names: Sequence[str] | None = None,
        soft: ArrayLike | Soft | None = None,
    ) -> ca.SX:
        """A control (size,) with limits on every step, numbers or expressions of parameters; returns its symbol.

        names: what messages call its entries. soft: as of a state.
        """
        self._check_name("control", name)
        size = checked_size("control", name, size)
        hard = (lower, upper) if soft is None else (None, None)
        limits = own_limits(self, f"control '{name}'", size, *hard)
        called = checked_names(f"control '{name}'", names, size)
        self.controls.append(Control(name, ca.SX.sym(name, size), limits, called))
        return self._softened(name, self.controls[-1].symbol, lower, upper, soft)

    @all_or_nothing
    def parameter(self, name: str, size: int = 1, per_stage: bool = False) -> ca.SX:
        """A number or vector that is given with every solve, one for all stages or one for each; returns its symbol."""
        self._check_name("parameter", name)
        self.parameters.append(Parameter(name, ca.SX.sym(name, checked_size("parameter", name, size)), per_stage))
        return self.parameters[-1].symbol

    @all_or_nothing
    def start(self, *names: str) -> None:
        """The first values of these states come with every solve: `solver.solve(start={"q": ..., "v": ...})`.

        They are fixed: no rows and no multipliers are spent on them, and their limits are not demanded at stage 0.
        """
        self._check_open("start")
        states = {v.name: v for v in self.states}
        if not names:
            raise ProblemError(f"start: no state is named, expected some of {', '.join(states) or 'none'}")
        for name in names:
            if not isinstance(name, str) or name not in states:
                raise ProblemError(f"start: there is no state {name!r}; the states are {', '.join(states) or 'none'}")
            if states[name] in self.started:
                raise ProblemError(f"start: state '{name}' is named twice, expected it once")
            self.started.append(states[name])

    @property
    def carried(self) -> list[State]:
        """What every stage hands to the next: the free duration, where there is one, and the states."""
        return [*([self.free_duration] if self.free_duration else []), *self.states]

    @property
    def time_step(self) -> ca.SX | float:
        """The length of a step, in s; an expression where the duration is free, or steps differ."""
        return time_step(self)

    # --- dynamics

    @all_or_nothing
    def derivative(self, **rates: ca.SX) -> None:
        """The time derivatives of states, by their names: q' = v is `derivative(q=v)`."""
        self._check_open("derivative")
        add_dynamics(self, "derivative", rates, discrete=False)

    @all_or_nothing
    def next(self, **values: ca.SX) -> None:
        """The states' values at the next stage, by their names."""
        self._check_open("next")
        add_dynamics(self, "next", values, discrete=True)

    @all_or_nothing
    def then(self, phase: Problem, choose: Sequence[str] = (), **entry: ca.SX) -> Problem:
        """Let another phase follow the last stage of this one, and return it.

        entry: its first states by name, as expressions of this phase's states and parameters, such as an impact; what
        is not said keeps the value of this phase's state of the same name. choose: states that are free there, whatever
        went before; its free duration is one. Several phases may follow: from here on each has a motion of its own.
        """
        from .links import linked

        self._check_open("then")
        self.links.append(linked(self, phase, choose, entry))
        phase.follows = self
        return phase

    # --- cost and constraints

    @all_or_nothing
    def minimize(self, expression: ca.SX | float, at: Stages = "steps", name: str | None = None) -> None:
        """Add a cost: a number, summed over the steps (a plain sum), or at the stages that `at` names ("end", ...)."""
        self._check_open("minimize")
        if name is not None and not isinstance(name, str):
            raise ProblemError(f"minimize: name is {name!r}, expected a text that messages can call it by")
        name = name or f"cost {sum(each.kind is Kind.OBJECTIVE for each in self.terms) + 1}"
        expression = self.expression(name, expression)
        if expression.numel() != 1:
            raise ProblemError(
                f"minimize: '{name}' has shape {expression.shape}, expected one number; use sumsqr or dot"
            )
        stages = stages_of(name, expression, at, self.steps, self.controls)
        self.terms.append(term(name, Kind.OBJECTIVE, expression, stages))

    @all_or_nothing
    def constrain(
        self,
        name: str,
        expression: ca.SX,
        equals: ArrayLike | ca.SX | None = None,
        lower: ArrayLike | ca.SX | None = None,
        upper: ArrayLike | ca.SX | None = None,
        at: Stages = "all",
        names: Sequence[str] | None = None,
        soft: ArrayLike | Soft | None = None,
    ) -> None:
        """Demand `expression == equals`, or lower <= expression <= upper, on the stages that `at` names.

        at: "all" (every stage on which the expression makes sense), "start", "end", "steps", an index, a list of
        indices or a slice. lower, upper: numbers, or expressions of parameters. names: what messages call its rows;
        without, the names of the entries of states and controls that they are.
        soft: what is beyond the limits costs this, for one of it, in place of being forbidden; or a `Soft`. The slack
        is the solver's own. `solution.constraints[name].excess` says how much and where, `.price` what it costs.
        """
        self._check_open("constrain")
        self.terms += constraint_terms(self, name, expression, equals, (lower, upper), at, names, soft)

    def _softened(self, name: str, value: ca.SX, lower: Any, upper: Any, soft: Any) -> ca.SX:
        """A variable's value, its soft limits stated as a constraint."""
        if soft is not None:
            self.constrain(f"soft limits of {name}", value, lower=lower, upper=upper, soft=soft)
        return value

    @all_or_nothing
    def reach(
        self,
        link: str,
        position: ArrayLike | ca.SX | None = None,
        rotation: ArrayLike | ca.SX | None = None,
        pointing: tuple[ArrayLike | ca.SX, ArrayLike | ca.SX] | None = None,
        along: ArrayLike | ca.SX | None = None,
        tolerance: float | ca.SX = 0.0,
        angle: float | ca.SX = 0.0,
        at: Stages = "end",
        name: str | None = None,
    ) -> None:
        """Bring a link of the robot (of a `state(..., on=robot)`) to a place in the world; numbers or parameters.

        position: (3,), m, to within `tolerance` along each axis; with `along` (3,) anywhere on the line through it.
        rotation: (3, 3), the link's axes in the world, to within `angle` about each, rad. pointing: an axis of the
        link and the direction it is to have in the world, to within `angle`, turned about it at will. Directions
        that are parameters must have norm 1. name: what the rows are called by, where a link has several goals.
        """
        from .space.goals import reach

        reach(self, link, position, rotation, pointing, along, tolerance, angle, at, name)

    @all_or_nothing
    def keep_upright(
        self,
        link: str,
        angle: float,
        axis: ArrayLike = (0.0, 0.0, 1.0),
        up: ArrayLike = (0.0, 0.0, 1.0),
        at: Stages = "all",
    ) -> None:
        """Keep an axis of a link within `angle`, rad, of a direction in the world."""
        from .space.goals import keep_upright

        keep_upright(self, link, axis, up, angle, at)

    @all_or_nothing
    def avoid(
        self, scene: Scene, robot: Model | Cloud, q: ca.SX, margin: float = 0.02, name: str = "clearance"
    ) -> Avoidance:
        """Keep a robot at configuration q `margin`, m, away from a scene and from itself.

        Where things stand comes with every solve, and may change: `solver.solve(**avoidance.values(q_guess))` puts what
        is nearest along a guess (stages, nq) into the rows; see `Avoidance`.
        """
        from .space.avoid import avoid

        return avoid(self, scene, robot, q, margin, name)

    def build(self, hessian: str = "exact", backend: str = "native") -> Solver:
        """Derivatives and machine code: a solver for this problem.

        hessian: "exact", "gauss-newton" (curvature of the cost alone), "no-dynamics" (all but that of the nodes).
        backend: "native", or "ipopt" or "fatrop" through CasADi.
        """
        from ..solve.solver import build

        if self.follows is not None:
            raise ProblemError(f"build: '{self.name}' follows '{self.follows.name}', expected the phase that is first")
        solver = build(self, hessian, backend)
        self._close()
        return solver

    def _close(self) -> None:
        """What is added from here on would not reach the solver."""
        self.built = True
        for link in self.links:
            link.phase._close()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles with all phases of its motion, and with the nodes that it rests on."""
        from .packing import pack

        return pack(self)

    # --- checks

    def _check_open(self, verb: str) -> None:
        if self.built:
            raise ProblemError(f"{verb}: '{self.name}' is built, and its solver would not know; say it before build()")

    def _check_name(self, kind: str, name: str) -> None:
        self._check_open(kind)
        check_name(kind, name, self._all())

    def expression(self, name: str, value: Any) -> ca.SX:
        """A column whose symbols are all this problem's; the nodes under it are kept."""
        found = own_expression(name, value, self._all())
        self.nodes += [node for node in keep(found) if node not in self.nodes]
        return found

    def _all(self) -> list[Variable]:
        return [*self.carried, *self.controls, *self.parameters]
