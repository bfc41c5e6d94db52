"""Exports of junk: a sentence and nothing left behind, or a folder with all that a compiler needs."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import trisweep as ts
from support.junk import fuzz, picker
from support.killed import killed_at_every_line, killed_at_random

pytestmark = pytest.mark.usefixtures("quiet")
pick = picker()

STATED = """
import trisweep as ts

ocp = ts.Problem(steps=3, step=0.1)
x, u, p = ocp.state("x"), ocp.control("u"), ocp.parameter("p")
ocp.next(x=x + p * u)
ocp.minimize(x**2 + u**2)
ocp.start("x")
solver = ocp.build()
"""


@pytest.fixture(scope="module")
def solver():
    names: dict = {}
    exec(STATED, names)
    return names["solver"]


@pytest.fixture
def no_code(solver, monkeypatch):
    """Object code of nothing: what is asked here is what becomes of names and folders."""
    from trisweep.native.compiler.cross import ObjectFile
    from trisweep.ocp.export import folder, tables

    monkeypatch.setattr(folder, "SOURCES", ("control",))
    monkeypatch.setattr(tables, "object_file", lambda source, target, symbol: ObjectFile(symbol, b"", 8, 2))


TARGETS = ("host", "x86-64", "aarch64-linux-gnu", "aarch64-", "aarch64-x*/", "aarch64-a\0b", "arm", "x86-64-v9")
NAMES = (None, "good", "int", "loop", "time", "x" * 61, "x" * 60, "H", "pause", "test", "2", "a-b", "ü")


def test_exports(solver, no_code, tmp_path, monkeypatch):
    controller = solver.controller()

    def attempt(rng):
        place = tmp_path / "here" / "at work"
        place.mkdir(parents=True)
        (place.parent / "full").mkdir()
        (place.parent / "full" / "kept").write_text("kept")
        monkeypatch.chdir(place)
        before = sorted(place.parent.rglob("*"))
        try:
            folder = pick(rng, "reach", "a/b/reach", "../full", "../full/kept", ".", "..", "x" * 300, share=0.3)
            who = solver if rng.random() < 0.5 else controller
            made = who.export(folder, pick(rng, *NAMES, share=0.2), pick(rng, *TARGETS, share=0.2))
            assert {"CMakeLists.txt", "main.c", "core", "stages"} <= set(os.listdir(made))
            assert len(list(made.glob("*.cpp"))) == 1
        except (ts.TrisweepError, OSError) as error:
            assert sorted(place.parent.rglob("*")) == before
            if not isinstance(error, OSError) or "too long" not in str(error):
                raise
        finally:
            assert (place.parent / "full" / "kept").read_text() == "kept"
            monkeypatch.chdir(tmp_path)
            shutil.rmtree(place.parent)

    fuzz(300, 50, attempt)


EXPORT = (
    """
import os, shutil
from pathlib import Path
"""
    + STATED
    + """
from trisweep.native.compiler.cross import ObjectFile
from trisweep.ocp.export import folder as exporting, tables
tables.object_file = lambda source, target, symbol: ObjectFile(symbol, b"", 8, 2)
exporting.SOURCES = ("control",)
folder = Path(sys.argv[1]) / "reach"
solver.export(folder)
whole = {path.relative_to(folder): path.is_file() and path.read_bytes() for path in folder.rglob("*")}
shutil.rmtree(folder)

def act(n):
    if folder.exists():
        folder.rename(folder.with_name(f".reach.{os.urandom(8).hex()}"))
    solver.export(folder)

def look(n):
    if folder.exists():
        assert {p.relative_to(folder): p.is_file() and p.read_bytes() for p in folder.rglob("*")} == whole
        shutil.rmtree(folder)
    for left in folder.parent.glob(".reach.*"):
        shutil.rmtree(left)
"""
)


def test_an_export_killed_at_any_moment_is_there_whole_or_not_at_all(tmp_path):
    assert killed_at_every_line(EXPORT, tmp_path, within="whole_file") > 20
    killed_at_random(EXPORT, tmp_path, seconds=0.1)


def test_a_full_disk_leaves_nothing_of_an_export(solver, no_code, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    for function in ("fsync", "replace"):
        monkeypatch.setattr(os, function, full)
        with pytest.raises(OSError, match="No space left"):
            solver.export(tmp_path / "a" / "reach")
        assert os.listdir(tmp_path) == []
        monkeypatch.undo()


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
@pytest.mark.parametrize("name", ["loop", "status", "Exported"])
def test_names_that_the_core_has_too_are_no_trouble(solver, tmp_path, name):
    folder: Path = solver.export(tmp_path / name)
    strict = ["-fsyntax-only", "-Wall", "-Werror", "-Wno-psabi", f"-I{folder / 'core'}", f"-I{folder}"]
    for compiler, source in ((["g++", "-std=c++20"], f"{name}.cpp"), (["gcc"], "main.c")):
        done = subprocess.run([*compiler, *strict, folder / source], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[:2000]


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_variables_are_called_apart_in_the_header(tmp_path):
    """Whatever the header itself makes of the names of others, and in whatever order."""
    ocp = ts.Problem(steps=3, step=0.1)
    names = ["x_ROWS_", "x_SIZE", "x", "x_ROWS", "SOLVED", "NAMES", "y_SIZE_ROWS", "y_SIZE", "y", "ä", "ö"]
    states, u = [ocp.state(name) for name in names], ocp.control("u")
    ocp.derivative(**dict.fromkeys(names, u))
    ocp.minimize(u**2 + sum(x**2 for x in states))
    folder = ocp.build().export(tmp_path / "reach")
    done = subprocess.run(
        ["gcc", "-fsyntax-only", "-Wall", "-Werror", folder / "main.c"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[:2000]


@pytest.mark.parametrize("name", ["int", "class", "linux", "time", "math", "pause", "exp", "test", "std", "trisweep"])
def test_names_that_compilers_know_are_refused(solver, tmp_path, name):
    with pytest.raises(ts.ProblemError, match=f"the name is '{name}', which compilers know already"):
        solver.export(tmp_path / name)
    assert not os.listdir(tmp_path)
