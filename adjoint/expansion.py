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
    exact = multipliers is not None and hessian == "exact"
    graph = _Graph(variables, nodes_of(outputs), exact)
    jacobian = graph.total(outputs)
    if multipliers is None:
        return Expansion(*_solve(graph.nodes, [outputs, jacobian]), None, None)
    mu, nu, gradient = graph.adjoints(outputs, multipliers)
    curved, weights = outputs, multipliers
    if hessian == "gauss-newton":
        curved, weights = outputs[0], multipliers[0]
    if exact:
        curved, weights = ca.vertcat(outputs, *graph.inputs), ca.vertcat(multipliers, *nu)
    lower = congruence(lower_hessian(curved, weights, graph.z), graph.G)
    if exact:
        lower -= graph.curvature(mu)
    values, jacobian, gradient, lower = _solve(graph.nodes, [outputs, jacobian, gradient, lower])
    return Expansion(values, jacobian, gradient, ca.tril2symm(lower))


def solved(expression: ca.SX) -> ca.SX:
    """The expression with every node's unknowns replaced by the node's solution."""
    return _solve(nodes_of(expression), [expression])[0]


class _Graph:
    """The nodes under some outputs, and the sensitivities z, G, W and Y of the header."""

    def __init__(self, x: ca.SX, nodes: list[ImplicitNode], exact: bool):
        self.nodes, self.known = nodes, [node.derivatives for node in nodes]
        self.inputs = [g.inputs for g in self.known]
        self.slopes = [g.jacobian_beside_curvature if exact else g.jacobian for g in self.known]
        self.z, self.G, self.W, self.Y = x, ca.SX.eye(x.numel()), [], []
        self.ends = [x.numel()]
        for node, slope in zip(nodes, self.slopes):
            self.W.append(self.total(node.derivatives.inputs))
            self.Y.append(-(node.derivatives.inverse @ (slope @ self.W[-1])))
            self.z, self.G = ca.vertcat(self.z, node.unknowns), ca.vertcat(self.G, self.Y[-1])
            self.ends.append(self.z.numel())

    def total(self, f: ca.SX) -> ca.SX:
        """df/dx of an expression in z."""
        return ca.jacobian(f, self.z) @ self.G

    def adjoints(self, f: ca.SX, eta: ca.SX) -> tuple[list[ca.SX], list[ca.SX], ca.SX]:
        """mu_k and nu_k of each node, from the last to the first, and the gradient L,x."""
        slope = ca.jtimes(f, self.z, eta, True)
        mu, nu = [], []
        for k in reversed(range(len(self.nodes))):
            mu.insert(0, self.known[k].inverse.T @ slope[self.ends[k] : self.ends[k + 1]])
            nu.insert(0, -(self.slopes[k].T @ mu[0]))
            slope += ca.jtimes(self.inputs[k], self.z, nu[0], True)
        return mu, nu, slope[: self.ends[0]]

    def curvature(self, mu: list[ca.SX]) -> ca.SX:
        """The lower triangle of the sum in eq. 14."""
        terms = zip(self.known, mu, self.W, self.Y)
        return sum((congruence(g.curvature(m), ca.vertcat(W, Y)) for g, m, W, Y in terms), ca.SX(*[self.ends[0]] * 2))


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
