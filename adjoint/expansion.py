"""Values and exact derivatives of expressions that rest on implicit nodes (004 Sec. 2.4, here for a graph of nodes).

Outputs f(z) and every node's inputs w_k(z) are expressions in z = (x, y_1, ..., y_K), x the variables and y_k the
unknowns of node k; nodes are in an order in which w_k knows y_1 to y_(k-1) only. With G = dz/dx, grown node by node:

    W_k = dw_k/dx = w_k,z G          Y_k = dy_k/dx = -(g_k,y)^-1 g_k,w W_k                              (7)
    df/dx = f,z G
    mu_k = (g_k,y)'^-1 d(L)/dy_k     nu_k = -g_k,w' mu_k     L(z) = eta' f + sum_k nu_k' w_k            (10)
    d(eta' f)/dx = L,x                                                                                  (11)
    d2(eta' f)/dx2 = G' L,zz G - sum_k (W_k; Y_k)' d2(g_k' mu_k)/d(w_k, y_k)2 (W_k; Y_k)                (14)

with eta, nu and mu frozen. No solver is ever differentiated.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

import casadi as ca

from .errors import NodeError
from .node import ImplicitNode, nodes_of
from .quadratic import congruence, lower_hessian
from .symbols import distinct

HESSIANS = ("exact", "gauss-newton", "no-dynamics")


@dataclass(frozen=True)
class Expansion:
    """Outputs and derivatives as SX in the variables and parameters alone; they share their subexpressions.

    gradient and hessian are None without multipliers.
    """

    values: ca.SX
    jacobian: ca.SX
    gradient: ca.SX | None
    hessian: ca.SX | None


def expand(variables: ca.SX, outputs: ca.SX, multipliers: ca.SX | None = None, hessian: str = "exact") -> Expansion:
    """Values f (m), Jacobian df/dx (m, n), and gradient (n) and Hessian (n, n) of multipliers' f.

    variables: x, a column of symbols (n). outputs: f, a column (m). multipliers: eta (m), expressions or symbols,
    constant as far as the derivatives go. All other symbols are parameters. Zeros of the structure are left out of the
    sparse results; the Hessian's halves are the same expressions.

    hessian: "exact"; "no-dynamics" drops the curvature of the nodes, in eq. 14 the sum and that of the inputs in L;
    "gauss-newton" drops also that of all outputs but the first, which is the objective.
    """
    _check(variables, outputs, multipliers, hessian)
    nodes = nodes_of(outputs)
    z, G, W, Y = _sensitivities(variables, nodes)
    jacobian = ca.jacobian(outputs, z) @ G
    if multipliers is None:
        return Expansion(*_solve(nodes, [outputs, jacobian]), None, None)
    mu, nu, gradient = _adjoints(outputs, multipliers, variables, nodes)
    curved, weights = outputs, multipliers
    if hessian == "exact":
        curved, weights = (
            ca.vertcat(outputs, *(node.derivatives.inputs for node in nodes)),
            ca.vertcat(multipliers, *nu),
        )
    elif hessian == "gauss-newton":
        curved, weights = outputs[0], multipliers[0]
    lower = congruence(lower_hessian(curved, weights, z), G)
    if hessian == "exact":
        for k, node in enumerate(nodes):
            lower -= congruence(node.derivatives.curvature(mu[k]), ca.vertcat(W[k], Y[k]))
    values, jacobian, gradient, lower = _solve(nodes, [outputs, jacobian, gradient, lower])
    return Expansion(values, jacobian, gradient, ca.tril2symm(lower))


def solved(expression: ca.SX) -> ca.SX:
    """The expression with every node's unknowns replaced by the node's solution."""
    return _solve(nodes_of(expression), [expression])[0]


def _sensitivities(x: ca.SX, nodes: list[ImplicitNode]) -> tuple[ca.SX, ca.SX, list[ca.SX], list[ca.SX]]:
    """z, G = dz/dx, and for each node W_k and Y_k."""
    z, G, W, Y = x, ca.SX.eye(x.numel()), [], []
    for node in nodes:
        g = node.derivatives
        W.append(ca.jacobian(g.inputs, z) @ G)
        Y.append(-(g.inverse @ (g.jacobian @ W[-1])))
        z, G = ca.vertcat(z, node.unknowns), ca.vertcat(G, Y[-1])
    return z, G, W, Y


def _adjoints(f: ca.SX, eta: ca.SX, x: ca.SX, nodes: list[ImplicitNode]) -> tuple[list[ca.SX], list[ca.SX], ca.SX]:
    """mu_k and nu_k of each node, from the last to the first, and the gradient L,x."""
    ends = list(accumulate([x.numel(), *(node.unknowns.numel() for node in nodes)]))
    z = ca.vertcat(x, *(node.unknowns for node in nodes))
    slope = ca.jtimes(f, z, eta, True)
    mu, nu = [], []
    for k, node in reversed(list(enumerate(nodes))):
        g = node.derivatives
        mu.insert(0, g.inverse.T @ slope[ends[k] : ends[k + 1]])
        nu.insert(0, -(g.jacobian.T @ mu[0]))
        slope += ca.jtimes(g.inputs, z, nu[0], True)
    return mu, nu, slope[: ends[0]]


def _solve(nodes: list[ImplicitNode], expressions: list[ca.SX]) -> list[ca.SX]:
    """The expressions with unknowns and anchors replaced by what they stand for, subexpressions shared."""
    stand_ins, meanings = [], []
    for node in nodes:
        for symbols, meaning in ((node.unknowns, node.solution), *node.derivatives.anchors):
            meanings += ca.substitute([ca.densify(meaning)], stand_ins, meanings)
            stand_ins.append(symbols)
    return ca.cse(ca.substitute(expressions, stand_ins, meanings))


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
