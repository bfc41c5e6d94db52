"""Solutions in files: NumPy's npz, arrays and one line of JSON, nothing pickled.

Files carry the version of their form; one that is newer than this program is refused with a sentence.
"""

from __future__ import annotations

import json
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import ProblemError
from ..solve.kkt import Measured, Point, Residual
from ..stages.layout import ConstraintRows, Layout, PhaseLayout, VariableLayout
from ..stages.limit_vectors import LimitVectors
from ..statement.terms import Kind
from .diagnosis import Fault
from .iteration import Iteration
from .solution import Solution, Statistics
from .status import Status

FORM, VERSION = "trisweep solution", 4
POINT = ("z", "y", "w", "shared_parameters", "stage_parameters")
LIMITS = ("z_lower", "z_upper", "y_lower", "y_upper")
MEASURED = ("rows", "stationarity", "outside_rows", "outside_bounds", "complementarity")


def save(solution: Solution, path: str | Path) -> Path:
    """Write a solution; a path without an ending gets .npz."""
    path = Path(path) if Path(path).suffix else Path(path).with_suffix(".npz")
    header = {
        "form": FORM,
        "version": VERSION,
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
    with path.open("wb") as file:
        np.savez_compressed(file, header=np.array(json.dumps(header)), **arrays)
    return path


def load(path: str | Path) -> Solution:
    """Read a solution; anything else is answered with a sentence."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        header = json.loads(str(arrays["header"]))
        if header["form"] != FORM:
            raise KeyError("form")
        version = header["version"]
    except FileNotFoundError:
        raise ProblemError(f"load: there is no file '{path}'") from None
    except (OSError, ValueError, KeyError, EOFError, TypeError, AttributeError, zipfile.BadZipFile):
        raise ProblemError(f"load: '{path}' is not a solution, expected a file that Solution.save wrote") from None
    if version != VERSION:
        raise ProblemError(f"load: '{path}' has version {version}, expected {VERSION}; save it again with this program")
    try:
        return _solution(header, arrays)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise ProblemError(f"load: '{path}' is damaged ({error}), expected a file that Solution.save wrote") from None


def _solution(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Solution:
    layout = _layout(header["layout"])
    point = Point(**{name: arrays[name] for name in POINT})
    if point.z.shape != (layout.size_z,) or point.y.shape != (layout.size_y,) or point.w.shape != point.z.shape:
        raise ValueError("its vectors do not fit its layout")
    limits = LimitVectors(**{name: arrays[name] for name in LIMITS})
    if limits.z_lower.shape != point.z.shape or limits.y_lower.shape != point.y.shape:
        raise ValueError("its limits do not fit its layout")
    measured = {name: arrays[f"measured_{name}"] for name in MEASURED}
    residuals = {name: Residual(**header[name]) for name in ("residual", "relative")}
    return Solution(
        status=Status.named(header["status"]),
        all_gains=tuple(arrays[f"gains_{i}"] for i in range(len(layout.phases))),
        statistics=Statistics(**header["statistics"]),
        tolerance=header["tolerance"],
        layout=layout,
        limit_vectors=limits,
        point=point,
        measured=Measured(header["objective"], **measured, **residuals),
        records=[Iteration(*record) for record in header["records"]],
        fault=Fault(**header["fault"]) if header["fault"] else None,
        doubt=header["doubt"],
    )


def _layout(plain: dict[str, Any]) -> Layout:
    phases = []
    for phase in plain["phases"]:
        for name in ("states", "controls", "parameters"):
            phase[name] = tuple(VariableLayout(**_with_tuples(variable)) for variable in phase[name])
        phases.append(PhaseLayout(**phase))
    rows = [ConstraintRows(**{**_with_tuples(rows), "kind": Kind(rows["kind"])}) for rows in plain["constraints"]]
    return Layout(tuple(phases), tuple(rows))


def _with_tuples(values: dict[str, Any]) -> dict[str, Any]:
    """Fields as they were before they were written: tuples instead of lists."""

    def tuples(value: Any) -> Any:
        return tuple(map(tuples, value)) if isinstance(value, list) else value

    return {name: tuples(value) for name, value in values.items()}
