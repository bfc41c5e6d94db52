"""Planning of motions of arms: goals in space, obstacles, least time."""

from .answer import Plan
from .inverse_kinematics import ToolGoal
from .limits import JointLimits
from .planner import plan

__all__ = ["JointLimits", "Plan", "ToolGoal", "plan"]
