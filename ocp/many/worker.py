"""What a worker does, in whichever process it is: some problems of a batch, by a solver that it keeps.

A solver comes once. A chunk names it; a worker that does not know it says so, and is given the next chunk with it.
"""

from __future__ import annotations

import os
import pickle
import platform
import zlib
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

from ..answer.status import Status
from ..solve.settings import Settings
from .answers import STATUSES, Answers
from .letterbox import Letterbox
from .rows import ProblemRows
from .threads import solve_rows

if TYPE_CHECKING:
    from ..solve.solver import Solver

KEPT = 4  # solvers, the last ones
INTERRUPTED = STATUSES.index(Status.INTERRUPTED)
_SOLVERS: dict[str, Solver] = {}


@dataclass(frozen=True, eq=False)
class Chunk:
    """Problems from `first` on, where their answers may be put, and the name of their solver; perhaps the solver
    itself, packed.
    """

    first: int
    rows: ProblemRows
    settings: Settings
    threads: int
    box: Letterbox
    solver: str
    packed: bytes | None = None


@dataclass(frozen=True, eq=False)
class Returned:
    """What became of a chunk: answers or the file where they were put, and their seconds; neither of the two from a
    worker that does not know the solver.
    """

    worker: tuple[str, int]
    answers: Answers | None = None
    seconds: float = 0.0
    file: str = ""


def keep(name: str, solver: Solver) -> None:
    """Let the workers of this process, and of those that are forked from it, know a solver."""
    _SOLVERS.pop(name, None)
    _SOLVERS[name] = solver
    while len(_SOLVERS) > KEPT:
        del _SOLVERS[next(iter(_SOLVERS))]


def packed(solver: Solver) -> bytes:
    """A solver as it travels."""
    return zlib.compress(pickle.dumps(solver), 1)


def work(chunk: Chunk) -> Returned:
    """Solve a chunk: all of it, or none where Ctrl-C came."""
    worker = platform.node(), os.getpid()
    if chunk.solver not in _SOLVERS:
        if chunk.packed is None:
            return Returned(worker)
        keep(chunk.solver, pickle.loads(zlib.decompress(chunk.packed)))
    begin = perf_counter()
    answers = solve_rows(_SOLVERS[chunk.solver], chunk.rows, chunk.settings, chunk.threads, None)
    if (answers.statuses == INTERRUPTED).any():
        raise KeyboardInterrupt  # half a chunk is none
    seconds, file = perf_counter() - begin, chunk.box.post(answers)
    return Returned(worker, None if file else answers, seconds, file)
