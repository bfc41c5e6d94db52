"""Solutions in files (`parts_file`): nothing is built before every field has its type, and nothing is handed back
before all that it says of itself can be read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ...judge.residual import Measured, Point, Residual
from ...stages.layout import Layout
from ...stages.limit_vectors import LimitVectors
from ...statement.costs_and_constraints.terms import CONSTRAINTS
from ..diagnosis import Fault
from ..iteration import Iteration
from ..solution import Solution
from ..statistics import Statistics
from ..status import Status
from .parts_file import Form, read, write
from .schema import SchemaError, typed

FORM = Form("trisweep solution", "a solution", 7, "Solution.save", 2**31, packed=True)
POINT = ("z", "y", "w", "shared_parameters", "stage_parameters")
LIMITS = ("z_lower", "z_upper", "y_lower", "y_upper", "y_target", "y_price", "y_growth")
MEASURED = ("rows", "stationarity", "outside_rows", "outside_bounds", "complementarity")
MOST_VALUES = 10**8  # of all constraints together


def save(solution: Solution, path: str | Path) -> Path:
    """Write a solution."""
    header = {
        "status": solution.status,
        "doubt": solution.doubt,
        "tolerance": solution.tolerance,
        "objective": solution.objective,
        "residual": asdict(solution.residual),
        "relative": asdict(solution.measured.relative),
        "statistics": asdict(solution.statistics),
        "layout": asdict(solution.layout),
        "records": [list(record) for record in solution.records],
        "fault": solution.fault and asdict(solution.fault),
    }
    arrays = {name: getattr(solution.point, name) for name in POINT}
    arrays |= {name: getattr(solution.limit_vectors, name) for name in LIMITS}
    arrays |= {f"measured_{name}": getattr(solution.measured, name) for name in MEASURED}
    arrays |= {f"gains_{i}": gains for i, gains in enumerate(solution.all_gains)}
    return write(FORM, path, header, arrays)


def load(path: str | Path) -> Solution:
    """Read a solution; anything else is answered with a sentence."""
    return read(FORM, path, _shapes, _solution)


def _shapes(header: dict[str, Any], unpacked: int) -> dict[str, tuple[int, ...]]:
    """The arrays of a solution."""
    layout = sensible_layout(header, unpacked)
    size_y, size_z, loose = layout.size_y, layout.size_z, layout.limited
    shapes: dict[str, tuple[int, ...]] = {"z": (size_z,), "y": (size_y,), "w": (size_z,)}
    shapes |= {"shared_parameters": (layout.size_shared,), "stage_parameters": (layout.size_stage,)}
    shapes |= {"z_lower": (size_z,), "z_upper": (size_z,)}
    shapes |= dict.fromkeys(("y_lower", "y_upper", "y_target", "y_price", "y_growth"), (size_y,))
    shapes |= {"measured_rows": (size_y,), "measured_stationarity": (size_z,), "measured_outside_rows": (size_y,)}
    shapes |= {"measured_outside_bounds": (size_z,), "measured_complementarity": (loose.stop - loose.start + size_z,)}
    return shapes | {f"gains_{i}": (phase.steps, phase.nu, phase.nx) for i, phase in enumerate(layout.phases)}


def sensible_layout(header: dict[str, Any], unpacked: int) -> Layout:
    """The layout that a header states, once it makes sense in a file of so many bytes."""
    layout: Layout = typed(Layout, header["layout"], "layout", most=unpacked // 8)
    rows = dict.fromkeys(CONSTRAINTS, 0)
    if not layout.phases:
        raise SchemaError("it has no phase")
    for i, phase in enumerate(layout.phases):
        if phase.steps < 1 or min(phase.first, phase.chosen, phase.at_z, phase.at_shared, phase.at_stage) < 0:
            raise SchemaError(f"layout.phases[{i}] counts below zero")
        if not phase.states or not -1 <= phase.parent < i or (phase.parent < 0) != (i == 0):
            raise SchemaError(f"layout.phases[{i}] has no states or no place")
        for v in (*phase.states, *phase.controls, *phase.parameters):
            places = [0, *(place for unit in v.units for place in unit), v.size]
            if v.size < 1 or places != sorted(places) or any(stop - start not in (2, 4) for start, stop in v.units):
                raise SchemaError(f"layout.phases[{i}] has the variable '{v.name}' without sense")
    values = 0
    for i, each in enumerate(layout.constraints):
        first, last = each.stages
        if each.kind not in rows or not 0 <= each.phase < len(layout.phases):
            raise SchemaError(f"layout.constraints[{i}] is of no kind or phase")
        good = 0 <= first < last <= layout.phases[each.phase].steps + 1 and len(each.at) == last - first
        if not good or not each.rows or min(each.rows) < 0:
            raise SchemaError(f"layout.constraints[{i}] has no rows or stages")
        rows[each.kind] += len(each.at) * len(each.rows)
        values += len(each.at) * (1 + max(each.rows))
    size_y = sum(rows.values())
    outside = any(min(each.at) < 0 or max(each.at) + len(each.rows) > size_y for each in layout.constraints)
    if outside or values > MOST_VALUES or size_y > unpacked // 8:
        raise SchemaError("layout.constraints lie outside the rows")
    return layout


def _solution(header: dict[str, Any], arrays: Mapping[str, np.ndarray]) -> Solution:
    layout = typed(Layout, header["layout"], "layout")
    status = typed(str, header["status"], "status")
    if status not in [each.value for each in Status]:
        raise SchemaError(f"status {status!r}")
    measured = {name: arrays[f"measured_{name}"] for name in MEASURED}
    solution = Solution(
        status=Status.named(status),
        all_gains=tuple(arrays[f"gains_{i}"] for i in range(len(layout.phases))),
        statistics=typed(Statistics, header["statistics"], "statistics"),
        tolerance=typed(float, header["tolerance"], "tolerance"),
        layout=layout,
        limit_vectors=LimitVectors(**{name: arrays[name] for name in LIMITS}),
        point=Point(**{name: arrays[name] for name in POINT}),
        judged=Measured(
            typed(float, header["objective"], "objective"),
            residual=typed(Residual, header["residual"], "residual"),
            relative=typed(Residual, header["relative"], "relative"),
            left=None,
            **measured,
        ),
        records=typed(list[Iteration], header["records"], "records"),
        fault=typed(Fault | None, header["fault"], "fault"),
        doubt=typed(str, header["doubt"], "doubt"),
    )
    for motion in solution.phases.values():  # whatever does not fit together shows here, not later on
        for part in ("trajectories", "times", "constraints", "limits", "parameters"):
            getattr(motion, part)
    str(solution)
    return solution
