"""Motions of robots, each from many guesses: a function a motion, in files by kind of robot.

from motions import motion, names
solver = motion("go1_jump").problem.build()
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from . import arms, legs, swings, vehicles
from .motion import Motion

MOTIONS: dict[str, Callable[[], Motion]] = {
    made.__name__: made for room in (arms, legs, swings, vehicles) for made in room.MOTIONS
}


def names() -> list[str]:
    """Of all motions."""
    return list(MOTIONS)


@lru_cache(maxsize=1)
def motion(name: str) -> Motion:
    """The motion of that name; the last one is kept."""
    if name not in MOTIONS:
        raise SystemExit(f"motions: there is no motion {name!r}, expected one of {', '.join(MOTIONS)}")
    return MOTIONS[name]()
