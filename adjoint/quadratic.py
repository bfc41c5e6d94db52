"""Symmetric matrices as their lower triangles, so that symbols are spent once."""

from __future__ import annotations

import casadi as ca


def lower_hessian(f: ca.SX, weights: ca.SX, z: ca.SX) -> ca.SX:
    """The lower triangle of d2(weights' f)/dz2 at frozen weights, column by column: only what lies below is used."""
    frozen = ca.SX.sym("weights", weights.shape)
    gradient = ca.jtimes(f, z, frozen, True)
    columns = ca.jtimes(gradient, z, ca.SX.eye(z.numel()))
    return ca.substitute(ca.sparsify(ca.tril(columns)), frozen, ca.densify(weights))


def congruence(lower: ca.SX, G: ca.SX) -> ca.SX:
    """The lower triangle of G' S G from that of S: with S = T + D + T', T strictly lower, it is B + B' + G' D G."""
    strict, diagonal = ca.tril(lower, False), ca.diag(ca.diag(lower))
    B = G.T @ (strict @ G)
    return ca.tril(B + B.T + G.T @ (diagonal @ G))
