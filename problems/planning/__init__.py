"""Planning of motions of arms: goals in space, obstacles, least time."""

from .inverse_kinematics import ToolGoal
from .limits import Limits
from .plan import Plan
from .planner import plan

__all__ = ["Limits", "Plan", "ToolGoal", "plan"]
