"""Rows on nodes whose derivatives nobody compiles: what is left of them for the compiler.

A node may name a recursion: something outside of CasADi that solves the node and differentiates its residual, for
numbers that it is given. What remains are expressions of z = (x, y_1, ..., y_K): the outputs f, the numbers that the
recursions are given, the inputs w_k of the residuals, and their derivatives by z. Put together by the equations of
`graph`, on numbers, they make the derivatives of `expand`.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from .derivatives import Recursion
from .node import nodes_of
from .quadratic import lower_hessian


@dataclass(frozen=True)
class Remainder:
    """Expressions of the variables, of `unknowns` (all y in a row) and parameters.

    slopes: d(f, w_1, ..., w_K)/dz; curvature: the lower triangle of d2(weights' f + adjoints' w)/dz2, in the symbols
    `adjoints` for all nu_k in a row.
    """

    unknowns: ca.SX
    recursions: list[Recursion]
    slopes: ca.SX
    curvature: ca.SX
    adjoints: ca.SX


def remainder(variables: ca.SX, outputs: ca.SX, weights: ca.SX, hessian: str = "exact") -> Remainder | None:
    """What the compiler is left with; None where the outputs rest on no node, or on one without a recursion.

    hessian: as in `expand`.
    """
    nodes = nodes_of(outputs)
    recursions = [each for node in nodes if (each := node.derivatives.recursion) is not None]
    if not nodes or len(recursions) < len(nodes):
        return None
    unknowns = ca.vertcat(*(node.unknowns for node in nodes))
    inputs = ca.vertcat(*(each.inputs for each in recursions))
    z, adjoints = ca.vertcat(variables, unknowns), ca.SX.sym("adjoint", inputs.numel())
    slopes = ca.jacobian(ca.vertcat(outputs, inputs), z)
    if hessian == "exact":
        curved, factors = ca.vertcat(outputs, inputs), ca.vertcat(weights, adjoints)
    else:
        part = slice(0, 1 if hessian == "gauss-newton" else None)
        curved, factors = outputs[part], weights[part]
    curvature = lower_hessian(curved, factors, z)
    anchors = [pair for node in nodes for pair in node.derivatives.anchors]
    stand_ins, meanings = [symbols for symbols, _ in anchors], [ca.densify(meaning) for _, meaning in anchors]
    slopes, curvature = ca.substitute([slopes, curvature], stand_ins, meanings)
    return Remainder(unknowns, recursions, slopes, curvature, adjoints)
