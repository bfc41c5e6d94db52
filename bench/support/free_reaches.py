"""The statement of `bench/reaches.py`: an arm from rest to rest in the least time, to a joint or a tool goal."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from casadi import sumsqr
from trisweep import Free, Problem
from trisweep.dynamics import Cloud, Model, Scene
from trisweep.problems.planning.check import check
from trisweep.problems.planning.inverse_kinematics import ToolGoal, configurations
from trisweep.problems.planning.limits import JointLimits
from trisweep.problems.planning.planner import motion_of
from trisweep.problems.planning.trajectory import along
from trisweep.problems.robot import robot

STEPS = 30
ARMS = {"iiwa14": "iiwa_flange", "ur10": "tool0", "panda": "panda_hand"}
FINGERS = {"panda": {"panda_finger_joint1": 0.02, "panda_finger_joint2": 0.02}}
FAR = 20  # every so many tool goals one is out of reach
OUT_OF_REACH = "out of reach"  # what is said where inverse kinematics finds nothing
TRIES = 20  # of inverse kinematics
EFFORT = 1e-3  # weight of accelerations beside a second
TORQUE = 0.95  # share of the limits at the stages


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

    @cached_property
    def cloud(self) -> Cloud:
        return Cloud(self.model)

    def problem(self) -> Problem:
        """A new statement."""
        model, limits = self.model, self.limits
        ocp = Problem(steps=STEPS, duration=Free(guess=2.0, lower=0.02, upper=60.0), name=f"{self.name} {self.kind}")
        h = ocp.time_step
        q = ocp.state("q", model.nq, model.q_lower, model.q_upper, on=model)
        v = ocp.state("v", model.nv, -limits.velocity, limits.velocity)
        a = ocp.control("a", model.nv, -limits.acceleration, limits.acceleration)
        ocp.next(q=q + h * v + h**2 / 2 * a, v=v + h * a)
        ocp.minimize(EFFORT / STEPS * sumsqr(a / limits.acceleration))
        ocp.minimize(ocp.free_duration.symbol, at="end")
        ocp.constrain("start", q, equals=ocp.parameter("start_pose", model.nq), at="start")
        for end in ("start", "end"):
            ocp.constrain(f"at rest at the {end}", v, equals=0, at=end)
        tau = model.inverse_dynamics(q, v, a) / limits.torque
        ocp.constrain("torque", tau, lower=-TORQUE, upper=TORQUE, at="steps")
        if self.kind == "joint":
            ocp.constrain("goal", q, equals=ocp.parameter("goal", model.nq), at="end")
        else:
            ocp.reach(ARMS[self.name], ocp.parameter("position", 3), ocp.parameter("rotation", 9))
        return ocp

    def attempt(self, number: int, backend: str) -> Attempt:
        """Solve the problem of that number."""
        if backend not in self.solvers:
            self.solvers[backend] = self.problem().build(backend=backend)
        rng = np.random.default_rng([number, len(self.name), len(self.kind)])
        start, goal = (self.random_pose(rng) for _ in range(2))
        out_of_reach = self.kind == "tool" and number % FAR == FAR - 1
        given = {"start_pose": start}
        if self.kind == "joint":
            given["goal"] = goal
        else:
            R, p = self.model.link_pose(goal, ARMS[self.name])
            p = np.ravel(p) * (3.0 / np.linalg.norm(p) if out_of_reach else 1.0)
            given |= {"position": p, "rotation": np.asarray(R).T.ravel()}
            there = configurations(self.model, ToolGoal(ARMS[self.name], p, R), start, TRIES, number)
            goal = next(there, None)
            if goal is None:
                return Attempt(OUT_OF_REACH, False, out_of_reach, 0.0, 0)
        straight = along(np.array([start, goal]), STEPS, *self._rates)
        guess = {"q": straight.q, "v": straight.v, "a": straight.a, "duration": straight.duration}
        answer = self.solvers[backend].solve(guess=guess, **given)
        took = answer.statistics
        solved = answer.status == "solved" and self._passed(answer)
        return Attempt(str(answer.status), solved, out_of_reach, took.seconds, took.iterations)

    def random_pose(self, rng: np.random.Generator) -> np.ndarray:
        """Within the joints' limits, turns of at most pi either way."""
        low, high = np.maximum(self.model.q_lower, -np.pi), np.minimum(self.model.q_upper, np.pi)
        return rng.uniform(low, high)

    @property
    def _rates(self) -> tuple[np.ndarray, np.ndarray]:
        return self.limits.velocity, self.limits.acceleration

    def _passed(self, answer) -> bool:
        """Limits between the stages as at them, but for 2 %, and joints within 0.02 rad of theirs."""
        checked = check(motion_of(answer), self.cloud, Scene(), self.limits)
        return max(checked.velocity, checked.acceleration, checked.torque) < 1.02 and checked.position < 0.02
