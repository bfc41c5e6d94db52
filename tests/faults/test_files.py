"""Files that a program writes: whole or not at all, whoever is killed when, and readable by whom they are meant for."""

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import trisweep as ts
from support.killed import killed_at_every_line, killed_at_random
from support.ocp_problems import swing_up
from trisweep.ocp import ProblemError, Solution
from trisweep.whole_file import whole_file


@pytest.fixture(scope="module")
def solution():
    return swing_up().build().solve()


SAVE = """
import warnings
from pathlib import Path
from trisweep.ocp import Solution

folder = Path(sys.argv[1])
old, new = Solution.load(folder / "old.npz"), Solution.load(folder / "new.npz")
path = folder / "kept.npz"

def act(n):
    new.save(path)

def look(n):
    found = Solution.load(path)
    assert found.objective in (old.objective, new.objective)
    old.save(path)

old.save(path)
"""


def test_a_saving_killed_at_any_moment_loses_nothing(tmp_path, solution):
    solution.save(tmp_path / "old.npz")
    swing_up(torque=9.0).build().solve().save(tmp_path / "new.npz")
    assert killed_at_every_line(SAVE, tmp_path, within="parts_file") > 20
    assert killed_at_every_line(SAVE, tmp_path, within="whole_file") > 10
    killed_at_random(SAVE, tmp_path, seconds=0.02)


RESUME = """
import shutil
import numpy as np
import trisweep as ts
from trisweep.ocp.many import executor, worker

executor.CHUNK_SECONDS, executor.LEAST_SECONDS = 1e-9, 0.0  # a chunk a problem
ocp = ts.Problem(steps=3, step=0.5)
x, u, goal = ocp.state("x"), ocp.control("u"), ocp.parameter("goal")
ocp.derivative(x=u)
ocp.minimize(u**2)
ocp.constrain("there", x, equals=goal, at="end")
solver, given = ocp.build(), {"goal": np.arange(4.0), "progress": False}
expected = solver.solve_many(**given).answers.z
folder = sys.argv[1] + "/sweep"

def act(n):
    assert (ts.solve_many(solver, resume=folder, **given).answers.z == expected).all()

def look(n):
    act(n)
    shutil.rmtree(folder)
"""


def test_a_sweep_killed_at_any_moment_goes_on(tmp_path):
    assert killed_at_every_line(RESUME, tmp_path, within="many/folder") > 20
    killed_at_random(RESUME, tmp_path, seconds=0.03)


