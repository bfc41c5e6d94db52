"""Implicit nodes and their exact derivatives: y(x) defined by a residual g(x, y) = 0. No bodies, no time."""
