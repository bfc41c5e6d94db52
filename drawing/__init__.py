"""Pixels: figures, plots and pages of what other rooms hand over as data."""
