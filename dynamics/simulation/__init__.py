"""Motions over time: integrators, compiled steps, trajectories."""
