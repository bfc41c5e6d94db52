"""Where a link is to be, and how it is to be held, as rows that are never redundant.

A place takes three rows, one on a line two. A rotation takes three: twice the vector part of the quaternion of the
error, which vanishes at no other rotation. A direction takes two, and an inequality that tells it from its opposite; a
cone about it takes one. How far off a link may be is a number or an expression of parameters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ....errors import ModelError, ProblemError, said
from ....floats import checked_floats

if TYPE_CHECKING:
    from ..costs_and_constraints.named_stages import Stages
    from ..problem import Problem

SMALLEST = 1e-12  # of 1 + trace(R): half a turn away, the quaternion is kept from dividing by zero


def reach(
    problem: Problem,
    link: str,
    position: ArrayLike | ca.SX | None,
    rotation: ArrayLike | ca.SX | None,
    pointing: tuple[ArrayLike | ca.SX, ArrayLike | ca.SX] | None,
    along: ArrayLike | ca.SX | None,
    tolerance: float | ca.SX,
    angle: float | ca.SX,
    at: Stages,
    name: str | None,
) -> None:
    """What `Problem.reach` does."""
    R, p = _pose(problem, "reach", link)
    called = link if name is None else name
    if not isinstance(called, str):
        raise ProblemError(f"reach: name is {said(name)}, expected a text that messages can call it by")
    if position is None and rotation is None and pointing is None:
        raise ProblemError(f"reach: '{link}' has no goal, expected position, rotation or pointing")
    if rotation is not None and pointing is not None:
        raise ProblemError(f"reach: '{link}' has both rotation and pointing, expected one of them")
    if position is not None:
        error = p - _shaped(f"reach: position of '{link}'", position, (3, 1))
        if along is not None:
            error = across(_unit(f"reach: along of '{link}'", along)) @ error
        _within(problem, f"{called} position", error, tolerance, at)
    if rotation is not None:
        wanted = _shaped(f"reach: rotation of '{link}'", rotation, (3, 3))
        if wanted.is_constant():
            _check_rotation(link, np.array(ca.DM(wanted)))
        _within(problem, f"{called} rotation", rotation_error(wanted.T @ R), angle, at)
    if pointing is not None:
        if not isinstance(pointing, (tuple, list)) or len(pointing) != 2:
            raise ProblemError(f"reach: pointing of '{link}' is {said(pointing)}, expected an axis and a direction")
        axis = R @ _unit(f"reach: axis of '{link}'", pointing[0])
        direction = _unit(f"reach: direction of '{link}'", pointing[1])
        _pointing(problem, f"{called} pointing", axis, direction, angle, at)


def keep_upright(problem: Problem, link: str, axis: ArrayLike, up: ArrayLike, angle: float, at: Stages) -> None:
    """What `Problem.keep_upright` does."""
    if not (isinstance(angle, (int, float)) and 0 < angle <= np.pi):
        raise ProblemError(f"keep_upright: angle is {said(angle)}, expected one of more than 0 and at most pi, in rad")
    R, _ = _pose(problem, "keep_upright", link)
    leaning = R @ _unit("keep_upright: axis", axis)
    _pointing(problem, f"{link} upright", leaning, _unit("keep_upright: up", up), angle, at)


def rotation_error(E: ca.SX) -> ca.SX:
    """Twice the vector part of the quaternion of a rotation E (3, 3): the rotation vector where it is small."""
    twice_sine = ca.vertcat(E[2, 1] - E[1, 2], E[0, 2] - E[2, 0], E[1, 0] - E[0, 1])
    return twice_sine / ca.sqrt(ca.fmax(1 + ca.trace(E), SMALLEST))


def _pose(problem: Problem, verb: str, link: str) -> tuple[ca.SX, ca.SX]:
    """Rotation and position of a link of the robot whose configuration is a state."""
    if not isinstance(link, str):
        raise ProblemError(f"{verb}: link is {said(link)}, expected the name of one")
    robots: list[tuple[Any, ca.SX]] = [(v.on, v.value) for v in problem.states if v.on is not None]
    having = [(robot, q) for robot, q in robots if link in robot.frames]
    if len(having) != 1:
        raise ProblemError(
            f"{verb}: link '{link}' is on {len(having)} of {len(robots)} robots, expected one; "
            "state('q', on=robot) says whose configuration a state is"
        )
    robot, q = having[0]
    try:
        R, p = robot.link_pose(q, link)
    except ModelError as error:
        raise ProblemError(f"{verb}: {error}") from None
    return ca.SX(R), ca.SX(p)


def _pointing(problem: Problem, name: str, axis: ca.SX, direction: ca.SX, angle: float | ca.SX, at: Stages) -> None:
    """An axis in a direction, or in a cone about it."""
    if _is_zero(name, angle):
        problem.constrain(name, across(direction) @ axis, equals=0, at=at)
        problem.constrain(f"{name} this way", ca.dot(direction, axis), lower=0, at=at)
    else:
        problem.constrain(name, ca.dot(direction, axis), lower=ca.cos(angle), at=at)


def _within(problem: Problem, name: str, error: ca.SX, tolerance: float | ca.SX, at: Stages) -> None:
    if _is_zero(name, tolerance):
        problem.constrain(name, error, equals=0, at=at)
    else:
        problem.constrain(name, error, lower=-tolerance, upper=tolerance, at=at)


def _is_zero(name: str, tolerance: float | ca.SX) -> bool:
    """Whether there is no room; an expression of parameters is some."""
    if isinstance(tolerance, ca.SX) and not tolerance.is_constant():
        return False
    if not (isinstance(tolerance, (int, float)) and 0 <= tolerance < np.inf):
        raise ProblemError(f"reach: the tolerance of {name} is {said(tolerance)}, expected a number from 0 on")
    return tolerance == 0


def _shaped(what: str, value: ArrayLike | ca.SX, shape: tuple[int, int]) -> ca.SX:
    made = value if isinstance(value, ca.SX) else _numbers(what, value)
    if made.numel() != shape[0] * shape[1] or (shape[1] > 1 and made.shape not in (shape, (shape[0] * shape[1], 1))):
        raise ProblemError(f"{what} has shape {made.shape}, expected {shape}")
    if made.is_constant() and not np.isfinite(np.array(ca.DM(made))).all():
        raise ProblemError(f"{what} has an entry that is not finite, expected numbers")
    return made if made.shape == shape else ca.reshape(made, *shape)


def _numbers(what: str, value: ArrayLike) -> ca.SX:
    numbers = checked_floats(what, value, "numbers or SX")
    if numbers.ndim > 2:
        raise ProblemError(f"{what} has shape {numbers.shape}, expected a vector or a matrix")
    return ca.SX(ca.DM(numbers))


def _check_rotation(link: str, R: np.ndarray) -> None:
    if abs(R.T @ R - np.eye(3)).max() > 1e-6 or np.linalg.det(R) < 0:
        raise ProblemError(f"reach: rotation of '{link}' is no rotation matrix, expected one (3, 3)")


def _unit(what: str, value: ArrayLike | ca.SX) -> ca.SX:
    """A direction (3, 1); numbers are brought to norm 1, of symbols that is the user's to see to."""
    if isinstance(value, ca.SX) and not value.is_constant():
        if value.numel() != 3:
            raise ProblemError(f"{what} has shape {value.shape}, expected a direction of three entries")
        return ca.reshape(value, 3, 1)
    vector = checked_floats(what, value, "three numbers").ravel()
    if len(vector) != 3 or not np.isfinite(vector).all() or not 0 < np.linalg.norm(vector) < np.inf:
        raise ProblemError(f"{what} is {said(value)}, expected a direction of three numbers")
    return ca.SX(ca.DM(vector / np.linalg.norm(vector)))


def across(direction: ca.SX) -> ca.SX:
    """Two rows (2, 3) at right angles to a direction (3, 1) of norm 1, and to each other."""
    aside = ca.if_else(ca.fabs(direction[0]) < 0.6, ca.DM([1, 0, 0]), ca.DM([0, 1, 0]))
    first = ca.cross(direction, aside)
    first = first / ca.norm_2(first)
    return ca.horzcat(first, ca.cross(direction, first)).T
