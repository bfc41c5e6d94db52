"""Optimal-control problems: time, cost, constraints, the solution, MPC."""
