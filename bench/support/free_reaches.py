"""The statement of `bench/reaches.py`: an arm from rest to rest in the least time, to a joint or a tool goal."""

from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice

import numpy as np
from trisweep import Problem, Solution, legs
from trisweep.dynamics import Cloud, Model, Scene
from trisweep.problems.planning.asked import Asked
from trisweep.problems.planning.check import check
from trisweep.problems.planning.goals import FilledToolGoal, ToolGoal, filled
from trisweep.problems.planning.inverse_kinematics import configurations
from trisweep.problems.planning.limits import JointLimits
from trisweep.problems.planning.payload import NOTHING
from trisweep.problems.planning.refinement import motion_of
from trisweep.problems.planning.slowing import SLOWEST, slowing
from trisweep.problems.planning.trajectory import along
from trisweep.problems.robot import robot

STEPS = 30
ARMS = {"iiwa14": "iiwa_flange", "ur10": "tool0", "panda": "panda_hand"}
FINGERS = {"panda": {"panda_finger_joint1": 0.02, "panda_finger_joint2": 0.02}}
FAR = 20  # every so many tool goals one is out of reach
GUESSES = 3  # configurations of a tool goal to go straight to, each if the one before leads to nothing
OUT_OF_REACH = "out of reach"  # what is said where inverse kinematics finds nothing


@dataclass(frozen=True, eq=False)
class Question:
    """A start, a goal, configurations that meet it, as far as some were found, and whether there is none by
    construction.
    """

    start: np.ndarray
    goal: np.ndarray | FilledToolGoal
    there: list[np.ndarray]
    out_of_reach: bool


@dataclass(frozen=True)
class Attempt:
    """How a solve went; solved: and passed the check."""

    status: str
    solved: bool
    out_of_reach: bool
    seconds: float
    iterations: int


class FreeReach:
    """Reaches of one arm to one kind of goal."""

    def __init__(self, name: str, kind: str):
        self.name, self.kind = name, kind
        model = robot(name)
        self.model: Model = model.lock(FINGERS[name]) if name in FINGERS else model
        self.limits = JointLimits().of(self.model)
        self.solvers = {}
        self.questions: dict[int, Question] = {}

    @cached_property
    def cloud(self) -> Cloud:
        return Cloud(self.model)

    def problem(self) -> Problem:
        """A new statement."""
        (leg,) = legs(self.model, 1, STEPS)
        ocp = leg.problem
        ocp.constrain("start", leg.q, equals=ocp.parameter("start_pose", self.model.nq), at="start")
        if self.kind == "joint":
            ocp.constrain("goal", leg.q, equals=ocp.parameter("goal", self.model.nq), at="end")
        else:
            ocp.reach(ARMS[self.name], ocp.parameter("goal_position", 3), ocp.parameter("goal_rotation", 9))
        return ocp

    def question(self, number: int) -> Question:
        """The problem of that number, kept: start and goal, and where inverse kinematics leads."""
        if number not in self.questions:
            self.questions[number] = self._question(number)
        return self.questions[number]

    def _question(self, number: int) -> Question:
        rng = np.random.default_rng([number, len(self.name), len(self.kind)])
        start, goal = (self.random_pose(rng) for _ in range(2))
        if self.kind == "joint":
            return Question(start, goal, [goal], False)
        out_of_reach = number % FAR == FAR - 1
        R, p = self.model.link_pose(goal, ARMS[self.name])
        p = np.ravel(p) * (3.0 / np.linalg.norm(p) if out_of_reach else 1.0)
        asked = filled(self.model, ToolGoal(ARMS[self.name], p, R))
        there = chain.from_iterable(configurations(self.model, (asked,), start, number))
        return Question(start, asked, list(islice(there, GUESSES)), out_of_reach)

    def attempt(self, number: int, backend: str) -> Attempt:
        """Solve the problem of that number, from the next guess where one leads to nothing."""
        if backend not in self.solvers:
            self.solvers[backend] = self.problem().build(backend=backend)
        asked = self.question(number)
        status, seconds, iterations = OUT_OF_REACH, 0.0, 0
        for there in asked.there:
            answer = self._solved(asked, there, backend)
            status = str(answer.status)
            seconds, iterations = seconds + answer.statistics.seconds, iterations + answer.statistics.iterations
            if answer.status == "solved" and self._passed(answer, asked):
                return Attempt(status, True, asked.out_of_reach, seconds, iterations)
        return Attempt(status, False, asked.out_of_reach, seconds, iterations)

    def _solved(self, asked: Question, there: np.ndarray, backend: str) -> Solution:
        straight = along(np.array([asked.start, there]), STEPS, *self._rates)
        guess = {"q": straight.q, "v": straight.v, "a": straight.a, "duration": straight.duration}
        goal = {"goal": asked.goal} if self.kind == "joint" else asked.goal.values("goal")
        return self.solvers[backend].solve(guess=guess, start_pose=asked.start, **goal)

    def random_pose(self, rng: np.random.Generator) -> np.ndarray:
        """Within the joints' limits, turns of at most pi either way."""
        low, high = np.maximum(self.model.q_lower, -np.pi), np.minimum(self.model.q_upper, np.pi)
        return rng.uniform(low, high)

    @property
    def _rates(self) -> tuple[np.ndarray, np.ndarray]:
        return self.limits.velocity, self.limits.acceleration

    def _passed(self, answer: Solution, asked: Question) -> bool:
        """The goal is met, joints stay within 0.02 rad of their limits between the stages, and all other limits are
        kept, if need be by going slower, as plans do.
        """
        question = Asked(self.cloud, self.limits, Scene(), asked.start, (asked.goal,), (), NOTHING)
        motion = motion_of(answer)
        checked = check(motion, question)
        factor = slowing(motion, checked, question)
        return checked.position < 0.02 and checked.where_wanted and factor <= SLOWEST
