"""In the loop: a plan that moves on with the clock, and a command for every measurement."""

from .closed_loop import ClosedLoop, closed_loop
from .controller import Command, Controller
from .history import History

__all__ = ["ClosedLoop", "Command", "Controller", "History", "closed_loop"]
