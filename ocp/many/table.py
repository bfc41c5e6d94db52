"""Sweeps as tables of text (CSV): a row a problem, parameters in and results out.

goal[0],goal[1],speed          problem,status,iterations,seconds,objective,residual
0.1,0.2,1.0                    0,solved,17,0.0041,12.34,3.2e-09
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from ...errors import ProblemError
from ...whole_file import path_of, whole_file
from ..stages.layout import Layout, VariableLayout
from .solutions import Solutions


def read_parameters(path: str | Path, layout: Layout) -> dict[str, np.ndarray]:
    """Parameters with a row for each problem, as `solve_many` takes them; a column `goal[1]` is an entry of `goal`."""
    path = path_of(path, "many", ProblemError)
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = [row for row in csv.reader(file) if any(cell.strip() for cell in row)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ProblemError(f"many: '{path}' cannot be read as a table: {error}") from None
    if len(rows) < 2:
        raise ProblemError(f"many: '{path}' has {len(rows)} rows, expected one of names and one a problem")
    names, known = [name.strip() for name in rows[0]], _columns(layout)
    for i, name in enumerate(names):
        if name not in known or names.index(name) < i:
            what = "twice" if name in known else "which is no parameter's"
            raise ProblemError(f"many: '{path}' has a column '{name}' {what}, expected some of {', '.join(known)}")
    numbers = np.array([_numbers(path, i, row, names) for i, row in enumerate(rows[1:])])
    found = {}
    for variable, stages in dict.fromkeys(known[name] for name in names):
        columns = _names(variable)
        missing = [name for name in columns if name not in names]
        if missing:
            raise ProblemError(f"many: '{path}' has no column '{missing[0]}', expected all of {', '.join(columns)}")
        value = numbers[:, [names.index(name) for name in columns]]
        found[variable.name] = np.repeat(value[:, None], stages, axis=1) if variable.per_stage else value
    return found


def write_table(solutions: Solutions, path: str | Path) -> Path:
    """How every problem ended, a line each."""
    path, rows = path_of(path, "out", ProblemError), solutions.table()
    with whole_file(path) as unfinished, unfinished.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    return path


def _columns(layout: Layout) -> dict[str, tuple[VariableLayout, int]]:
    """By the name of every column: its parameter, and the stages that it has."""
    return {
        name: (variable, phase.steps + 1)
        for phase in layout.phases
        for variable in phase.parameters
        for name in _names(variable)
    }


def _names(variable: VariableLayout) -> list[str]:
    return [variable.name] if variable.size == 1 else [f"{variable.name}[{i}]" for i in range(variable.size)]


def _numbers(path: Path, problem: int, row: list[str], names: list[str]) -> list[float]:
    if len(row) != len(names):
        raise ProblemError(f"many: '{path}': problem {problem} has {len(row)} entries, expected {len(names)}")
    found = []
    for name, cell in zip(names, row):
        try:
            number = float(cell)
        except ValueError:
            number = np.nan
        if not np.isfinite(number):
            raise ProblemError(f"many: '{path}': '{name}' of problem {problem} is '{cell[:40]}', expected a number")
        found.append(number)
    return found
