"""Where a tool is to be: at the end of a motion, on its way, or all along; what users say, its rows, and how far off
a motion is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ...dynamics import Model
from ...errors import ProblemError, said
from ...ocp import Problem
from ...ocp.statement.space.goals import across
from .arguments import length, numbers

UP = np.array([0.0, 0.0, 1.0])  # where no direction is said


@dataclass(frozen=True)
class ToolGoal:
    """A link at a position (3,), m, in the world, or anywhere on the line through it `along` (3,); with a rotation
    (3, 3) turned so, or with an axis of its own `pointing` in a direction of the world. tolerance: m, along each axis;
    angle: rad. These are the words of `Problem.reach`.
    """

    link: str
    position: ArrayLike | None = None
    rotation: ArrayLike | None = None
    tolerance: float = 0.0
    angle: float = 0.0
    pointing: tuple[ArrayLike, ArrayLike] | None = None
    along: ArrayLike | None = None


@dataclass(frozen=True)
class GoalKind:
    """What of a tool goal is machine code: the link, and what is said of it; not the numbers."""

    link: str
    placed: bool
    lined: bool
    turned: bool
    aimed: bool
    loose: bool
    slanted: bool

    def state(self, ocp: Problem, name: str, at: Any, share: Any = 1.0) -> None:
        """Its rows; share: of the tolerances, an expression of parameters."""
        ocp.reach(
            self.link,
            position=ocp.parameter(f"{name}_position", 3) if self.placed else None,
            rotation=ocp.parameter(f"{name}_rotation", 9) if self.turned else None,
            pointing=(ocp.parameter(f"{name}_axis", 3), ocp.parameter(f"{name}_aim", 3)) if self.aimed else None,
            along=ocp.parameter(f"{name}_along", 3) if self.lined else None,
            tolerance=share * ocp.parameter(f"{name}_tolerance") if self.loose else 0.0,
            angle=share * ocp.parameter(f"{name}_angle") if self.slanted else 0.0,
            at=at,
            name=name,
        )


@dataclass(frozen=True, eq=False)
class FilledToolGoal:
    """A tool goal of a robot, in arrays; nothing in it is missing or wrong."""

    kind: GoalKind
    position: np.ndarray
    along: np.ndarray
    across: np.ndarray  # (2, 3), the axes along which an offset from the line counts
    rotation: np.ndarray
    pointing: tuple[np.ndarray, np.ndarray]
    tolerance: float
    angle: float

    def values(self, name: str) -> dict[str, Any]:
        """The parameters of `GoalKind.state`."""
        kind, found = self.kind, {}
        if kind.placed:
            found[f"{name}_position"] = self.position
        if kind.lined:
            found[f"{name}_along"] = self.along
        if kind.aimed:
            found[f"{name}_axis"], found[f"{name}_aim"] = self.pointing
        if kind.turned:
            found[f"{name}_rotation"] = self.rotation.T.ravel()  # SX is read column after column
        if kind.loose:
            found[f"{name}_tolerance"] = np.array([self.tolerance])
        if kind.slanted:
            found[f"{name}_angle"] = np.array([self.angle])
        return found

    def errors(self, model: Model, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How far the link is off in configurations (count, nq): m along the worst axis, and rad; zero where nothing
        is said of it.
        """
        R, p = model.compiled.link_pose(np.atleast_2d(q), self.kind.link)
        away, turned = np.zeros(len(p)), np.zeros(len(p))
        if self.kind.placed:
            offset = p - self.position
            if self.kind.lined:
                offset = offset @ self.across.T
            away = abs(offset).max(axis=1)
        if self.kind.turned:
            E = np.einsum("ji,kjl->kil", self.rotation, R)
            sine = np.stack([E[:, 2, 1] - E[:, 1, 2], E[:, 0, 2] - E[:, 2, 0], E[:, 1, 0] - E[:, 0, 1]], axis=1)
            turned = abs(sine / np.sqrt(np.maximum(1 + np.trace(E, axis1=1, axis2=2), 1e-12))[:, None]).max(axis=1)
        if self.kind.aimed:
            axis, direction = self.pointing
            aimed = R @ axis
            turned = np.arctan2(np.linalg.norm(np.cross(aimed, direction), axis=1), aimed @ direction)
        return away, turned

    def said(self, model: Model, q: np.ndarray) -> str:
        """How far off the link is in a configuration (nq,), in words."""
        away, turned = (float(error[0]) for error in self.errors(model, q))
        parts = [(away, self.tolerance, "m"), (turned, self.angle, "rad")]
        return " and ".join(
            f"{error:.3g} {unit} off, expected {most:g} {unit} at most" for error, most, unit in parts if error > most
        )

    def narrower(self, share: float) -> FilledToolGoal:
        """The same with a share of the tolerances."""
        return replace(self, tolerance=share * self.tolerance, angle=share * self.angle)

    def beyond(self, model: Model, q: np.ndarray) -> np.ndarray:
        """What is beyond the tolerances (count,), m or rad, whichever is more; 0 inside."""
        away, turned = self.errors(model, q)
        return np.maximum(away - self.tolerance, turned - self.angle).clip(min=0.0)

    def used(self, model: Model, q: np.ndarray) -> np.ndarray:
        """The share of the tolerances (count,) that is used, of a goal that has some."""
        away, turned = self.errors(model, q)
        parts = [each / room for each, room in ((away, self.tolerance), (turned, self.angle)) if room > 0]
        return np.maximum.reduce([np.zeros(len(away)), *parts])


