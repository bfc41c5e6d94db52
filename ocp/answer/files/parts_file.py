"""Arrays and one line of JSON in a file, NumPy's npz, nothing pickled.

A file is read as something that anybody may have written: nothing is unpacked before its size is known to fit, nothing
is believed before the checksum over all of it fits. Files carry the name and the version of their form.
"""

from __future__ import annotations

import hashlib
import io
import json
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ....errors import ProblemError
from ....whole_file import is_file, path_of, whole_file
from .schema import SchemaError

MOST_HEADER = 2**26  # bytes, unpacked
NPY_HEADER = 2**10  # bytes at most before the numbers of an array
Shapes = Mapping[str, tuple[int, ...]]

# What zipfile, zlib, json and NumPy raise for bytes that are not theirs. Anything else would be a mistake of ours.
NOT_THEIRS = (
    ArithmeticError,
    EOFError,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
    struct.error,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)


class Form(NamedTuple):
    """A kind of file: its name, what is in it, its version, what writes it, the bytes of its arrays at most, and
    whether they are packed: what is not takes no more memory than room on the disk.
    """

    name: str
    what: str
    version: int
    writer: str
    most: int
    packed: bool


def write(form: Form, path: str | Path, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Path:
    """Write a file; a path without an ending gets .npz. An old file goes only when the new one is whole."""
    path = path_of(path, "save", ProblemError)
    if not path.name:
        raise ProblemError(f"save: path is '{path}', expected the name of a file")
    path = path if path.suffix else path.with_suffix(".npz")
    stated = json.dumps({"form": form.name, "version": form.version, **header})
    parts = {"header": _packed(np.frombuffer(stated.encode(), dtype=np.uint8))}
    parts |= {name: _packed(np.asarray(array, dtype=float)) for name, array in arrays.items()}
    parts["checksum"] = _packed(_checksum(parts))
    way = zipfile.ZIP_DEFLATED if form.packed else zipfile.ZIP_STORED
    with whole_file(path) as unfinished, zipfile.ZipFile(unfinished, "w", way) as file:
        for name, content in parts.items():
            file.writestr(f"{name}.npy", content)
    return path


def read(
    form: Form,
    path: str | Path,
    shapes: Callable[[dict[str, Any], int], Shapes],
    made: Callable[[dict[str, Any], dict[str, np.ndarray]], Any],
) -> Any:
    """Read a file; anything else is answered with a sentence.

    shapes: of the arrays, from the header and the bytes of the file unpacked. made: what header and arrays stand for.
    """
    path = path_of(path, "load", ProblemError)
    if not is_file(path):
        raise ProblemError(f"load: there is no file '{path}'")
    expected = f"expected a file that {form.writer} wrote"
    try:
        with zipfile.ZipFile(path) as file:
            return made(*_read(form, file, shapes))
    except _OtherVersion as other:
        raise ProblemError(
            f"load: '{path}' has version {other}, expected {form.version}; save it again with this program"
        ) from None
    except SchemaError as error:
        raise ProblemError(f"load: '{path}' is damaged ({error}), {expected}") from None
    except NOT_THEIRS:
        raise ProblemError(f"load: '{path}' is not {form.what}, {expected}") from None


class _OtherVersion(Exception):
    pass


def _read(
    form: Form, file: zipfile.ZipFile, shapes_of: Callable[[dict[str, Any], int], Shapes]
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    sizes = {info.filename.removesuffix(".npy"): info.file_size for info in file.infolist()}
    if len(sizes) != len(file.infolist()):
        raise SchemaError("a part stands in it twice")
    total = sum(sizes.values())
    if sizes["header"] > MOST_HEADER or total > form.most:
        raise SchemaError(f"it is larger than {form.what} may be")
    ways = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED} if form.packed else {zipfile.ZIP_STORED}
    if not {info.compress_type for info in file.infolist()} <= ways:
        raise SchemaError("its parts are packed in another way")
    parts = {"header": file.read("header.npy")}
    header = _header(form, parts["header"])
    shapes = shapes_of(header, total)
    if set(sizes) != {"header", "checksum", *shapes}:
        raise SchemaError(f"its parts are not those of {form.what}")
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
    return header, arrays


def _header(form: Form, content: bytes) -> dict[str, Any]:
    header = json.loads(_text(content))
    if header["form"] != form.name:
        raise ValueError
    if header["version"] != form.version:
        raise _OtherVersion(repr(header["version"])[:20])
    return header


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
