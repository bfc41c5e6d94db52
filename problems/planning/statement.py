"""The optimal-control problem of a plan: legs from rest to rest in the least time, away from all obstacles, each to its
goal.

Start, goals, obstacles, what is carried, and how far the stages stay inside the joints' limits and inside what is kept,
are parameters.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...cached import cached_property
from ...dynamics import Cloud, Scene
from ...ocp import Problem
from ...ocp.solve.solver import Solver
from ...ocp.statement.space.avoid import Avoidance
from .goals import GoalKind
from .leg import linked_legs
from .limits import FilledJointLimits


@dataclass(frozen=True)
class Form:
    """What of a question is machine code. goals: how each leg ends, None at a configuration; kept: what holds all
    along; body: the one that carries something, or -1.
    """

    goals: tuple[GoalKind | None, ...]
    kept: tuple[GoalKind, ...]
    body: int

    @property
    def legs(self) -> int:
        return len(self.goals)


@dataclass(frozen=True, eq=False)
class MotionProblem:
    """A built solver for motions of one robot, and its rows of avoidance. steps: of a leg."""

    cloud: Cloud
    limits: FilledJointLimits
    form: Form
    steps: int
    problem: Problem
    avoidance: Avoidance

    @cached_property
    def solvers(self) -> list[Solver]:
        """The solver, and those of other threads that were asked for."""
        return [self.problem.build()]

    def solver(self, number: int) -> Solver:
        """One for each thread."""
        while len(self.solvers) <= number:
            self.solvers.append(self.solvers[0].another())
        return self.solvers[number]


def motion_problem(cloud: Cloud, limits: FilledJointLimits, steps: int, margin: float, form: Form) -> MotionProblem:
    """State and build it."""
    model, found = cloud.model, []
    legs = linked_legs(model, limits, form.legs, steps, form.body, room=True)
    for k, (leg, kind) in enumerate(zip(legs, form.goals)):
        ocp = leg.problem
        if k == 0:
            ocp.constrain("start", leg.q, equals=ocp.parameter("start_pose", model.nq), at="start")
        if kind is None:
            ocp.constrain("goal", leg.q, equals=ocp.parameter("goal", model.nq), at="end")
        else:
            kind.state(ocp, "goal", "end")
        if form.kept:
            share = 1 - ocp.parameter("squeeze", per_stage=True)
            for i, held in enumerate(form.kept):
                held.state(ocp, f"kept_{i}", slice(1, None), share)
        found.append(ocp.avoid(Scene(), cloud, leg.q, margin))
    made = MotionProblem(cloud, limits, form, steps, legs[0].problem, found[0])
    made.solver(0)
    return made
