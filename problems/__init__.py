"""Ready robots and ready tasks.

>>> from trisweep.problems import names, task
>>> solution = task("cart_pole_swing_up").solve()
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..errors import ProblemError, said

if TYPE_CHECKING:
    from .ready import Task

# name of a function: the module of `tasks` it stands in
_MODULES = {
    "iiwa_reach": "iiwa_reach",
    "iiwa_reach_constrained": "iiwa_reach",
    "pendulum_swing_up": "pendulum",
    "cart_pole_swing_up": "cart_pole",
    "two_link_minimum_time": "two_link_arm",
    "four_bar_move": "four_bar",
    "quadrotor_to_a_point": "quadrotor",
    "truck_trailer_parking": "truck_trailer",
    "hanging_chain": "hanging_chain",
    "particle_steering": "particle_steering",
    "goddard_rocket": "goddard_rocket",
}


def names() -> tuple[str, ...]:
    """The names of the ready problems."""
    return tuple(_MODULES)


def task(name: str, **options: Any) -> Task:
    """The ready problem of that name; the options are those of its function, such as steps=50."""
    return _function(name)(**options)


def summary(name: str) -> str:
    """What the ready problem of that name is about, in a line."""
    return (_function(name).__doc__ or "").strip().split("\n")[0]


def _function(name: str) -> Callable[..., Task]:
    if not isinstance(name, str) or name not in _MODULES:
        raise ProblemError(f"there is no ready problem {said(name)}, expected one of {', '.join(_MODULES)}")
    return getattr(import_module(f".tasks.{_MODULES[name]}", __name__), name)
