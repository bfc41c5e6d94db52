"""What one solver made of one instance of a problem."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

SOLVERS = ("native", "ipopt", "fatrop")


class Task(NamedTuple):
    """An instance of a problem, and the solver that is to solve it."""

    problem: str
    solver: str
    instance: int


@dataclass(frozen=True)
class Outcome:
    """status: the solver's, or "crashed", "killed", "refused". seconds: by the solver's own clock.

    false: what speaks against its "solved", if something does. moved: by how much of the objective IPOPT, started
    there, changed it; None where it did not end.
    apart: of the published objective, as a share of max(1, |published|); None where nothing is published.
    """

    problem: str
    solver: str
    instance: int
    status: str
    iterations: int = 0
    seconds: float = 0.0
    objective: float = float("nan")
    published: float | None = None
    apart: float | None = None
    agrees: bool = True
    false: str = ""
    moved: float | None = None
    remark: str = ""

    @property
    def task(self) -> Task:
        return Task(self.problem, self.solver, self.instance)

    @property
    def solved(self) -> bool:
        """Said so, and nothing speaks against it."""
        return self.status == "solved" and not self.false


def write(path: Path, outcome: Outcome) -> None:
    """Append it to a file, a line each."""
    with path.open("a") as file:
        file.write(json.dumps(asdict(outcome)) + "\n")


def read(path: Path) -> list[Outcome]:
    """All that a file has; the last word on a task counts."""
    lines = path.read_text().splitlines() if path.exists() else []
    return list({outcome.task: outcome for outcome in (Outcome(**json.loads(line)) for line in lines)}.values())


def asked(parser: argparse.ArgumentParser, solvers: Sequence[str], kept: Path) -> argparse.Namespace:
    """What the command line says, with what every board takes. `kept` is there, and empty but for `--resume`; `done`
    are the tasks in it.
    """
    parser.add_argument("--solvers", nargs="+", choices=solvers, default=solvers)
    parser.add_argument("--seconds", type=float, default=20.0, help="limit of a solve")
    parser.add_argument("--resume", action="store_true", help="go on from what was solved before")
    parser.add_argument("--kept", type=Path, default=kept, help="file of the outcomes")
    given = parser.parse_args()
    if not given.resume:
        given.kept.unlink(missing_ok=True)
    given.kept.parent.mkdir(exist_ok=True)
    given.done = {outcome.task for outcome in read(given.kept)}
    return given
