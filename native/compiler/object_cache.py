"""Object code on disk, so that a function is compiled once on a machine.

What is read here is run, so it must be the user's own: the folder and every file in it belong to the user and can be
written by nobody else, and an entry carries a MAC of its key and content under a secret that lies beside it. Anything
else is a miss. An entry is one file named by the hash of all that its code depends on. It is written under another name
and then renamed, so a reader never sees half of one, whoever is killed when. `TRISWEEP_CACHE` names another folder, or
is `off`. Without a folder that can be used, functions are compiled in memory, and that is said once.
"""

import contextlib
import hashlib
import hmac
import json
import os
import secrets
import stat
import sys
import tempfile
import time
import warnings
from pathlib import Path

SIZE_LIMIT = 512 * 1024**2
_ABANDONED_AFTER = 3600.0  # seconds, for files whose writer was killed
_ENTRY, _UNFINISHED, _SECRET = ".code", ".part", "secret"
_MAC = hashlib.sha256().digest_size
_OWNED = os.name == "posix"  # elsewhere a user's folders are the user's own
_said: set[str] = set()


def default_folder() -> Path | None:
    """Where entries live, or None where the user wants no cache or has no folder for one."""
    wanted = os.environ.get("TRISWEEP_CACHE", "")
    if wanted.lower() == "off":
        return None
    try:
        if wanted:
            return Path(wanted).expanduser()
        return _users_caches() / "trisweep"
    except RuntimeError:
        _say("there is no home folder to keep compiled functions in; TRISWEEP_CACHE may name one")
        return None


def _users_caches() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return named if named.is_absolute() else Path.home() / ".cache"


class ObjectCache:
    """Entries in one folder, of `size_limit` bytes together; the least recently used go first."""

    def __init__(self, folder: Path | None, size_limit: int = SIZE_LIMIT) -> None:
        self.folder = folder
        self.size_limit = size_limit

    def load(self, key: str) -> tuple[int, list[bytes]] | None:
        """Work size and object code of an entry; None if there is none, or none that is whole and the user's own."""
        if self.folder is None:
            return None
        path = self.folder / (key + _ENTRY)
        try:
            if not self.folder.is_dir() or not _trusted(self.folder):
                return None
            entry = self._unpack(key, _read(path, self.size_limit))
        except FileNotFoundError:
            return None
        except OSError as error:
            _say(f"a compiled function is not used: {error}")
            return None
        with contextlib.suppress(OSError):
            if entry is None:
                path.unlink()
            else:
                os.utime(path)
        return entry

    def save(self, key: str, work_size: int, objects: list[bytes]) -> None:
        """Write an entry; a folder that cannot be written leaves the cache as it was."""
        if self.folder is None:
            return
        try:
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            self.folder.mkdir(mode=0o700, exist_ok=True)
            if not _trusted(self.folder):
                return
            self._write(self.folder / (key + _ENTRY), self._pack(key, work_size, objects))
            self._evict(self.folder)
        except OSError as error:
            _say(f"compiled functions cannot be kept in '{self.folder}': {error.strerror or error}")

    def _write(self, path: Path, content: bytes) -> None:
        descriptor, unfinished = tempfile.mkstemp(suffix=_UNFINISHED, dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
            os.replace(unfinished, path)
        except BaseException:
            os.unlink(unfinished)
            raise

    def _evict(self, folder: Path) -> None:
        entries = []
        for path in folder.iterdir():
            with contextlib.suppress(OSError):
                status = path.lstat()
                if path.suffix == _ENTRY:
                    entries.append((status.st_mtime, status.st_size, path))
                elif path.suffix == _UNFINISHED and time.time() - status.st_mtime > _ABANDONED_AFTER:
                    path.unlink()
        total = sum(size for _, size, _ in entries)
        for _, size, path in sorted(entries):
            if total <= self.size_limit:
                break
            with contextlib.suppress(OSError):
                path.unlink()
                total -= size

    def _pack(self, key: str, work_size: int, objects: list[bytes]) -> bytes:
        header = json.dumps({"work": work_size, "objects": [len(code) for code in objects]}).encode()
        body = len(header).to_bytes(8, "little") + header + b"".join(objects)
        return self._mac(key, body) + body

    def _unpack(self, key: str, content: bytes) -> tuple[int, list[bytes]] | None:
        mac, body = content[:_MAC], content[_MAC:]
        if not hmac.compare_digest(self._mac(key, body), mac):
            return None
        start = 8 + int.from_bytes(body[:8], "little")
        header = json.loads(body[8:start])
        objects = []
        for length in header["objects"]:
            objects.append(body[start : start + length])
            start += length
        return header["work"], objects

    def _mac(self, key: str, body: bytes) -> bytes:
        return hmac.digest(self._secret(), hashlib.sha256(key.encode()).digest() + body, "sha256")

    def _secret(self) -> bytes:
        """The user's, made when it is first asked for, or when what lies there is not one."""
        assert self.folder is not None
        path = self.folder / _SECRET
        with contextlib.suppress(OSError):
            found = _read(path, _MAC)
            if len(found) == _MAC:
                return found
        made = self.folder / f"{secrets.token_hex(8)}{_UNFINISHED}"
        self._write(made, secrets.token_bytes(_MAC))
        try:
            if path.exists():
                os.replace(made, path)
            else:
                os.link(made, path)  # of several processes, the first one's holds
        finally:
            made.unlink(missing_ok=True)
        return _read(path, _MAC)


def _trusted(folder: Path) -> bool:
    """Whether a folder is the user's and nobody else can put something into it."""
    status = folder.stat()
    if not stat.S_ISDIR(status.st_mode):
        return False
    if _OWNED and (status.st_uid != os.geteuid() or status.st_mode & 0o022):
        _say(f"compiled functions are not kept in '{folder}': expected a folder that you own and only you can write to")
        return False
    return True


def _read(path: Path, most: int) -> bytes:
    """A regular file of the user's, of at most so many bytes; OSError for anything else."""
    if not _OWNED:
        return path.read_bytes()
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o022:
            raise PermissionError(f"'{path}' is not a file of this user's alone")
        if status.st_size > most:
            raise OSError(f"'{path}' has {status.st_size} bytes, expected at most {most}")
        return file.read(most)


def _say(sentence: str) -> None:
    """A warning, the first time."""
    if sentence not in _said:
        _said.add(sentence)
        warnings.warn(f"trisweep: {sentence}", RuntimeWarning, stacklevel=4)
