"""HPIPM as well as it can be built, on our problems: where `TRISWEEP_RIVALS` names a folder with `hpipm_bench` in it.

Several folders, with ":" between them, are builds for different instruction sets.

`hpipm_bench FOLDER nx nu N ...` reads FOLDER/lq_nx_nu_N.bin and FOLDER/box_nx_nu_N.bin, what there is of them, and
answers every line on its standard input with a line of JSON: for each file a list of [best seconds, iterations,
variant, objective].
A file has four int32 (nx, nu, N, 0), then for every step A B b Q R S q r, column by column, Q and q of the end, the
first state, and the bounds of the states and of the controls, which are the same below and above zero.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from trisweep.riccati import LQProblem

Size = tuple[int, int, int]


@dataclass(frozen=True)
class Run:
    """The best time of a variant, its iterations and the objective that it found."""

    seconds: float
    iterations: int
    variant: str
    objective: float


def folders() -> list[Path]:
    """Where the rivals are."""
    names = os.environ.get("TRISWEEP_RIVALS", "").split(os.pathsep)
    return [Path(name) for name in names if name and (Path(name) / "hpipm_bench").exists()]


def folder() -> Path | None:
    """The first of them, or None."""
    return next(iter(folders()), None)


class TunedPrograms:
    """Programs on chains of one size each; `bounds`: of all states and of all controls, where there are some."""

    def __init__(
        self, programs: list[Path], problems: dict[Size, LQProblem], bounds: tuple[float, float] | None = None
    ):
        self._data = tempfile.TemporaryDirectory()
        for size, problem in problems.items():
            name = f"{'box' if bounds else 'lq'}_{'_'.join(map(str, size))}.bin"
            write(Path(self._data.name) / name, size, problem, bounds or (1e9, 1e9))
        sizes = [str(number) for size in problems for number in size]
        self._processes = [
            subprocess.Popen(
                [str(program), self._data.name, *sizes], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            for program in programs
        ]

    def round(self) -> dict[Size, list[Run]]:
        """Every problem once more, by its size: the variants of all programs that found an answer."""
        found: dict[Size, list[Run]] = {}
        for process in self._processes:
            assert process.stdin and process.stdout
            process.stdin.write("\n")
            process.stdin.flush()
            for name, variants in json.loads(process.stdout.readline()).items():
                nx, nu, steps = map(int, name.split()[1:])
                found.setdefault((nx, nu, steps), []).extend(Run(*each) for each in variants if each[0] < 1e6)
        return found

    def close(self) -> None:
        for process in self._processes:
            process.communicate()
        self._data.cleanup()


class TunedHpipm(TunedPrograms):
    """HPIPM of all folders."""

    def __init__(self, problems: dict[Size, LQProblem], bounds: tuple[float, float] | None = None):
        super().__init__([place / "hpipm_bench" for place in folders()], problems, bounds)


def write(path: Path, size: Size, problem: LQProblem, bounds: tuple[float, float]) -> None:
    """The chain as the program reads it."""
    nx, nu, steps = size
    assert problem.initial_state is not None
    stages, end = problem.stages, problem.stages[-1]
    with path.open("wb") as out:
        np.array([*size, 0], np.int32).tofile(out)
        for here, after in pairwise(stages):
            for part in (after.A, after.B, after.b, here.Q, here.R, here.S, here.q, here.r):
                np.ravel(part, order="F").tofile(out)
        for part in (end.Q, end.q, problem.initial_state, np.full(nx, bounds[0]), np.full(nu, bounds[1])):
            np.ravel(part, order="F").tofile(out)
