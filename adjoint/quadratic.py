"""Symmetric matrices as their lower triangles, so that symbols are spent once."""

from __future__ import annotations

import casadi as ca


def lower_hessian(f: ca.SX, weights: ca.SX, z: ca.SX) -> ca.SX:
    """The lower triangle of d2(weights' f)/dz2 at frozen weights."""
    frozen = ca.SX.sym("weights", weights.shape)
    return ca.substitute(ca.tril(ca.hessian(f.T @ frozen, z)[0]), frozen, weights)


def congruence(lower: ca.SX, G: ca.SX) -> ca.SX:
    """The lower triangle of G' S G from that of S: with S = T + D + T', T strictly lower, it is B + B' + G' D G."""
    strict, diagonal = ca.tril(lower, False), ca.diag(ca.diag(lower))
    B = G.T @ (strict @ G)
    return ca.tril(B + B.T + G.T @ (diagonal @ G))
