"""Object code on disk: found again, rebuilt when damaged, bounded, and sound whoever is killed when."""

import os
import subprocess
import sys
import time

import casadi as ca
import numpy as np
import pytest
from support.killed import killed_at_every_line, killed_at_random
from trisweep.native import compile_function
from trisweep.native.compiler import compiler, object_cache
from trisweep.native.compiler.object_cache import ObjectCache, default_folder


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TRISWEEP_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def builds(monkeypatch):
    """The names of the functions that were really compiled."""
    names = []
    build = compiler._build

    def counting_build(function, lanes, optimize, name):
        names.append(name)
        return build(function, lanes, optimize, name)

    monkeypatch.setattr(compiler, "_build", counting_build)
    return names


def function(factor=2.0):
    x = ca.SX.sym("x")
    return ca.Function("f", [x], [factor * ca.sin(x)])


def entries(folder):
    return sorted(folder.glob("*.code"))


def test_a_function_is_compiled_once(folder, builds):
    first, second = compile_function(function()), compile_function(function())
    assert builds == ["f"]
    assert len(entries(folder)) == 1
    np.testing.assert_array_equal(first(0.3), second(0.3))
    assert first.sizes == second.sizes


def test_whatever_changes_the_code_changes_the_entry(folder, builds, monkeypatch):
    compile_function(function())
    compile_function(function(3.0))
    compile_function(function(), lanes=2)
    compile_function(function(), optimize="quick")
    monkeypatch.setattr(compiler, "_identity", lambda: "another version of Trisweep")
    compile_function(function())
    assert len(builds) == 5
    assert len(entries(folder)) == 5


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:20],
        lambda content: content[: len(content) // 2],
        lambda content: content[:-1],
        lambda content: content[:200] + bytes([content[200] ^ 1]) + content[201:],
        lambda content: b"\0" * len(content),
        lambda content: content + b"more",
    ],
)
def test_a_damaged_entry_is_rebuilt(folder, builds, damage):
    compile_function(function())
    (path,) = entries(folder)
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    np.testing.assert_allclose(compile_function(function())(0.3), [2 * np.sin(0.3)], rtol=1e-15)
    assert len(builds) == 2
    assert len(path.read_bytes()) == len(whole)
    compile_function(function())
    assert len(builds) == 2


def test_off_writes_nothing_and_the_default_is_the_users_cache_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("TRISWEEP_CACHE", "off")
    assert default_folder() is None
    monkeypatch.delenv("TRISWEEP_CACHE")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "trisweep"


def test_a_folder_that_cannot_be_written_is_no_hindrance(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("TRISWEEP_CACHE", str(tmp_path / "file"))
    np.testing.assert_allclose(compile_function(function())(0.3), [2 * np.sin(0.3)], rtol=1e-15)


def test_the_least_recently_used_entries_go_first(tmp_path):
    cache = ObjectCache(tmp_path, size_limit=3500)
    for age, key in enumerate(["oldest", "older", "old"]):
        cache.save(key, 1, [b"x" * 1000])
        os.utime(tmp_path / f"{key}.code", (time.time() - 100 + age,) * 2)
    assert cache.load("oldest") == (1, [b"x" * 1000])  # and so it is now the youngest
    cache.save("new", 2, [b"y" * 900, b"z" * 100])
    assert cache.load("older") is None
    assert cache.load("oldest") == (1, [b"x" * 1000])
    assert cache.load("new") == (2, [b"y" * 900, b"z" * 100])


def test_files_of_killed_writers_are_removed_in_time(tmp_path):
    young, old = tmp_path / "young.part", tmp_path / "old.part"
    for path in (young, old):
        path.write_bytes(b"half")
    os.utime(old, (time.time() - 2 * object_cache._ABANDONED_AFTER,) * 2)
    ObjectCache(tmp_path).save("key", 1, [b"code"])
    assert young.exists()
    assert not old.exists()


WRITE = """
from pathlib import Path
from trisweep.native.compiler.object_cache import ObjectCache

cache = ObjectCache(Path(sys.argv[1]))
before, after = (7, [b"before" * 1000]), (8, [b"after" * 1000, b"more"])

def act(n):
    cache.save("key", *after)

def look(n):
    found = cache.load("key")
    assert found in (before, after), found
    cache.save("key", *before)

cache.save("key", *before)
"""


def test_a_writer_killed_at_any_moment_leaves_the_cache_sound(tmp_path):
    assert killed_at_every_line(WRITE, tmp_path, within="object_cache") > 10
    killed_at_random(WRITE, tmp_path, seconds=0.01)
    assert list(tmp_path.glob("*.part"))  # some were killed in the middle of a write
    cache = ObjectCache(tmp_path)
    cache.save("after", 1, [b"code"])
    assert cache.load("after") == (1, [b"code"])


COMPILE = """
import casadi as ca
from trisweep.native import compile_function
x = ca.SX.sym("x")
for factor in range(1, 6):
    compiled = compile_function(ca.Function("f", [x], [factor * ca.exp(x)]))
    assert compiled(0.0)[0] == factor
"""


def test_processes_share_a_cache(folder):
    runs = [subprocess.Popen([sys.executable, "-c", COMPILE]) for _ in range(4)]
    assert [run.wait() for run in runs] == [0, 0, 0, 0]
    assert len(entries(folder)) == 5
    assert not list(folder.glob("*.part"))
