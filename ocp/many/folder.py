"""A folder in which the answers of a batch are kept as they come, so that a run that was killed goes on.

A file a chunk, named by its problems and written beside and renamed (`whole_file`): what has a name is whole. One more
file says which batch it is, by a hash of the solver's functions, the numbers given and the settings; another batch is
refused. Files that are not read again, damaged ones say, are solved again.
"""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...errors import ProblemError
from ...whole_file import is_file, path_of, whole_file
from ..solve.native_backend import NativeBackend
from ..solve.settings import Settings
from .answers import Answers
from .rows import ProblemRows
from .solutions import Solutions

if TYPE_CHECKING:
    from ..solve.solver import Solver

BATCH = "batch.json"


class Folder:
    """The folder of one batch."""

    def __init__(self, path: str | Path, solver: Solver, rows: ProblemRows, settings: Settings):
        self.path, self.solver, self.count = path_of(path, "solve_many: resume", ProblemError), solver, rows.count
        stated = {"problems": rows.count, "batch": _hash_of(solver, rows, settings)}
        known = self.path / BATCH
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            if known.exists():
                found = json.loads(known.read_bytes()) if is_file(known) else None
                if found != stated:
                    raise ProblemError(
                        f"solve_many: resume is '{path}', which has the answers of another batch (other problems, "
                        "numbers or settings), expected an empty folder or that of this batch"
                    )
                return
            if any(self.path.glob("*.npz")):
                raise ProblemError(f"solve_many: resume is '{path}', which has files but no {BATCH}, expected an empty "
                                   "folder or that of this batch")  # fmt: skip
        except ProblemError:
            raise
        except (OSError, ValueError, RecursionError) as error:
            raise ProblemError(f"solve_many: resume is '{path}', which is no folder of a batch: {error}") from None
        with whole_file(known) as unfinished:
            unfinished.write_text(json.dumps(stated))

    def read(self) -> Iterator[tuple[range, Answers]]:
        """What is there already."""
        free = np.ones(self.count, dtype=bool)
        for path in sorted(self.path.glob("*.npz")):
            named = re.fullmatch(r"([0-9]{1,15})-([0-9]{1,15})", path.stem, re.ASCII)
            if named is None:
                continue
            first, last = map(int, named.groups())
            numbers = range(first, last + 1)
            if not (0 <= first <= last < self.count) or not free[first : last + 1].all():
                continue
            try:
                answers = Solutions.load(path, self.solver).answers
            except ProblemError as error:
                warnings.warn(f"trisweep: {error}; it is solved again", RuntimeWarning, stacklevel=2)
                continue
            if len(answers) == len(numbers):
                free[first : last + 1] = False
                yield numbers, answers

    def write(self, numbers: range, solutions: Solutions) -> None:
        """Keep the answers of some problems."""
        solutions.save(self.path / f"{numbers.start:09d}-{numbers.stop - 1:09d}.npz")


def batch_name(solver: Solver) -> str:
    """What tells a solver from others, in any process: its functions and its layout."""
    assert isinstance(solver.backend, NativeBackend)
    digest = hashlib.sha256(repr(solver.layout).encode())
    for functions in solver.backend.functions:
        for part in functions.identity():
            digest.update(part.encode())
    return digest.hexdigest()


def _hash_of(solver: Solver, rows: ProblemRows, settings: Settings) -> str:
    digest = hashlib.sha256(batch_name(solver).encode())
    stated = {name: value for name, value in asdict(settings).items() if name not in ("threads", "log")}
    digest.update(json.dumps(stated).encode())
    limits = solver.limits.of_many(rows.shared, rows.stage_parameters)
    numbers = [rows.shared, rows.stage_parameters, rows.z, rows.y, rows.w, *vars(limits).values()]
    for part in numbers:
        digest.update(b"none" if part is None else f"{part.shape}".encode() + np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()
