"""What a proximal method is: a factorization at a state, and the solves of the iterations on it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from ..algebra.arrays import Array
from ..forward_problem import ForwardProblem


class ProximalFactorization(ABC):
    """A method's factorization of a problem for one mu. `stiffness` is mu times the largest eigenvalue of J M^-1 J'
    where mu is not given; `refines` says that mu is part of its inertias, so that it rounds by mu, and can solve for
    joint forces to make up for that. `held` are the constraints at the state.
    """

    name: ClassVar[str]
    stiffness: ClassVar[float]
    refines: ClassVar[bool] = False

    def __init__(self, problem: ForwardProblem, mu: float):
        self.problem, self.mu = problem, mu
        self.model, self.move, self.held = problem.model, problem.move, problem.couplings
        self.factorize()

    @abstractmethod
    def factorize(self) -> None:
        """The sweep that all iterations share."""

    @abstractmethod
    def first(self, forces: Sequence[Array]) -> tuple[Array, list[Array]]:
        """w (nv, 1), of which the accelerations are made, and the residual of each constraint's rows, for forces."""

    @abstractmethod
    def again(self, residual: Sequence[Array]) -> tuple[Array, list[Array]]:
        """The change of w as mu times `residual` is added to the forces, and the residual then."""

    def accelerations(self, w: Array) -> Array:
        """Joint accelerations (nv, 1): w itself, if a method does not put off part of the work."""
        return w

    def response(self, tau: Array) -> tuple[Array, list[Array]]:
        """The change of w for more joint forces tau (nv, 1), and what the rows feel of it."""
        raise NotImplementedError(f"method '{self.name}' does not refine")
