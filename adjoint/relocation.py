"""An expression at another point, with the nodes it rests on laid out again there.

`ca.substitute` alone would leave the unknowns of a node where they are: forward dynamics at the middle of a step is
another node than at its start.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import casadi as ca

from ..cached import cached_property
from .derivatives import Beside, Derivatives, Recursion
from .node import ImplicitNode, implicit, nodes_of, steplike


class Relocated(Derivatives):
    """A node's derivatives with symbols replaced by expressions."""

    def __init__(self, base: Derivatives, old: list[ca.SX], new: list[ca.SX]):
        self._base, self._old, self._new = base, list(old), list(new)
        anchors = []
        for symbols, meaning in base.anchors:
            fresh = ca.SX.sym("anchor", symbols.numel())
            anchors.append((fresh, self._move(meaning)))
            self._old.append(symbols)
            self._new.append(fresh)
        self.anchors = tuple(anchors)

    @cached_property
    def inputs(self) -> ca.SX:
        return self._move(self._base.inputs)

    @cached_property
    def jacobian(self) -> ca.SX:
        return self._move(self._base.jacobian)

    @cached_property
    def jacobian_beside_curvature(self) -> ca.SX:
        return self._move(self._base.jacobian_beside_curvature)

    @cached_property
    def inverse(self) -> ca.SX:
        return self._move(self._base.inverse)

    @cached_property
    def recursion(self) -> Recursion | None:
        base = self._base.recursion
        if base is None:
            return None
        beside = None if base.beside is None else partial(self._moved_beside, base.beside)
        return Recursion(base.tables, self._move(base.arguments), self._move(base.inputs), beside)

    def _moved_beside(self, beside: Callable[[], Beside]) -> Beside:
        return beside().moved(self._move)

    def _move(self, expression: ca.SX) -> ca.SX:
        return ca.substitute([expression], self._old, self._new)[0]

    def curvature(self, mu: ca.SX) -> ca.SX:
        frozen = ca.SX.sym("mu", mu.numel())
        return ca.substitute([self._move(self._base.curvature(frozen))], [frozen], [mu])[0]


def relocate(expression: ca.SX, symbols: ca.SX, point: ca.SX) -> ca.SX:
    """The expression with `symbols` (a column) replaced by the expressions `point` (same size), nodes included.

    With a = forward_dynamics(q, v, tau): relocate(a, q, q + h * v) is the acceleration there.
    """
    old, new = [symbols], [point]
    for node in nodes_of(expression):
        unknowns = ca.SX.sym(node.name, node.unknowns.numel())
        olds, news = [*old, node.unknowns], [*new, unknowns]
        if node.steplike:
            new.append(steplike(node.name, unknowns, _moved_solution(node, olds, news)))
            old.append(node.unknowns)
            continue
        residual, sources = ca.substitute([node.residual, node.sources], olds, news)
        solution = partial(_moved_solution, node, olds, news)
        derivatives = Relocated(node.derivatives, olds, news)
        sizes = None if node.sizes is None else ca.substitute([node.sizes], olds, news)[0]
        moved = implicit(node.name, unknowns, residual, solution, derivatives=derivatives, sources=sources, sizes=sizes)
        new.append(moved)
        old.append(node.unknowns)
    return ca.substitute([expression], old, new)[0]


def _moved_solution(node: ImplicitNode, old: list[ca.SX], new: list[ca.SX]) -> ca.SX:
    return ca.substitute([node.solution], old, new)[0]
