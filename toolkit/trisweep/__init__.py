"""Trisweep: trajectory optimisation for robots. This package holds the public names and nothing else.

They are fetched from their rooms when first used, so that `import trisweep` stays quick.
"""

from importlib.metadata import version as _version
from typing import TYPE_CHECKING

from .late import fetched_late as _fetched_late

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
    from .ocp import Free, Problem, Settings, Soft, Solution, Solutions, closed_loop, solve_many, table
    from .problems import task
    from .problems.planning import JointLimits, Payload, Plan, ToolGoal, legs, plan
    from .problems.robot import load, robot

__version__ = _version("trisweep")

_HOMES = {
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
    ".ocp": ("Free", "Problem", "Settings", "Soft", "Solution", "Solutions", "closed_loop", "solve_many", "table"),
    ".problems": ("task",),
    ".problems.planning": ("JointLimits", "Payload", "Plan", "ToolGoal", "legs", "plan"),
    ".problems.robot": ("load", "robot"),
    "casadi": ("cos", "cross", "dot", "exp", "horzcat", "sin", "sqrt", "sumsqr", "tan", "vertcat", "vertsplit"),
}

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
    "Payload",
    "Plan",
    "Problem",
    "ProblemError",
    "Proximal",
    "Scene",
    "Settings",
    "Soft",
    "Solution",
    "Solutions",
    "ToolGoal",
    "Trajectory",
    "TrisweepError",
    "__version__",
    "closed_loop",
    "cos",
    "cross",
    "dot",
    "exp",
    "horzcat",
    "legs",
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
    "table",
    "tan",
    "task",
    "vertcat",
    "vertsplit",
    "weld",
]

__getattr__ = _fetched_late(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
