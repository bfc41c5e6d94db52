"""Solutions in files: NumPy's npz, arrays and one line of JSON, nothing pickled.

Files carry the version of their form; one that is newer than this program is refused with a sentence.
"""

from __future__ import annotations

import json
import zipfile
from dataclasses import asdict
from pathlib import Path

import numpy as np

from ...errors import ProblemError
from ..solve.kkt import Measured, Point, Residual
from ..stages.layout import Column, Layout, Piece, Span
from .diagnosis import Fault
from .iteration import Iteration
from .solution import ADVICE, Solution, Statistics

FORM, VERSION = "trisweep solution", 3
POINT = ("z", "y", "w", "parameters", "of_stages")
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


def _solution(header: dict, arrays: dict[str, np.ndarray]) -> Solution:
    layout = _layout(header["layout"])
    point = Point(**{name: arrays[name] for name in POINT})
    if point.z.shape != (layout.size_z,) or point.y.shape != (layout.size_y,) or point.w.shape != point.z.shape:
        raise ValueError("its vectors do not fit its layout")
    measured = {name: arrays[f"measured_{name}"] for name in MEASURED}
    residuals = {name: Residual(**header[name]) for name in ("residual", "relative")}
    if header["status"] not in ADVICE:
        raise ValueError(f"status {header['status']!r}")
    return Solution(
        status=header["status"],
        all_gains=tuple(arrays[f"gains_{i}"] for i in range(len(layout.phases))),
        statistics=Statistics(**header["statistics"]),
        tolerance=header["tolerance"],
        layout=layout,
        point=point,
        measured=Measured(header["objective"], **measured, **residuals),
        records=[Iteration(*record) for record in header["records"]],
        fault=Fault(**header["fault"]) if header["fault"] else None,
        doubt=header["doubt"],
    )


def _layout(plain: dict) -> Layout:
    def tuples(value):
        return tuple(map(tuples, value)) if isinstance(value, list) else value

    def made(kind: type, values: dict):
        return kind(**{name: tuples(value) for name, value in values.items()})

    spans = []
    for span in plain["phases"]:
        parts = {name: tuple(made(Column, c) for c in span.pop(name)) for name in ("states", "controls", "parameters")}
        spans.append(Span(**span, **parts))
    return Layout(tuple(spans), tuple(made(Piece, piece) for piece in plain["pieces"]))