def filled(model: Model, goal: ToolGoal) -> FilledToolGoal:
    """A goal of a robot, checked."""
    link = goal.link
    if not isinstance(link, str) or link not in model.frames:
        raise ProblemError(f"ToolGoal: there is no link '{link}', expected one of {', '.join(model.frames)}")
    if model.frames[link].body < 0:
        raise ProblemError(f"ToolGoal: link '{link}' is part of the world, expected one that moves")
    if goal.position is None and goal.rotation is None and goal.pointing is None:
        raise ProblemError(f"ToolGoal: '{link}' has no goal, expected position, rotation or pointing")
    if goal.rotation is not None and goal.pointing is not None:
        raise ProblemError(f"ToolGoal: '{link}' has both rotation and pointing, expected one of them")
    if goal.along is not None and goal.position is None:
        raise ProblemError(f"ToolGoal: '{link}' has along without a position, expected a point of the line")
    tolerance, angle = length("ToolGoal: tolerance", goal.tolerance), length("ToolGoal: angle", goal.angle)
    rotation = np.eye(3)
    if goal.rotation is not None:
        rotation = _numbers("rotation", goal.rotation, 9).reshape(3, 3)
        if abs(rotation.T @ rotation - np.eye(3)).max() > 1e-6 or np.linalg.det(rotation) < 0:
            raise ProblemError(f"ToolGoal: rotation of '{link}' is no rotation matrix, expected one (3, 3)")
    turned = goal.rotation is not None or goal.pointing is not None
    kind = GoalKind(
        link=link,
        placed=goal.position is not None,
        lined=goal.along is not None,
        turned=goal.rotation is not None,
        aimed=goal.pointing is not None,
        loose=goal.position is not None and tolerance > 0,
        slanted=turned and angle > 0,
    )
    along = UP if goal.along is None else _direction("along", goal.along)
    return FilledToolGoal(
        kind,
        position=np.zeros(3) if goal.position is None else _numbers("position", goal.position, 3),
        along=along,
        across=np.array(ca.DM(across(ca.SX(ca.DM(along))))),
        rotation=rotation,
        pointing=_pointing(goal),
        tolerance=tolerance if kind.placed else np.inf,
        angle=angle if turned else np.inf,
    )


def kept(model: Model, goals: Any) -> tuple[FilledToolGoal, ...]:
    """What a tool is to keep to all along: goals with tolerances."""
    listed = (goals,) if isinstance(goals, ToolGoal) else goals
    if not isinstance(listed, (list, tuple)) or not all(isinstance(each, ToolGoal) for each in listed):
        raise ProblemError(f"plan: keep is {said(goals)}, expected ToolGoals")
    found = tuple(filled(model, each) for each in listed)
    for each in found:
        if min(each.tolerance, each.angle) == 0:
            part = "tolerance" if each.tolerance == 0 else "angle"
            raise ProblemError(
                f"plan: keep has a goal of '{each.kind.link}' with {part} 0, expected some: between its stages a "
                "motion keeps to nothing exactly"
            )
    return found


def _pointing(goal: ToolGoal) -> tuple[np.ndarray, np.ndarray]:
    if goal.pointing is None:
        return UP, UP
    if not isinstance(goal.pointing, (tuple, list)) or len(goal.pointing) != 2:
        raise ProblemError(f"ToolGoal: pointing is {said(goal.pointing)}, expected an axis and a direction")
    return _direction("axis", goal.pointing[0]), _direction("direction", goal.pointing[1])


def _direction(what: str, value: ArrayLike) -> np.ndarray:
    vector = _numbers(what, value, 3)
    if not 0 < np.linalg.norm(vector) < np.inf:
        raise ProblemError(f"ToolGoal: {what} is {said(value)}, expected a direction of three numbers")
    return np.asarray(vector / np.linalg.norm(vector))


def _numbers(what: str, value: ArrayLike, size: int) -> np.ndarray:
    array = numbers(f"ToolGoal: {what}", value, f"{size} finite numbers").ravel()
    if array.size != size:
        raise ProblemError(f"ToolGoal: {what} is {said(value)}, expected {size} finite numbers")
    return array