class FullDisk(OSError):
    def __init__(self):
        super().__init__(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("end", [KeyboardInterrupt, FullDisk, SystemExit])
@pytest.mark.parametrize("function", ["fsync", "replace"])
def test_what_stops_a_write_leaves_the_old_file(tmp_path, solution, monkeypatch, end, function):
    path = solution.save(tmp_path / "kept.npz")
    before = path.read_bytes()

    def stop(*_):
        raise end()

    monkeypatch.setattr(os, function, stop)
    with pytest.raises(end if end is not FullDisk else OSError):
        solution.save(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["kept.npz"]


def test_plots_and_pages_are_whole_too(tmp_path, solution, monkeypatch):
    from trisweep.problems import task

    reach = task("two_link_minimum_time").solve()
    writers = {"plot.png": solution.plot, "plot.svg": reach.plot}
    for name, write in writers.items():
        (tmp_path / name).write_text("old")
        write(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1000

    def stop(*_):
        raise FullDisk()

    monkeypatch.setattr(os, "fsync", stop)
    for name, write in writers.items():
        (tmp_path / name).write_text("old")
        with pytest.raises(OSError, match="No space left"):
            write(tmp_path / name)
        assert (tmp_path / name).read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == sorted(writers)


@pytest.mark.skipif(sys.platform == "win32", reason="permissions")
def test_permissions_and_links_are_kept(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    target.chmod(0o604)
    link.symlink_to(target)
    with whole_file(link) as unfinished:
        assert unfinished.parent == tmp_path and unfinished != target
        unfinished.write_text("new")
    assert link.is_symlink() and target.read_text() == "new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o604
    previous = os.umask(0o027)
    try:
        with whole_file(tmp_path / "fresh") as unfinished:
            unfinished.write_text("x")
    finally:
        os.umask(previous)
    assert stat.S_IMODE((tmp_path / "fresh").stat().st_mode) == 0o640


def test_a_place_that_is_not_there_is_named(tmp_path, solution):
    with pytest.raises(FileNotFoundError, match=r"nowhere/kept\.npz"):
        solution.save(tmp_path / "nowhere" / "kept.npz")
    with pytest.raises(ProblemError, match="save: path is 3, expected a path"):
        solution.save(3)
    with pytest.raises(ProblemError, match="load: path is None, expected a path"):
        Solution.load(None)
    with pytest.raises(ProblemError, match="there is no file"):
        Solution.load(tmp_path)


def test_a_file_holds_all_that_a_solution_is(tmp_path, solution):
    again = Solution.load(solution.save(tmp_path / "kept"))
    assert str(again) == str(solution) and again.records == solution.records and again.layout == solution.layout
    for name in ("z", "y", "w"):
        np.testing.assert_array_equal(getattr(again.point, name), getattr(solution.point, name))
    assert Path(tmp_path / "kept.npz").is_file()


@pytest.mark.parametrize("path", ["a\0b", "\ud800", b"abc", b"\xff", 5, None, [], {}, 3.5, object(), 10**400, "", "."])
def test_what_is_no_path_is_answered_with_a_sentence(solution, path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for read in (ts.load, ts.load_urdf, ts.load_mjcf, ts.Scene.load):
        with pytest.raises(ts.ModelError, match="expected") as caught:
            read(path)
        str(caught.value).encode()  # and it can be printed
    for use in (Solution.load, solution.save, solution.plot):
        if use != solution.plot or path is not None:
            with pytest.raises((ProblemError, IsADirectoryError)):
                use(path)
    assert os.listdir(tmp_path) == []


def test_a_name_that_is_too_long_is_no_file(solution):
    long = "x" * 5000
    for read in (ts.load_urdf, ts.load_mjcf, ts.Scene.load):
        with pytest.raises(ts.ModelError, match="xxx"):
            read(long)
    with pytest.raises(ProblemError, match="there is no file"):
        Solution.load(long)
    with pytest.raises(OSError, match="too long"):
        solution.save(long)


def test_a_scene_whose_yaml_refers_to_itself_is_refused_soon(tmp_path):
    path = tmp_path / "scene.yaml"
    lines = ["- &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"- &a{k} [{', '.join([f'*a{k - 1}'] * 10)}]" for k in range(1, 12)]
    path.write_text("\n".join([*lines, "- {name: bomb, kind: box, size: *a11, position: *a11}"]))
    with pytest.raises(ts.ModelError, match="more than 10000000 numbers, expected a scene"):
        ts.Scene.load(path)
    for text in ("- &a [*a]", "- &a {name: *a, kind: box}", "[" * 5000, "\x00", "- !!python/object/apply:os.getpid []"):
        path.write_text(text)
        with pytest.raises(ts.ModelError, match=r"scene.yaml"):
            ts.Scene.load(path)
    path.write_bytes(b"\xff\xfe\xfd")
    with pytest.raises(ts.ModelError, match="cannot be read as a scene"):
        ts.Scene.load(path)


def test_what_never_ends_is_no_file(tmp_path):
    """A pipe that nobody writes to, a device that has no end: a scene of it took all memory there is."""
    pipe = tmp_path / "scene.yaml"
    os.mkfifo(pipe)
    for path in (pipe, "/dev/zero", tmp_path):
        for load in (ts.Scene.load, ts.load_urdf, ts.load_mjcf, ts.Solution.load, ts.Solutions.load):
            with pytest.raises(ts.TrisweepError, match="there is no file"):
                load(path)
    solver = swing_up().build()
    os.mkfifo(tmp_path / "batch.json")
    with pytest.raises(ts.ProblemError, match="another batch"):
        ts.solve_many(solver, resume=tmp_path, progress=False, guess=[solver.solve()] * 2)


def test_a_scene_is_utf_8_whatever_the_locale(tmp_path):
    path = tmp_path / "scene.yaml"
    path.write_text("- {name: Tür, kind: sphere, radius: 0.1, position: [0, 0, 1]}", encoding="utf-8")
    code = "import trisweep as ts, sys; print(ascii(list(ts.Scene.load(sys.argv[1]))))"
    environment = os.environ | {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}
    found = subprocess.run([sys.executable, "-c", code, path], env=environment, capture_output=True, text=True)
    assert found.stdout.strip() == r"['T\xfcr']", found.stderr
