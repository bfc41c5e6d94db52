"""The derivatives of a residual that rests on nodes which depend on the residual's own unknowns.

An implicit step over forward dynamics is such: y = x + h f((x + y) / 2), where f at the middle is a node of its own. As
a function of its inputs and y alone, the residual has the derivatives that `graph` gives of any expression on nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca

from ..cached import cached_property
from .derivatives import Derivatives
from .graph import Graph
from .symbols import index, symbols

if TYPE_CHECKING:
    from .node import ImplicitNode


class NestedDerivatives(Derivatives):
    """By the adjoint method; the inner nodes' unknowns are anchors, put in after the residual's own."""

    def __init__(self, unknowns: ca.SX, residual: ca.SX, inverse: ca.SX | None, inner: list[ImplicitNode]):
        super().__init__(unknowns, residual, inverse)
        self.inner = inner
        self.anchors = tuple(
            pair for node in inner for pair in ((node.unknowns, node.solution), *node.derivatives.anchors)
        )

    @cached_property
    def inputs(self) -> ca.SX:
        """All symbols of the residual and of the inner nodes but the unknowns of all of them."""
        known = index(ca.vertcat(self.unknowns, *(stand_in for stand_in, _ in self.anchors)))
        found = symbols(self.residual, *(node.derivatives.inputs for node in self.inner))
        return ca.vertcat(ca.SX(0, 1), *(symbol for symbol in found if symbol.element_hash() not in known))

    @cached_property
    def _graph(self) -> Graph:
        return Graph(ca.vertcat(self.inputs, self.unknowns), self.inner, exact=True)

    @cached_property
    def _total(self) -> ca.SX:
        return self._graph.total(self.residual)

    @property
    def jacobian(self) -> ca.SX:
        return self._total[:, : self.inputs.numel()]

    @cached_property
    def inverse(self) -> ca.SX:
        if self._inverse is not None:
            return self._inverse
        return ca.solve(self._total[:, self.inputs.numel() :], ca.SX.eye(self.unknowns.numel()))

    def curvature(self, mu: ca.SX) -> ca.SX:
        adjoints = self._graph.adjoints(self.residual, mu)[:2]
        return self._graph.curvature(self.residual, mu, *adjoints)
