"""Files that are damaged or forged: solutions, entries of the cache, robots. A sentence, or what was written."""

import hashlib
import io
import json
import zipfile
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from support.junk import changes, damaged, damaged_xml, fuzz, moves
from support.ocp_problems import swing_up
from trisweep.dynamics import load_urdf
from trisweep.native import compile_function
from trisweep.ocp import ProblemError, Solution
from trisweep.ocp.answer.files import parts_file
from trisweep.problems.robot import robot

pytestmark = pytest.mark.usefixtures("quiet")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    solution = swing_up(free=True).build().solve()
    return solution, solution.save(tmp_path_factory.mktemp("solutions") / "whole.npz")


def used(solution):
    """Everything that can be asked of a solution."""
    str(solution), solution.violations, solution.shifted(), solution.times, solution.limits, solution.constraints
    return solution


def test_damaged_solutions(saved, tmp_path):
    solution, path = saved
    content, file = path.read_bytes(), tmp_path / "damaged.npz"

    def attempt(rng):
        file.write_bytes(damaged(content, rng))
        np.testing.assert_array_equal(used(Solution.load(file)).point.z, solution.point.z)

    fuzz(2000, 4, attempt)


def forged(path, header=None, others=()):
    """The parts of a file with another header and other arrays, under a checksum that fits."""
    with zipfile.ZipFile(path) as file:
        parts = {name.removesuffix(".npy"): file.read(name) for name in file.namelist() if name != "checksum.npy"}
    if header is not None:
        parts["header"] = parts_file._packed(np.frombuffer(json.dumps(header).encode(), dtype=np.uint8))
    parts |= dict(others)
    parts["checksum"] = parts_file._packed(parts_file._checksum(parts))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, content in parts.items():
            file.writestr(f"{name}.npy", content)
    return buffer.getvalue()


def header_of(path):
    with np.load(path) as file:
        return json.loads(file["header"].tobytes())


def test_forged_headers(saved, tmp_path):
    """What a forger changes is refused, or does no more harm than other numbers would."""
    solution, path = saved
    header, file = header_of(path), tmp_path / "forged.npz"

    def attempt(rng):
        file.write_bytes(forged(path, next(changes(header, rng))))
        used(Solution.load(file))

    fuzz(600, 5, attempt)


@pytest.mark.parametrize(
    "other",
    [
        {"z": parts_file._packed(np.zeros(3))},
        {"z": parts_file._packed(np.zeros(181, dtype=np.float32))},
        {
            "z": b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (1099511627776,), }"
            + b" " * 40
        },
        {"unknown": parts_file._packed(np.zeros(10))},
        {"header": parts_file._packed(np.frombuffer(b"[" * 200_000, dtype=np.uint8))},
        {"header": parts_file._packed(np.frombuffer(b"1" * 100_000, dtype=np.uint8))},
        {"header": parts_file._packed(np.zeros(3))},
    ],
)
def test_forged_parts(saved, tmp_path, other):
    file = tmp_path / "forged.npz"
    file.write_bytes(forged(saved[1], others=other))
    with pytest.raises(ProblemError, match=r"is (damaged|not a solution)"):
        Solution.load(file)


def test_nothing_is_unpacked_before_its_size_fits(saved, tmp_path, monkeypatch):
    """A few kilobytes that would become gigabytes: refused by their announced size."""
    file = tmp_path / "bomb.npz"
    with zipfile.ZipFile(saved[1]) as old, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
        new.writestr("unknown.npy", bytes(2**27))
    read = []
    original = zipfile.ZipFile.read
    monkeypatch.setattr(zipfile.ZipFile, "read", lambda self, name: read.append(name) or original(self, name))
    with pytest.raises(ProblemError, match="its parts are not those of a solution"):
        Solution.load(file)
    assert read == ["header.npy"]


def test_another_version_is_named(saved, tmp_path):
    header = header_of(saved[1]) | {"version": 99}
    (tmp_path / "later.npz").write_bytes(forged(saved[1], header))
    with pytest.raises(ProblemError, match="has version 99, expected 7"):
        Solution.load(tmp_path / "later.npz")


def test_damaged_entries_of_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TRISWEEP_CACHE", str(tmp_path / "cache"))
    x = ca.SX.sym("x")
    f = ca.Function("f", [x], [ca.sin(x) + 2])
    compile_function(f)
    (path,) = (tmp_path / "cache").glob("*.code")
    whole = path.read_bytes()
    from trisweep.native.compiler.object_cache import ObjectCache

    cache = ObjectCache(tmp_path / "cache")
    expected = cache.load(path.stem)

    def attempt(rng):
        content = damaged(whole, rng)
        if rng.random() < 0.3:  # with a hash that fits
            content = hashlib.sha256(content[32:]).digest() + content[32:]
        path.write_bytes(content)
        assert cache.load(path.stem) in (None, expected)
        if rng.random() < 0.02:
            assert compile_function(f)(0.0)[0] == 2.0

    fuzz(1000, 6, attempt)
    path.write_bytes(whole)
    assert compile_function(f)(0.0)[0] == 2.0


def test_damaged_robots(tmp_path):
    import trisweep.problems.robot as robots

    source = Path(robots.__file__).parent / "robots" / "iiwa14.urdf"
    content, file = source.read_bytes(), tmp_path / "robot.urdf"

    def attempt(rng):
        file.write_bytes(damaged_xml(content, rng))
        moves(load_urdf(file))

    fuzz(700, 7, attempt)
    assert robot("iiwa14").nv == 7


@pytest.mark.parametrize("path", [3, None, b"x", "", "\0", "x" * 5000, [], 1.5, "nowhere.urdf", "."])
def test_paths_that_are_none(path):
    with pytest.raises(Exception) as raised:
        load_urdf(path)
    assert type(raised.value).__name__ == "ModelError" and len(str(raised.value)) > 15
