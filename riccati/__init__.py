"""Matrices on a tree of stages: the generalized, equality-constrained linear-quadratic problem and its elimination."""
