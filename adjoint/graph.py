"""Derivatives of expressions that rest on a graph of implicit nodes (Sathya 2024c Sec. 2.4, which has one node).

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

from typing import TYPE_CHECKING

import casadi as ca

from .quadratic import congruence, lower_hessian

if TYPE_CHECKING:
    from .node import ImplicitNode


class Graph:
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
        mu: list[ca.SX] = []
        nu: list[ca.SX] = []
        for k in reversed(range(len(self.nodes))):
            mu.insert(0, self.known[k].inverse.T @ slope[self.ends[k] : self.ends[k + 1]])
            nu.insert(0, -(self.slopes[k].T @ mu[0]))
            slope += ca.jtimes(self.inputs[k], self.z, nu[0], True)
        return mu, nu, slope[: self.ends[0]]

    def curvature(self, f: ca.SX, eta: ca.SX, mu: list[ca.SX], nu: list[ca.SX]) -> ca.SX:
        """The lower triangle of d2(eta' f)/dx2 for the adjoints of f (eq. 14)."""
        lower = congruence(lower_hessian(ca.vertcat(f, *self.inputs), ca.vertcat(eta, *nu), self.z), self.G)
        for g, multipliers, W, Y in zip(self.known, mu, self.W, self.Y):
            lower -= congruence(g.curvature(multipliers), ca.vertcat(W, Y))
        return lower
