"""Trisweep: trajectory optimisation for robots. This package holds the public names and nothing else."""

from importlib.metadata import version as _version

__version__ = _version("trisweep")
