"""The derivatives of a node's residual g(w, y) in its inputs w and unknowns y, from which `expand` builds all others.

Here CasADi's automatic differentiation finds them, with the symbols of the residual as inputs. Who knows closed forms
gives the node a subclass, in which the inputs may be any expressions w(x) through which alone the residual depends on
other symbols.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import casadi as ca

from ..cached import cached_property
from .quadratic import lower_hessian
from .symbols import index, symbols


@dataclass(frozen=True)
class Beside:
    """Terms of a residual, linear in its unknowns, that a recursion leaves to the compiler: `matrix` is what it needs
    of them to solve, in its own order, `slopes` their derivatives by the inputs (but the joint forces), and `curvature`
    the lower triangle of their second derivatives by those and the unknowns, summed with the symbols `weights`.
    """

    matrix: ca.SX
    slopes: ca.SX
    curvature: ca.SX
    weights: ca.SX

    def moved(self, move: Callable[[ca.SX], ca.SX]) -> Beside:
        """The same with symbols replaced."""
        return Beside(move(self.matrix), move(self.slopes), move(self.curvature), self.weights)


@dataclass(frozen=True)
class Recursion:
    """Something outside of CasADi that solves a node and differentiates its residual on numbers: `tables()` say what to
    compute, `arguments` (a column) what it is given; `inputs` are the w in which the residual is differentiated, and
    `beside()` has the terms that are compiled all the same.
    """

    tables: Callable[[], Any]
    arguments: ca.SX
    inputs: ca.SX
    beside: Callable[[], Beside] | None = None


class Derivatives:
    """The residual's derivatives by automatic differentiation.

    `anchors` are pairs (symbols, expressions): symbols that stand in `inputs` for expressions which count as constants
    when the inputs are differentiated (the point at which a manifold's chart is laid).
    """

    anchors: tuple[tuple[ca.SX, ca.SX], ...] = ()

    def __init__(self, unknowns: ca.SX, residual: ca.SX, inverse: ca.SX | None = None):
        self.unknowns, self.residual = unknowns, residual
        self._inverse = inverse

    @property
    def recursion(self) -> Recursion | None:
        """What computes all this outside of CasADi, if something does."""
        return None

    @cached_property
    def inputs(self) -> ca.SX:
        """w (k): all symbols of the residual but the unknowns."""
        own = index(self.unknowns)
        others = [symbol for symbol in symbols(self.residual) if symbol.element_hash() not in own]
        return ca.vertcat(ca.SX(0, 1), *others)

    @cached_property
    def jacobian(self) -> ca.SX:
        """dg/dw (ny, k)."""
        return ca.jacobian(self.residual, self.inputs)

    @property
    def jacobian_beside_curvature(self) -> ca.SX:
        """The same, as it is cheapest where `curvature` is computed too."""
        return self.jacobian

    @cached_property
    def inverse(self) -> ca.SX:
        """(dg/dy)^-1 (ny, ny); the node's own expression, or a sparse factorization of the symbols."""
        if self._inverse is not None:
            return self._inverse
        return ca.solve(ca.jacobian(self.residual, self.unknowns), ca.SX.eye(self.unknowns.numel()))

    def curvature(self, mu: ca.SX) -> ca.SX:
        """The lower triangle of d2(g' mu)/d(w, y)2 (k + ny, k + ny) at frozen mu."""
        return lower_hessian(self.residual, mu, ca.vertcat(self.inputs, self.unknowns))
