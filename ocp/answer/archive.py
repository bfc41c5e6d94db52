"""Solutions in files: NumPy's npz, arrays and one line of JSON, nothing pickled.

A file is read as something that anybody may have written: nothing is unpacked before its size is known to fit, nothing
is believed before the checksum over all of it fits, nothing is built before every field has its type, and nothing is
handed back before all that it says of itself can be read. Files carry the version of their form.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import ProblemError
from ...whole_file import whole_file
from ..solve.kkt import Measured, Point, Residual
from ..stages.layout import Layout
from ..stages.limit_vectors import LimitVectors
from ..statement.terms import CONSTRAINTS, Kind
from .diagnosis import Fault
from .iteration import Iteration
from .schema import SchemaError, typed
from .solution import Solution, Statistics
from .status import Status

FORM, VERSION = "trisweep solution", 5
POINT = ("z", "y", "w", "shared_parameters", "stage_parameters")
LIMITS = ("z_lower", "z_upper", "y_lower", "y_upper")
MEASURED = ("rows", "stationarity", "outside_rows", "outside_bounds", "complementarity")
MOST_HEADER, MOST_ARRAYS = 2**26, 2**31  # bytes, unpacked
NPY_HEADER = 2**10  # bytes at most before the numbers of an array
MOST_VALUES = 10**8  # of all constraints together


def save(solution: Solution, path: str | Path) -> Path:
    """Write a solution; a path without an ending gets .npz. An old file goes only when the new one is whole."""
    path = _path("save", path)
    path = path if path.suffix else path.with_suffix(".npz")
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
    parts = {"header": _packed(np.frombuffer(json.dumps(header).encode(), dtype=np.uint8))}
    arrays = {name: getattr(solution.point, name) for name in POINT}
    arrays |= {name: getattr(solution.limit_vectors, name) for name in LIMITS}
    arrays |= {f"measured_{name}": getattr(solution.measured, name) for name in MEASURED}
    arrays |= {f"gains_{i}": gains for i, gains in enumerate(solution.all_gains)}
    parts |= {name: _packed(np.asarray(array, dtype=float)) for name, array in arrays.items()}
    parts["checksum"] = _packed(_checksum(parts))
    with whole_file(path) as unfinished, zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(f"{name}.npy", content)
    return path


def load(path: str | Path) -> Solution:
    """Read a solution; anything else is answered with a sentence."""
    given = _path("load", path)
    if not given.is_file():
        raise ProblemError(f"load: there is no file '{given}'")
    try:
        with zipfile.ZipFile(given) as file:
            return _read(file)
    except _OtherVersion as other:
        raise ProblemError(
            f"load: '{given}' has version {other}, expected {VERSION}; save it again with this program"
        ) from None
    except SchemaError as error:
        raise ProblemError(f"load: '{given}' is damaged ({error}), expected a file that Solution.save wrote") from None
    except Exception:  # zipfile, zlib, json and NumPy raise some twenty kinds for bytes that are not theirs
        raise ProblemError(f"load: '{given}' is not a solution, expected a file that Solution.save wrote") from None


class _OtherVersion(Exception):
    pass


def _path(verb: str, path: object) -> Path:
    try:
        return Path(path)  # type: ignore[arg-type]
    except TypeError:
        raise ProblemError(f"{verb}: path is {path!r}, expected a path") from None


def _read(file: zipfile.ZipFile) -> Solution:
    sizes = {info.filename.removesuffix(".npy"): info.file_size for info in file.infolist()}
    if len(sizes) != len(file.infolist()):
        raise SchemaError("a part stands in it twice")
    if sizes["header"] > MOST_HEADER or sum(sizes.values()) > MOST_ARRAYS:
        raise SchemaError("it is larger than any solution")
    parts = {"header": file.read("header.npy")}
    header = _header(parts["header"])
    layout = typed(Layout, header["layout"], "layout", most=sum(sizes.values()) // 8)
    shapes = _shapes(layout)
    if set(sizes) != {"header", "checksum", *shapes}:
        raise SchemaError("its parts are not those of a solution")
    for name, shape in shapes.items():
        if not 0 <= sizes[name] - 8 * int(np.prod(shape, dtype=object)) <= NPY_HEADER:
            raise SchemaError(f"'{name}' does not fit its layout")
        parts[name] = file.read(f"{name}.npy")
    if not np.array_equal(_checksum(parts), _unpacked(file.read("checksum.npy"), np.uint8)):
        raise SchemaError("its checksum is another")
    arrays = {name: _unpacked(parts[name], np.float64) for name in shapes}
    for name, shape in shapes.items():
        if arrays[name].shape != shape:
            raise SchemaError(f"'{name}' does not fit its layout")
    return _solution(header, layout, arrays)


def _header(content: bytes) -> dict[str, Any]:
    header = json.loads(_text(content))
    if header["form"] != FORM:
        raise ValueError
    if header["version"] != VERSION:
        raise _OtherVersion(repr(header["version"])[:20])
    return header


def _shapes(layout: Layout) -> dict[str, tuple[int, ...]]:
    """The arrays of a solution with this layout, once that makes sense."""
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
    if outside or values > MOST_VALUES:
        raise SchemaError("layout.constraints lie outside the rows")
    size_z = layout.size_z
    shapes: dict[str, tuple[int, ...]] = {"z": (size_z,), "y": (size_y,), "w": (size_z,)}
    shapes |= {"shared_parameters": (layout.size_shared,), "stage_parameters": (layout.size_stage,)}
    shapes |= {"z_lower": (size_z,), "z_upper": (size_z,), "y_lower": (size_y,), "y_upper": (size_y,)}
    shapes |= {"measured_rows": (size_y,), "measured_stationarity": (size_z,), "measured_outside_rows": (size_y,)}
    shapes |= {"measured_outside_bounds": (size_z,), "measured_complementarity": (rows[Kind.INEQUALITY] + size_z,)}
    return shapes | {f"gains_{i}": (phase.steps, phase.nu, phase.nx) for i, phase in enumerate(layout.phases)}


def _solution(header: dict[str, Any], layout: Layout, arrays: Mapping[str, np.ndarray]) -> Solution:
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
        measured=Measured(
            typed(float, header["objective"], "objective"),
            residual=typed(Residual, header["residual"], "residual"),
            relative=typed(Residual, header["relative"], "relative"),
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


def _text(content: bytes) -> str:
    """The header as bytes, or as the text of earlier versions."""
    buffer = io.BytesIO(content)
    np.lib.format.read_magic(buffer)
    _, _, dtype = np.lib.format.read_array_header_1_0(buffer)
    if dtype.kind == "U":
        return content[buffer.tell() :].decode("utf-32-le")
    return _unpacked(content, np.uint8).tobytes().decode()


def _packed(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.ascontiguousarray(array), allow_pickle=False)
    return buffer.getvalue()


def _unpacked(content: bytes, kind: type) -> np.ndarray:
    buffer = io.BytesIO(content)
    if np.lib.format.read_magic(buffer) != (1, 0):
        raise SchemaError("an array is of another form")
    shape, by_columns, dtype = np.lib.format.read_array_header_1_0(buffer)
    numbers = content[buffer.tell() :]
    if dtype != kind or by_columns or len(numbers) != dtype.itemsize * int(np.prod(shape, dtype=object)):
        raise SchemaError(f"an array of {dtype} {shape} is not what it should be")
    return np.frombuffer(numbers, dtype).reshape(shape).copy()


def _checksum(parts: Mapping[str, bytes]) -> np.ndarray:
    digest = hashlib.sha256()
    for name in sorted(parts):
        digest.update(f"{name} {len(parts[name])}\n".encode() + parts[name])
    return np.frombuffer(digest.digest(), dtype=np.uint8)
