"""Trisweep: trajectory optimisation for robots. This package holds the public names and nothing else.

They are fetched from their rooms when first used, so that `import trisweep` stays quick.
"""

from importlib import import_module as _import_module
from importlib.metadata import version as _version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the same names for the checker; tests/toolkit/test_public_names.py sees to it
    from casadi import cos, cross, dot, exp, horzcat, sin, sqrt, sumsqr, tan, vertcat, vertsplit

    from .dynamics import (
        Constraint,
        Event,
        Model,
        ModelBuilder,
        Proximal,
        Scene,
        Trajectory,
        load_mjcf,
        load_urdf,
        point,
        simulate,
        weld,
    )
    from .errors import CompileError, ModelError, NodeError, ProblemError, TrisweepError
    from .ocp import Free, Problem, Settings, Solution, Solutions, solve_many
    from .problems import task
    from .problems.planning import JointLimits, Plan, ToolGoal, plan
    from .problems.robot import load, robot

__version__ = _version("trisweep")

_ROOMS = {
    ".errors": ("CompileError", "ModelError", "NodeError", "ProblemError", "TrisweepError"),
    ".dynamics": (
        "Constraint",
        "Event",
        "Model",
        "ModelBuilder",
        "Proximal",
        "Scene",
        "Trajectory",
        "load_mjcf",
        "load_urdf",
        "point",
        "simulate",
        "weld",
    ),
    ".ocp": ("Free", "Problem", "Settings", "Solution", "Solutions", "solve_many"),
    ".problems": ("task",),
    ".problems.planning": ("JointLimits", "Plan", "ToolGoal", "plan"),
    ".problems.robot": ("load", "robot"),
    "casadi": ("cos", "cross", "dot", "exp", "horzcat", "sin", "sqrt", "sumsqr", "tan", "vertcat", "vertsplit"),
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}

__all__ = [
    "CompileError",
    "Constraint",
    "Event",
    "Free",
    "JointLimits",
    "Model",
    "ModelBuilder",
    "ModelError",
    "NodeError",
    "Plan",
    "Problem",
    "ProblemError",
    "Proximal",
    "Scene",
    "Settings",
    "Solution",
    "Solutions",
    "ToolGoal",
    "Trajectory",
    "TrisweepError",
    "__version__",
    "cos",
    "cross",
    "dot",
    "exp",
    "horzcat",
    "load",
    "load_mjcf",
    "load_urdf",
    "plan",
    "point",
    "robot",
    "simulate",
    "sin",
    "solve_many",
    "sqrt",
    "sumsqr",
    "tan",
    "task",
    "vertcat",
    "vertsplit",
    "weld",
]


def __getattr__(name: str) -> Any:
    if name not in _ROOM_OF:
        raise AttributeError(f"module 'trisweep' has no attribute '{name}'")
    return getattr(_import_module(_ROOM_OF[name], __name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)
