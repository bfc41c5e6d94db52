"""Values and exact derivatives of expressions that rest on implicit nodes, by the equations of `graph`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar, overload

import casadi as ca

from ..errors import NodeError
from .graph import Graph
from .node import ImplicitNode, nodes_of
from .quadratic import congruence, lower_hessian
from .symbols import distinct

HESSIANS = ("exact", "gauss-newton", "no-dynamics")


Adjoint = TypeVar("Adjoint", ca.SX, None)


@dataclass(frozen=True)
class Expansion(Generic[Adjoint]):
    """Outputs and derivatives as SX in the variables and parameters alone; they share their subexpressions.

    gradient and hessian are None without multipliers.
    """

    values: ca.SX
    jacobian: ca.SX
    gradient: Adjoint
    hessian: Adjoint


@overload
def expand(variables: ca.SX, outputs: ca.SX, multipliers: None = None, hessian: str = "exact") -> Expansion[None]: ...
@overload
def expand(variables: ca.SX, outputs: ca.SX, multipliers: ca.SX, hessian: str = "exact") -> Expansion[ca.SX]: ...
def expand(
    variables: ca.SX, outputs: ca.SX, multipliers: ca.SX | None = None, hessian: str = "exact"
) -> Expansion[ca.SX] | Expansion[None]:
    """Values f (m), Jacobian df/dx (m, n), and gradient (n) and Hessian (n, n) of multipliers' f.

    variables: x, a column of symbols (n). outputs: f, a column (m). multipliers: eta (m), expressions or symbols,
    constant as far as the derivatives go. All other symbols are parameters. Zeros of the structure are left out of the
    sparse results; the Hessian's halves are the same expressions.

    hessian: "exact"; "no-dynamics" drops the curvature of the nodes, in eq. 14 the sum and that of the inputs in L;
    "gauss-newton" drops also that of all outputs but the first, which is the objective.
    """
    if multipliers is None:
        values, jacobian = ca.cse(_derivatives(variables, outputs))
        return Expansion(values, jacobian, None, None)
    values, jacobian, gradient, lower = ca.cse(_derivatives(variables, outputs, multipliers, hessian))
    return Expansion(values, jacobian, gradient, ca.tril2symm(lower))


def expand_to_compile(
    variables: ca.SX, outputs: ca.SX, multipliers: ca.SX, hessian: str = "exact", of_nodes: ca.SX | None = None
) -> tuple[ca.SX, ca.SX, ca.SX]:
    """Values, Jacobian and lower triangle of the Hessian for the compiler: it merges equal subexpressions itself, and
    only of what it has not compiled before. of_nodes: multipliers by which the nodes' part of the curvature counts,
    where they are others.
    """
    values, jacobian, _, lower = _derivatives(variables, outputs, multipliers, hessian, of_nodes)
    return values, jacobian, lower


def _derivatives(
    variables: ca.SX,
    outputs: ca.SX,
    multipliers: ca.SX | None = None,
    hessian: str = "exact",
    of_nodes: ca.SX | None = None,
) -> list[ca.SX]:
    """Values and Jacobian and, where there are multipliers, gradient and lower triangle of the Hessian."""
    _check(variables, outputs, multipliers, hessian)
    exact = multipliers is not None and hessian == "exact"
    graph = Graph(variables, nodes_of(outputs) if multipliers is None else nodes_of(outputs, multipliers), exact)
    jacobian = graph.total(outputs)
    if multipliers is None:
        return _solve(graph.nodes, [outputs, jacobian])
    mu, nu, gradient = graph.adjoints(outputs, multipliers)
    if exact:
        if of_nodes is not None:
            mu, nu, _ = graph.adjoints(outputs, of_nodes)
        lower = graph.curvature(outputs, multipliers, mu, nu)
    else:
        curved = slice(0, 1 if hessian == "gauss-newton" else None)
        lower = congruence(lower_hessian(outputs[curved], multipliers[curved], graph.z), graph.G)
    return _solve(graph.nodes, [outputs, jacobian, gradient, lower])


def solved(expression: ca.SX, slopes: bool = False) -> ca.SX:
    """The expression with every node's unknowns replaced by the node's solution. slopes: with those of steplike nodes
    left, so that CasADi can differentiate it; what comes of that is to be `solved`.
    """
    nodes = [node for node in nodes_of(expression) if not (slopes and node.steplike)]
    return ca.cse(_solve(nodes, [expression]))[0]


def _solve(nodes: list[ImplicitNode], expressions: list[ca.SX]) -> list[ca.SX]:
    """The expressions with unknowns and anchors replaced by what they stand for."""
    stand_ins: list[ca.SX] = []
    meanings: list[ca.SX] = []
    known: set[int] = set()
    for node in nodes:
        for symbols, meaning in ((node.unknowns, node.solution), *node.derivatives.anchors):
            if symbols[0].element_hash() not in known:
                meanings += ca.substitute([ca.densify(meaning)], stand_ins, meanings)
                stand_ins.append(symbols)
                known.add(symbols[0].element_hash())
    return ca.substitute(expressions, stand_ins, meanings)


def _check(variables: ca.SX, outputs: ca.SX, multipliers: ca.SX | None, hessian: str) -> None:
    if not distinct(variables):
        raise NodeError(f"expand: variables are {variables}, expected a column of distinct symbols")
    for node in nodes_of(variables):
        raise NodeError(
            f"expand: variables contain unknowns of node '{node.name}', expected symbols that no node solves for"
        )
    if outputs.shape[1] != 1:
        raise NodeError(f"expand: outputs have shape {outputs.shape}, expected a column")
    if multipliers is not None and multipliers.shape != outputs.shape:
        raise NodeError(
            f"expand: multipliers have shape {multipliers.shape}, expected {outputs.shape} like the outputs"
        )
    if hessian not in HESSIANS:
        raise NodeError(f"expand: hessian is '{hessian}', expected one of {', '.join(HESSIANS)}")
