"""Implicit nodes: unknowns y that stand for the solution of g(x, y) = 0, and the table that finds them in expressions.

A symbol of CasADi carries nothing but its name, so the table maps each unknown to its node. Unknowns may sit in any
expression, and CasADi does not tell when the last one is gone: so the table holds a node until somebody says that he
keeps it (`keep`: a problem does), and from then on it lives as long as they do. Of a node that is gone the table has
the symbols, and refuses expressions with them.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import casadi as ca

from ..cached import cached_property
from ..errors import NodeError
from .derivatives import Derivatives
from .nested import NestedDerivatives
from .symbols import distinct, index, symbols


@dataclass(frozen=True, eq=False)
class ImplicitNode:
    """y = `unknowns` (ny symbols) solve `residual` = 0 (ny); `solve` makes the expression (ny) that does, without y, of
    the symbols in `sources`.
    """

    name: str
    unknowns: ca.SX
    residual: ca.SX
    solve: Callable[[], ca.SX]
    sources: ca.SX
    derivatives: Derivatives
    inner: tuple[ImplicitNode, ...] = ()
    steplike: bool = False  # constant but for jumps: no slopes
    sizes: ca.SX | None = None  # of a solution that may miss the residual: what counts as large in each of its rows

    @cached_property
    def solution(self) -> ca.SX:
        """y as an expression (ny) of other symbols."""
        return self.solve()

    def __getstate__(self) -> dict[str, Any]:
        return {part.name: getattr(self, part.name) for part in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """A node from elsewhere takes its place in the table here."""
        self.__dict__.update(state)
        _register(self)

    @property
    def parents(self) -> list[ImplicitNode]:
        """The nodes this one needs solved before it: those under its expressions and under its inner nodes'."""
        members = (self, *self.inner)
        found = _found(*(part for node in members for part in (node.residual, node.sources)))
        return [node for node in found if node not in members]


class _Place:
    """A node in the table: held here until somebody keeps it."""

    def __init__(self, node: ImplicitNode):
        self.name, self.unknowns = node.name, node.unknowns
        self.held: ImplicitNode | None = node
        self._known = weakref.ref(node)

    @property
    def node(self) -> ImplicitNode:
        node = self._known()
        if node is None:
            raise NodeError(
                f"node '{self.name}': whoever kept it is gone, expected its problem to live as long as expressions of "
                f"its unknown '{self.unknowns[0]}'"
            )
        return node


_TABLE: dict[int, _Place] = {}


def implicit(
    name: str,
    unknowns: ca.SX,
    residual: ca.SX,
    solution: ca.SX | Callable[[], ca.SX],
    inverse: ca.SX | None = None,
    derivatives: Derivatives | None = None,
    sources: ca.SX | None = None,
    sizes: ca.SX | None = None,
) -> ca.SX:
    """Make a node, and return its unknowns to be used like any other symbols.

    unknowns: y, a column of fresh symbols (ny). residual: g (ny) in y and any other symbols, other nodes' unknowns
    among them. solution: y as an expression (ny) of those other symbols. inverse: (dg/dy)^-1 (ny, ny), if there is a
    cheap expression; derivatives: closed forms of all the residual's derivatives, if there are any, in place of
    `inverse`. A solution that is costly to write down may be a function that does, called where it is wanted; `sources`
    are then expressions with all its symbols. The residual may rest on nodes that depend on y: they become inner nodes
    of this one. sizes: of a solution that may miss the residual, such as a fixed number of iterations, the sizes (ny)
    of what is summed there, for who judges what is left; without, the solution is taken for exact.

        y = SX.sym("y"); implicit("root", y, y * y - x, sqrt(x))
    """
    if sources is None:
        solution = solution() if callable(solution) else solution
        sources = solution
    expressions = {"residual": residual} if callable(solution) else {"residual": residual, "solution": solution}
    if sizes is not None:
        expressions["sizes"] = sizes
    _check(name, unknowns, expressions, inverse)
    inner = _dependents(nodes_of(residual), unknowns) if derivatives is None else []
    _check_solvable(name, unknowns, residual, sources, inner, known_inverse=derivatives is not None)
    if inner:
        derivatives = NestedDerivatives(unknowns, residual, inverse, inner)
    elif derivatives is None:
        derivatives = Derivatives(unknowns, residual, inverse)
    solve = solution if callable(solution) else partial(_stated, solution)
    node = ImplicitNode(name, unknowns, residual, solve, sources, derivatives, tuple(inner), sizes=sizes)
    _register(node)
    return unknowns


