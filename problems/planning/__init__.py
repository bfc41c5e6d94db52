"""Planning of motions of arms: goals in space, obstacles, least time."""

from .answer import Plan
from .goals import ToolGoal
from .leg import legs
from .limits import JointLimits
from .payload import Payload
from .planner import plan

__all__ = ["JointLimits", "Payload", "Plan", "ToolGoal", "legs", "plan"]
