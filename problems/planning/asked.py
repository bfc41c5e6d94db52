"""One question to the planner: where from, where to and through where, among what, keeping to what, carrying what; and
why it can have no answer, where that is plain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...dynamics import Cloud, Scene
from .goals import FilledToolGoal
from .inverse_kinematics import configurations
from .limits import FilledJointLimits
from .payload import FilledPayload, torques
from .statement import Form

INSIDE = 0.9  # of the tolerances of what is kept, for a start
SLACK = 1e-6  # of a limit, for rounding
CHAINS = 3  # of configurations that meet the goals are tried

# How a plan without a motion ends, and why.
Trouble = tuple[str, str]


@dataclass(frozen=True, eq=False)
class Asked:
    """goals: of the legs, configurations (nq,) and places of tools; kept: all along."""

    cloud: Cloud
    limits: FilledJointLimits
    scene: Scene
    start: np.ndarray
    goals: tuple[np.ndarray | FilledToolGoal, ...]
    kept: tuple[FilledToolGoal, ...]
    load: FilledPayload

    @property
    def form(self) -> Form:
        kinds = tuple(goal.kind if isinstance(goal, FilledToolGoal) else None for goal in self.goals)
        return Form(kinds, tuple(each.kind for each in self.kept), self.load.body)

    def named(self, number: int) -> str:
        """What a goal is called."""
        return "goal" if number == len(self.goals) - 1 else f"via point {number + 1}"

    def missed(self, q: np.ndarray) -> tuple[float, str]:
        """By how much configurations (legs, nq) at the ends of the legs miss their goals at worst, m or rad, and the
        name of that goal.
        """
        model = self.cloud.model
        misses = [
            float(goal.beyond(model, at)[0]) if isinstance(goal, FilledToolGoal) else float(abs(at - goal).max())
            for goal, at in zip(self.goals, q)
        ]
        worst = int(np.argmax(misses))
        return misses[worst], self.named(worst)

    def trouble(self, what: str, q: np.ndarray) -> Trouble | None:
        """Why a configuration can be no end of a leg; start and goal are places of rest."""
        model = self.cloud.model
        beyond = np.maximum(model.q_lower - q, q - model.q_upper)
        if beyond.max() > 0:
            joint = model.joint_names[int(beyond.argmax())]
            return f"{what} outside limits", f"joint '{joint}' is {beyond.max():.3g} beyond its limit"
        nearest = self.cloud.nearest(q, self.scene)
        if nearest.distance[0] < 0:
            return f"{what} in collision", f"{nearest.pairs[0]} are {-nearest.distance[0] * 1e3:.1f} mm into each other"
        for each in self.kept:
            if each.used(model, q)[0] > 1 + SLACK:
                return f"{what} off what is kept", f"link '{each.kind.link}' is {each.said(model, q)}"
        return self._too_heavy(what, q) if what in ("start", "goal") else None

    def _too_heavy(self, what: str, q: np.ndarray) -> Trouble | None:
        model, rest = self.cloud.model, np.zeros((1, self.cloud.model.nv))
        tau = abs(torques(model, self.load, q[None], rest, rest)[0])
        worst = int((tau / self.limits.torque).argmax())
        if tau[worst] <= self.limits.torque[worst]:
            return None
        needs = f"{tau[worst]:.3g} to stay there, its limit is {self.limits.torque[worst]:.3g}"
        return f"{what} too heavy to hold", f"joint '{model.velocity_names[worst]}' needs {needs}"

    def chains(self, seed: int, threads: int | None) -> tuple[list[np.ndarray], Trouble]:
        """Configurations (legs + 1, nq) from the start through all goals, the shortest ways first, and what to say if
        there are none.
        """
        layers: list[list[np.ndarray]] = [[self.start]]
        for number, goal in enumerate(self.goals):
            if not isinstance(goal, FilledToolGoal):
                if trouble := self.trouble(self.named(number), goal):
                    return [], trouble
                layers.append([goal])
                continue
            found, trouble = self._reached(number, goal, layers[-1][0], seed, threads)
            if trouble:
                return [], trouble
            layers.append(found)
        return shortest(layers)[:CHAINS], ("", "")

    def _reached(
        self, number: int, goal: FilledToolGoal, near: np.ndarray, seed: int, threads: int | None
    ) -> tuple[list[np.ndarray], Trouble | None]:
        """The free configurations that meet a goal, or why there is none."""
        model, what = self.cloud.model, self.named(number)
        inside = [each.narrower(INSIDE) for each in self.kept]
        troubles: list[Trouble] = []
        for tried in configurations(model, (goal, *inside), near, seed, threads):
            found = [(q, self.trouble(what, q)) for q in tried]
            free = [q for q, trouble in found if trouble is None]
            if free:
                return free, None
            troubles += [trouble for _, trouble in found if trouble is not None]
        if troubles:
            first, count = troubles[0], len(troubles)
            return [], (first[0], f"in all of {count} configurations that were found; in the first {first[1]}")
        beside = " with all that is kept" if self.kept else ""
        reason = f"no configuration within the joints' limits brings '{goal.kind.link}' there{beside}"
        return [], (f"{what} out of reach", reason)


def shortest(layers: Sequence[Sequence[np.ndarray]]) -> list[np.ndarray]:
    """Of configurations in layers the shortest chain to each of the last layer, by the joint that moves the most; the
    shortest of these first (Bellman's recursion).
    """
    chains, lengths = [[q] for q in layers[0]], np.zeros(len(layers[0]))
    for layer in layers[1:]:
        ways = np.array([[float(abs(q - chain[-1]).max()) for chain in chains] for q in layer]) + lengths
        best = ways.argmin(axis=1)
        chains, lengths = [[*chains[i], q] for i, q in zip(best, layer)], ways.min(axis=1)
    return [np.array(chains[i]) for i in np.argsort(lengths, kind="stable")]
