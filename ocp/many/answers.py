"""What became of many problems as plain arrays, a row a problem: what a worker sends back, and what goes to a file."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from ...native import core
from ..answer.iteration import Iteration
from ..answer.status import Status
from ..judge.residual import Point
from ..stages.layout import Layout

STATUSES = tuple(Status)
# of the core's statuses, by their numbers, those in `STATUSES`
_WORDS = [each.name.replace("_", " ") for each in sorted(core.Status, key=lambda status: status.value)]
PLACES = np.array([STATUSES.index(Status.named(word)) for word in _WORDS], dtype=float)


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers of the core, all of numbers; NaN in the vectors of a problem that was not begun.

    statuses: places in `STATUSES`, as the core says, before the judge. counts: iterations, evaluations,
    differentiations, factorizations. times: seconds of the solve, in functions, in linear algebra. residuals,
    relative_residuals: the judge's worst. faults: block, stage, row. records: of all iterations of all problems one
    after another, the fields of `Iteration`, `record_counts` of them a problem.
    """

    statuses: np.ndarray
    z: np.ndarray
    y: np.ndarray
    w: np.ndarray
    shared_parameters: np.ndarray
    stage_parameters: np.ndarray
    gains: np.ndarray
    counts: np.ndarray
    times: np.ndarray
    objectives: np.ndarray
    residuals: np.ndarray
    relative_residuals: np.ndarray
    faults: np.ndarray
    record_counts: np.ndarray
    records: np.ndarray

    def __len__(self) -> int:
        return len(self.statuses)

    @property
    def begun(self) -> np.ndarray:
        """(problems,): whether a problem was begun."""
        return self.times[:, 0] > 0

    def point(self, i: int) -> Point:
        """Where the i-th problem ended."""
        return Point(self.z[i], self.y[i], self.w[i], self.shared_parameters[i], self.stage_parameters[i])

    def iterations(self, i: int) -> list[Iteration]:
        """The records of the i-th problem."""
        first = int(self.record_counts[:i].sum())
        found = []
        for number, *reals, trials, kind in self.records[first : first + int(self.record_counts[i])].tolist():
            found.append(Iteration(*[int(number), *reals, int(trials), chr(int(kind))]))
        return found


def room_for(layout: Layout, count: int) -> dict[str, np.ndarray]:
    """Arrays for the answers of so many problems, by their names, but for the records, whose number nobody knows."""
    shapes = shapes_of(layout, count, 0)
    return {name: np.empty(shape) for name, shape in shapes.items() if name != "records"}


def answers_of(filled: dict[str, np.ndarray], records: np.ndarray, shared_parameters: np.ndarray) -> Answers:
    """Those that the core's batch has put into their room, whose statuses are still by its own numbers."""
    return Answers(
        **{
            **filled,
            "statuses": PLACES[filled["statuses"].astype(int)],
            "shared_parameters": shared_parameters,
            "records": records,
        }
    )


class Gathered:
    """Answers of a batch, put into their places as they come, in any order: while the next ones are being solved."""

    def __init__(self, layout: Layout, shared_parameters: np.ndarray):
        self._layout, self._shared = layout, shared_parameters
        self._whole = room_for(layout, len(shared_parameters))
        self._records: dict[int, np.ndarray] = {}
        self._missing = np.ones(len(shared_parameters), dtype=bool)

    def put(self, numbers: range, answers: Answers) -> None:
        """Those of some problems."""
        here = slice(numbers.start, numbers.stop)
        for name, whole in self._whole.items():
            whole[here] = getattr(answers, name)
        self._records[numbers.start] = answers.records
        self._missing[here] = False

    def all(self) -> Answers:
        """Of all problems; those that did not come are not begun."""
        missing = not_begun(self._layout, self._shared[self._missing])
        for name, whole in self._whole.items():
            whole[self._missing] = getattr(missing, name)
        records = [part for _, part in sorted(self._records.items())]
        return Answers(**self._whole, records=np.concatenate([missing.records, *records]))


def not_begun(layout: Layout, shared_parameters: np.ndarray) -> Answers:
    """Answers of problems that nobody has begun."""
    count = len(shared_parameters)
    shapes = shapes_of(layout, count, 0)
    made = {name: np.zeros(shape) for name, shape in shapes.items()}
    for name in ("z", "y", "w", "stage_parameters", "gains", "objectives", "residuals", "relative_residuals"):
        made[name] += np.nan
    made["statuses"] += STATUSES.index(Status.INTERRUPTED)
    made["faults"] -= 1
    made["shared_parameters"] = shared_parameters
    return Answers(**made)


def shapes_of(layout: Layout, count: int, records: int) -> dict[str, tuple[int, ...]]:
    """The shapes of the answers of `count` problems with so many records."""
    gains = sum((phase.steps * phase.nu + phase.chosen) * phase.nx for phase in layout.phases)
    rows = {"z": layout.size_z, "y": layout.size_y, "w": layout.size_z, "gains": gains}
    rows |= {"shared_parameters": layout.size_shared, "stage_parameters": layout.size_stage}
    rows |= {"counts": 4, "times": 3, "faults": 3}
    shapes: dict[str, tuple[int, ...]] = {}
    for part in fields(Answers):
        shapes[part.name] = (count, rows[part.name]) if part.name in rows else (count,)
    return shapes | {"records": (records, len(Iteration._fields))}
