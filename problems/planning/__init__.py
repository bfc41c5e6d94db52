"""Planning of motions of arms: goals in space, obstacles, least time."""

from .answer import Plan
from .inverse_kinematics import ToolGoal
from .limits import Limits
from .planner import plan

__all__ = ["Limits", "Plan", "ToolGoal", "plan"]
