"""Trisweep: trajectory optimisation for robots. This package holds the public names and nothing else.

They are fetched from their rooms when first used, so that `import trisweep` stays quick.
"""

from importlib import import_module as _import_module
from importlib.metadata import version as _version

__version__ = _version("trisweep")

_ROOMS = {
    ".errors": ("CompileError", "ModelError", "NodeError", "ProblemError", "TrisweepError"),
    ".dynamics": (
        "Constraint",
        "Model",
        "ModelBuilder",
        "Proximal",
        "Trajectory",
        "load_mjcf",
        "load_urdf",
        "point",
        "simulate",
        "weld",
    ),
    ".ocp": ("Free", "Problem", "Settings", "Solution"),
    ".problems": ("task",),
    ".problems.robot": ("load", "robot"),
    "casadi": ("cos", "cross", "dot", "exp", "horzcat", "sin", "sqrt", "sumsqr", "tan", "vertcat", "vertsplit"),
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}

__all__ = ["__version__", *_ROOM_OF]


def __getattr__(name: str):
    if name not in _ROOM_OF:
        raise AttributeError(f"module 'trisweep' has no attribute '{name}'")
    return getattr(_import_module(_ROOM_OF[name], __name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)
