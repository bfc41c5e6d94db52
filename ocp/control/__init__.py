"""In the loop: a plan that moves on with the clock, and a command for every measurement."""

from .controller import Command, Controller
from .history import History

__all__ = ["Command", "Controller", "History"]
