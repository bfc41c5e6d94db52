"""The cache runs what it reads, so it reads only what the user alone can have written."""

import os
import subprocess
import sys
import warnings

import casadi as ca
import numpy as np
import pytest
from trisweep.native import compile_function
from trisweep.native.compiler import object_cache
from trisweep.native.compiler.object_cache import ObjectCache, default_folder

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="owners and modes")
ENTRY = (7, [b"code"])


@pytest.fixture(autouse=True)
def said():
    object_cache._said.clear()


@pytest.fixture
def cache(tmp_path):
    made = ObjectCache(tmp_path / "cache")
    made.save("key", *ENTRY)
    assert made.load("key") == ENTRY
    return made


def entry(cache, key="key"):
    return cache.folder / f"{key}.code"


def test_the_folder_is_made_for_its_user_alone(cache):
    assert cache.folder.stat().st_mode & 0o777 == 0o700
    for path in cache.folder.iterdir():
        assert path.stat().st_mode & 0o077 == 0, path


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o722, 0o1777])
def test_a_folder_that_others_can_write_to_is_not_used_and_that_is_said_once(cache, mode):
    cache.folder.chmod(mode)
    before = sorted(os.listdir(cache.folder))
    with pytest.warns(RuntimeWarning, match="expected a folder that you own and only you can write to"):
        assert cache.load("key") is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cache.save("other", *ENTRY)
        assert cache.load("key") is None
    assert sorted(os.listdir(cache.folder)) == before


@pytest.mark.parametrize("foreign", ["folder", "entry", "secret"])
def test_what_belongs_to_another_user_is_not_used(cache, foreign, monkeypatch):
    """Seen from a user that is not the owner of one of them."""
    wanted = {"folder": cache.folder, "entry": entry(cache), "secret": cache.folder / "secret"}[foreign]
    inode, stat_of, fstat_of = wanted.stat().st_ino, os.stat, os.fstat

    def as_seen(status):
        fields = list(status)
        fields[4] = os.geteuid() + (1 if status.st_ino == inode else 0)
        return os.stat_result(fields)

    monkeypatch.setattr(os, "stat", lambda *given, **named: as_seen(stat_of(*given, **named)))
    monkeypatch.setattr(os, "fstat", lambda descriptor: as_seen(fstat_of(descriptor)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert cache.load("key") is None


def test_an_entry_that_others_can_write_to_is_not_used(cache):
    entry(cache).chmod(0o666)
    with pytest.warns(RuntimeWarning, match="not a file of this user's alone"):
        assert cache.load("key") is None


def test_an_entry_under_another_key_is_a_miss(cache):
    os.replace(entry(cache), entry(cache, "another"))
    assert cache.load("another") is None


def test_an_entry_of_another_cache_is_a_miss(cache, tmp_path):
    other = ObjectCache(tmp_path / "other")
    other.save("key", 9, [b"theirs"])
    entry(cache).write_bytes(entry(other).read_bytes())
    assert cache.load("key") is None


def test_garbage_with_a_hash_of_its_own_never_reaches_the_compiler(tmp_path, monkeypatch):
    import hashlib

    monkeypatch.setenv("TRISWEEP_CACHE", str(tmp_path / "cache"))
    x = ca.SX.sym("x")
    f = ca.Function("f", [x], [3 * x])
    compile_function(f)
    (path,) = (tmp_path / "cache").glob("*.code")
    header = b'{"work": 8, "objects": [64]}'
    body = len(header).to_bytes(8, "little") + header + b"\x7fELF" + bytes(60)
    path.write_bytes(hashlib.sha256(body).digest() + body)
    np.testing.assert_array_equal(compile_function(f)(2.0), [6.0])


@pytest.mark.parametrize("what", ["fifo", "link", "folder", "large"])
def test_an_entry_that_is_no_plain_file_is_a_miss(cache, tmp_path, what):
    path = entry(cache)
    content = path.read_bytes()
    path.unlink()
    if what == "fifo":
        os.mkfifo(path, 0o600)
    elif what == "link":
        (tmp_path / "elsewhere").write_bytes(content)
        path.symlink_to(tmp_path / "elsewhere")
    elif what == "folder":
        path.mkdir()
    else:
        path.write_bytes(content + bytes(1000))
        cache.size_limit = 1000
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert cache.load("key") is None
        cache.save("other", *ENTRY)
    assert what == "large" or cache.load("other") == ENTRY


@pytest.mark.parametrize("content", [b"", b"short", bytes(33)])
def test_a_secret_that_is_none_is_made_anew(cache, content):
    (cache.folder / "secret").write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert cache.load("key") is None
        cache.save("key", *ENTRY)
    assert cache.load("key") == ENTRY


def test_a_cache_folder_is_absolute_or_the_default(monkeypatch, tmp_path):
    monkeypatch.delenv("TRISWEEP_CACHE", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("HOME", str(tmp_path))
    for named in ("", "here", "./here", "../here"):
        monkeypatch.setenv("XDG_CACHE_HOME", named)
        assert default_folder() == tmp_path / ".cache" / "trisweep"


NOBODY = """
import os, pwd, sys, warnings
def nobody(*_):
    raise KeyError
pwd.getpwuid = pwd.getpwnam = nobody
import casadi as ca
from trisweep.native import compile_function
x = ca.SX.sym("x")
assert compile_function(ca.Function("f", [x], [2 * x]))(3.0)[0] == 6
print("compiled")
"""


def test_without_a_home_functions_are_compiled_in_memory(tmp_path):
    names = ("HOME", "XDG_CACHE_HOME", "TRISWEEP_CACHE")
    plain = {name: value for name, value in os.environ.items() if name not in names}
    run = subprocess.run([sys.executable, "-c", NOBODY], capture_output=True, text=True, env=plain, cwd=tmp_path)
    assert (run.returncode, run.stdout) == (0, "compiled\n"), run.stderr
    assert run.stderr.count("there is no home folder") == 1 and not os.listdir(tmp_path)


def test_where_no_folder_can_be_functions_are_compiled_in_memory(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    x = ca.SX.sym("x")
    for number, folder in enumerate(
        ("x" * 5000, str(tmp_path / "file"), str(tmp_path / "file" / "below"), "/dev/null")
    ):
        monkeypatch.setenv("TRISWEEP_CACHE", folder)
        with warnings.catch_warnings(record=True):
            assert compile_function(ca.Function("f", [x], [(2 + number) * x]))(3.0)[0] == 6 + 3 * number
