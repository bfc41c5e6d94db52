"""The proximal iteration that all methods for loops share (Sathya 2025 Sec. III-D, Carpentier 2021 eqs. 4 and 5).

With G = J M^-1 J', and forces lambda on the robot, iteration k solves

    [M  -J'  ] [a     ]   [tau - h        ]
    [J  1/mu ] [lambda] = [k + lambda_k/mu]

whose matrix is regular whatever the rank of J. What is missing of the rows, r = k - J a, then shrinks in each
eigenvector of G, of eigenvalue s, by 1 / (1 + mu s), and lambda_{k+1} = lambda_k + mu r. The limit from lambda_0 = 0 is
the solution with the forces of least norm; rows that contradict each other are met in the least-squares sense: r tends
to what no force can change, and adds mu r to the forces in every iteration, which is taken off them in the end.

A method is a class with `factorize()` for the sweep that all iterations share, `first(forces) -> w, r` for a whole
solve and `again(r) -> change of w, r` for an iteration on the same factorization, w the accelerations or what
`finished` makes them of. They stop when what is still to come (`still_to_come`) is within `tolerance` of the largest
acceleration.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from ...errors import ModelError
from ..algebra.arrays import Array, dot, is_symbolic, largest, nonzero, rows, where
from ..constraints.constraint import Constraint
from ..constraints.ground import LOOP_METHODS, sites
from ..constraints.loops import Coupling, couplings, on_bodies
from ..free.rnea import body_accelerations, newton_euler
from ..free.tree_motion import TreeMotion, tree_motion
from .default_mu import weight

if TYPE_CHECKING:
    from ..model import Model


@dataclass(frozen=True)
class Proximal:
    """Settings of the proximal methods.

    mu: weight of the constraints, kg (Sathya 2025's; Pinocchio's is its inverse). None: `stiffness` of the method
    over the largest eigenvalue of J M^-1 J' at a few configurations of the model.
    iterations: at most; of symbols exactly so many. None: 200, of symbols 4.
    tolerance: of the accelerations, relative to the largest or to 1.
    steps: "conjugate", or "plain" for the papers' own, which need many more where the mechanism is near singular.
    """

    mu: float | None = None
    iterations: int | None = None
    tolerance: float = 1e-10
    steps: str = "conjugate"

    def __post_init__(self):
        if self.mu is not None and not (np.isfinite(self.mu) and self.mu > 0):
            raise ModelError(f"Proximal: mu is {self.mu}, expected a number more than 0, or None")
        if self.iterations is not None and self.iterations < 1:
            raise ModelError(f"Proximal: iterations is {self.iterations}, expected at least 1, or None")
        if not self.tolerance > 0:
            raise ModelError(f"Proximal: tolerance is {self.tolerance}, expected more than 0")
        if self.steps not in ("conjugate", "plain"):
            raise ModelError(f"Proximal: steps is {self.steps!r}, expected 'conjugate' or 'plain'")


DEFAULT = Proximal()

# Iterations at most on numbers, and exactly on symbols, where `Proximal` does not say.
NUMERIC, SYMBOLIC = 200, 4

# Of a sweep's change of the accelerations, what is rounding.
ROUNDING = 1e-8

# r' B r beside r' r: below this rounding drowns what is left to do in what no force can change, and steps are plain.
UNTOLD = 1e-8


@dataclass(frozen=True)
class ProximalReport:
    """How a proximal solve went; of a batch the last four are arrays (count,).

    residual: max |k - J a|, computed from the accelerations; what contradictory rows leave of it no force can change.
    error: an estimate of the accelerations', relative to the largest or to 1.
    """

    method: str
    mu: float
    iterations: int | np.ndarray
    residual: float | np.ndarray
    error: float | np.ndarray
    converged: bool | np.ndarray


class Factorized(ABC):
    """A method's factorization at a state, for one mu. `stiffness` is mu times the largest eigenvalue of J M^-1 J'
    where mu is not given; `refines` says that mu is part of its inertias, so that it rounds by mu, and can solve for
    joint forces to make up for that.
    """

    name: ClassVar[str]
    stiffness: ClassVar[float]
    refines: ClassVar[bool] = False

    def __init__(
        self,
        model: Model,
        move: TreeMotion,
        tau: Array,
        held: Sequence[Coupling],
        external: Sequence[Array | None] | None,
        mu: float,
    ):
        self.model, self.move, self.tau, self.held, self.external, self.mu = model, move, tau, held, external, mu
        self.factorize()

    @abstractmethod
    def factorize(self) -> None:
        """The sweep that all iterations share."""

    @abstractmethod
    def first(self, forces: Sequence[Array]) -> tuple[Array, list[Array]]:
        """w (nv, 1), of which `finished` makes the accelerations, and what is missing of each constraint's rows, from
        given forces.
        """

    @abstractmethod
    def again(self, missing: Sequence[Array]) -> tuple[Array, list[Array]]:
        """The change of w as mu times `missing` is added to the forces, and what is missing then."""

    def finished(self, w: Array) -> Array:
        """Joint accelerations (nv, 1): w itself, if a method does not put off part of the work."""
        return w

    def pushed(self, tau: Array) -> tuple[Array, list[Array]]:
        """The change of w for more joint forces tau (nv, 1), and what the rows feel of it."""
        raise NotImplementedError(f"method '{self.name}' does not refine")


def solve(
    method: type[Factorized],
    model: Model,
    q: Array,
    v: Array,
    tau: Array,
    constraints: Sequence[Constraint],
    external: Sequence[Array | None] | None = None,
    settings: Proximal = DEFAULT,
    forces: Sequence[Array] | None = None,
) -> tuple[Array, list[Array], ProximalReport | None]:
    """Accelerations (nv, 1), forces and, of numbers, the report."""
    mu = settings.mu or weight(model, constraints, method.stiffness)
    iterate = Iterate(method, model, (q, v, tau), constraints, external, mu, forces, settings.steps)
    if not constraints:
        return iterate.a, [], None if is_symbolic(iterate.w) else ProximalReport(method.name, mu, 1, 0.0, 0.0, True)
    if is_symbolic(iterate.w):
        for _ in range((settings.iterations or SYMBOLIC) - 1):
            iterate.advance()
        iterate.refine()
        return iterate.a, iterate.split(iterate.force), None
    converged = False
    while not converged and iterate.count < (settings.iterations or NUMERIC):
        iterate.advance()
        converged = bool(still_to_come(*iterate.measures()) <= settings.tolerance)
    iterate.refine()
    residual, error = (float(number.item()) for number in (iterate.residual(), still_to_come(*iterate.measures())))
    report = ProximalReport(method.name, mu, iterate.count, residual, error, converged)
    return iterate.a, iterate.split(iterate.settled() if converged else iterate.force), report


class Iterate:
    """Accelerations, forces and what is missing of the rows, from one iteration to the next.

    With E = (1 + mu G)^-1, an iteration takes r to E r = r - B r. A plain one goes that far; a conjugate one goes, by
    the same sweep, to the least |r| that the directions so far can reach (conjugate residuals on B, which is singular
    where rows depend on each other, and which cares for no part of r that no force can change).
    """

    def __init__(
        self,
        method: type[Factorized],
        model: Model,
        state: tuple[Array, Array, Array],
        constraints: Sequence[Constraint],
        external: Sequence[Array | None] | None,
        mu: float,
        forces: Sequence[Array] | None = None,
        steps: str = "conjugate",
    ):
        q, v, tau = state
        self.model, self.mu, self.steps, self.count = model, mu, steps, 1
        self.tau, self.external = tau, external
        if method.name not in LOOP_METHODS:
            sites(model, constraints)  # refuses loops
        self.move = tree_motion(model, q, v)
        self.held = couplings(model, constraints, v, self.move)
        self.factorized = method(model, self.move, tau, self.held, external, mu)
        forces = [np.zeros((row.size, 1)) for row in self.held] if forces is None else list(forces)
        self.w, missing = self.factorized.first(forces)
        self.missing = rows([np.zeros((0, 1)), *missing])
        self.force = rows([np.zeros((0, 1)), *forces]) + mu * self.missing
        self.idle = np.ones((1, 1))
        self.direction: Direction | None = None

    def advance(self) -> None:
        """An iteration on the factorization there is."""
        r = self.missing
        step, left = self.factorized.again(self.split(r))
        left = rows(left)
        self.rr, self.rB, self.BB = dot(r, r), dot(r, r - left), dot(r - left, r - left)
        self.change = largest(step)
        d = Direction(step, self.mu * left, r - left, np.ones((1, 1)), self.rB)
        alpha = np.ones((1, 1))
        if self.steps == "conjugate":
            told = self.rB > UNTOLD * self.rr
            if self.direction is not None:
                d = d.beside(self.direction, where(told, self.rB / nonzero(self.direction.rB), 0.0))
            alpha = where(told, self.rB / nonzero(dot(d.B, d.B)), 1.0)
        self.w, self.force = self.w + alpha * d.w, self.force + alpha * d.force
        self.missing, self.idle = r - alpha * d.B, self.idle + alpha * d.idle
        self.direction, self.count = d, self.count + 1

    def refine(self) -> None:
        """Take off the rounding of a method that has mu in its inertias: solve again for what is left of M a + h = tau
        + J' lambda.
        """
        if not self.factorized.refines:
            return
        model, a = self.model, self.a
        nothing = [np.zeros((6, 1))] * model.size
        external = nothing if self.external is None else [0.0 if f is None else f for f in self.external]
        pushes = on_bodies(external, self.held, self.split(self._without_idle(UNTOLD)))
        carried = newton_euler(model, self.move, body_accelerations(model, self.move, a), pushes)
        step, felt = self.factorized.pushed(self.tau - carried - model.armature.reshape(-1, 1) * a)
        felt = rows([np.zeros((0, 1)), *felt])
        self.w, self.force, self.missing = self.w + step, self.force - self.mu * felt, self.missing - felt

    @property
    def a(self) -> Array:
        """The accelerations (nv, 1)."""
        return self.factorized.finished(self.w)

    def split(self, stacked: Array) -> list[Array]:
        """The part of each constraint."""
        ends = np.cumsum([row.size for row in self.held])
        return [stacked[end - row.size : end, :] for end, row in zip(ends.tolist(), self.held)]

    def settled(self) -> Array:
        """The forces, stacked, without what contradictory rows have added to them in every iteration."""
        return self._without_idle(0.5)

    def _without_idle(self, share: float) -> Array:
        """The forces without their idle part, if no more than a share of what is missing can be met."""
        if self.direction is None:
            return self.force
        return self.force - where(self.rB < share * self.rr, self.idle * self.mu, 0.0) * self.missing

    def measures(self) -> tuple[Array, ...]:
        """What `still_to_come` judges by."""
        if self.direction is None:
            return np.full((1, 1), np.inf), *(np.ones((1, 1)) for _ in range(4))
        return self.change, self.rr, self.rB, self.BB, largest(self.a)

    def residual(self) -> Array:
        """max |k - J a|, from the accelerations alone."""
        accelerations = body_accelerations(self.model, self.move, self.a)
        return largest(rows([row.missing(accelerations) for row in self.held]))


class Direction(NamedTuple):
    """What a step adds to w and to the forces, and takes off what is missing; its part along rows that no force can
    meet; r' B r.
    """

    w: Array
    force: Array
    B: Array
    idle: Array
    rB: Array

    def beside(self, before: Direction, beta: Array) -> Direction:
        """This direction made conjugate to the one before."""
        return Direction(*(new + beta * old for new, old in zip(self[:4], before[:4])), self.rB)


def still_to_come(change, rr, rB, BB, size) -> np.ndarray:
    """An estimate of the accelerations' error, relative to the largest or to 1.

    The last sweep's change of the accelerations is B times their error in each eigenvector of G; b is the mean of B
    over what is missing.
    """
    told = np.isfinite(change) & (rB > UNTOLD * rr)
    b = np.clip(np.divide(BB, rB, out=np.full_like(rB, 0.5), where=told), UNTOLD, 1 - ROUNDING)
    return change / np.maximum(1.0, size) * (1 - b) / b