def steplike(name: str, unknowns: ca.SX, values: ca.SX) -> ca.SX:
    """A node of values (ny) that are constant but for jumps, so that nothing is differentiated; its unknowns (ny).

    As to derivatives they are constants: their residual is the unknowns themselves.
    """
    _check(name, unknowns, {"values": values}, None)
    solve = partial(_stated, values)
    derivatives = Derivatives(unknowns, unknowns, None)
    _register(ImplicitNode(name, unknowns, unknowns, solve, values, derivatives, (), True))
    return unknowns


def _register(node: ImplicitNode) -> None:
    _TABLE.update(dict.fromkeys(index(node.unknowns), _Place(node)))


def _stated(solution: ca.SX) -> ca.SX:
    return solution


def nodes_of(*expressions: ca.SX) -> list[ImplicitNode]:
    """All nodes on which the expressions rest, parents before those that use them."""
    ordered: list[ImplicitNode] = []
    path: list[ImplicitNode] = []

    def visit(node: ImplicitNode) -> None:
        if node in ordered:
            return
        if node in path:
            names = " on ".join(f"'{member.name}'" for member in [*path[path.index(node) :], node])
            raise NodeError(
                f"node {names} rests on itself, expected a graph without cycles (solve for both in one node)"
            )
        path.append(node)
        for parent in node.parents:
            visit(parent)
        ordered.append(path.pop())

    for node in _found(*expressions):
        visit(node)
    return ordered


def inexact(nodes: Iterable[ImplicitNode]) -> list[ImplicitNode]:
    """Those of the nodes, and of the ones inside them, whose solution may miss the residual."""
    found = [member for node in nodes for member in (node, *inexact(node.inner))]
    return [node for node in dict.fromkeys(found) if node.sizes is not None]


def keep(*expressions: ca.SX) -> list[ImplicitNode]:
    """`nodes_of`, for somebody who keeps them from here on: once nobody who did is left, they go."""
    found = nodes_of(*expressions)
    for node in found:
        _release(node)
    return found


def _release(node: ImplicitNode) -> None:
    for key in index(node.unknowns):
        _TABLE[key].held = None
    for inner in node.inner:
        _release(inner)


def _found(*expressions: ca.SX) -> list[ImplicitNode]:
    """The nodes whose unknowns stand in the expressions, each once."""
    keys = (symbol.element_hash() for symbol in symbols(*expressions))
    return list(dict.fromkeys(_TABLE[key].node for key in keys if key in _TABLE))


def _dependents(nodes: list[ImplicitNode], unknowns: ca.SX) -> list[ImplicitNode]:
    """Those of the ordered nodes that depend on the unknowns, directly or by way of each other."""
    moved, found = set(index(unknowns)), []
    for node in nodes:
        if any(symbol.element_hash() in moved for symbol in symbols(node.residual, node.sources)):
            found.append(node)
            moved |= set(index(node.unknowns))
    return found


def _check(name: str, unknowns: ca.SX, expressions: dict[str, ca.SX], inverse: ca.SX | None) -> None:
    """Shapes, and unknowns that are fresh symbols."""
    size = unknowns.numel()
    if not distinct(unknowns):
        raise NodeError(f"node '{name}': unknowns are {unknowns}, expected a column of distinct symbols")
    for what, vector in expressions.items():
        if vector.shape != (size, 1):
            raise NodeError(f"node '{name}': {what} has shape {vector.shape}, expected ({size}, 1) like the unknowns")
    if inverse is not None and inverse.shape != (size, size):
        raise NodeError(f"node '{name}': inverse has shape {inverse.shape}, expected ({size}, {size})")
    for other in _found(unknowns):
        raise NodeError(f"node '{name}': unknowns contain those of node '{other.name}', expected fresh symbols")


def _check_solvable(
    name: str, unknowns: ca.SX, residual: ca.SX, sources: ca.SX, inner: list[ImplicitNode], known_inverse: bool
) -> None:
    """A solution free of what it solves for, and a residual whose dg/dy can have an inverse; closed forms may have one
    that singles out a solution where the residual does not.
    """
    unsolved = index(ca.vertcat(unknowns, *(node.unknowns for node in inner)))
    for symbol in symbols(sources):
        if symbol.element_hash() in unsolved:
            raise NodeError(
                f"node '{name}': solution contains the node's own unknown '{symbol}', expected other symbols only"
            )
    if not inner and not known_inverse and ca.sprank(ca.jacobian_sparsity(residual, unknowns)) < unknowns.numel():
        raise NodeError(
            f"node '{name}': the residual leaves some of its {unknowns.numel()} unknowns undetermined, "
            "expected dg/dy invertible"
        )
