"""Object code on disk, so that a function is compiled once on a machine.

An entry is one file named by the hash of all that its code depends on. It is written under another name and
then renamed, so a reader never sees half of one, whoever is killed when; its own hash stands at its head, so
what has been damaged since is taken for missing. `TRISWEEP_CACHE` names another folder, or is `off`.
"""

import contextlib
import hashlib
import json
import os
import sys
import tempfile
import time
from pathlib import Path

SIZE_LIMIT = 512 * 1024**2
_ABANDONED_AFTER = 3600.0  # seconds, for files whose writer was killed
_ENTRY, _UNFINISHED = ".code", ".part"


def default_folder() -> Path | None:
    """Where entries live, or None where the user wants no cache."""
    wanted = os.environ.get("TRISWEEP_CACHE", "")
    if wanted.lower() == "off":
        return None
    if wanted:
        return Path(wanted).expanduser()
    if sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    elif sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return base / "trisweep"


class ObjectCache:
    """Entries in one folder, of `size_limit` bytes together; the least recently used go first."""

    def __init__(self, folder: Path | None, size_limit: int = SIZE_LIMIT) -> None:
        self.folder = folder
        self.size_limit = size_limit

    def load(self, key: str) -> tuple[int, list[bytes]] | None:
        """Work size and object code of an entry; None if there is none, or none that is whole."""
        if self.folder is None:
            return None
        path = self.folder / (key + _ENTRY)
        try:
            content = path.read_bytes()
        except OSError:
            return None
        entry = _unpack(content)
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
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            descriptor, unfinished = tempfile.mkstemp(suffix=_UNFINISHED, dir=self.folder)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(_pack(work_size, objects))
                os.replace(unfinished, self.folder / (key + _ENTRY))
            except BaseException:
                os.unlink(unfinished)
                raise
            self._evict(self.folder)

    def _evict(self, folder: Path) -> None:
        entries = []
        for path in folder.iterdir():
            with contextlib.suppress(OSError):
                status = path.stat()
                if path.suffix == _ENTRY:
                    entries.append((status.st_mtime, status.st_size, path))
                elif path.suffix == _UNFINISHED and time.time() - status.st_mtime > _ABANDONED_AFTER:
                    path.unlink()
        total = sum(size for _, size, _ in entries)
        for _, size, path in sorted(entries):
            if total <= self.size_limit:
                break
            path.unlink(missing_ok=True)
            total -= size


def _pack(work_size: int, objects: list[bytes]) -> bytes:
    header = json.dumps({"work": work_size, "objects": [len(code) for code in objects]}).encode()
    body = len(header).to_bytes(8, "little") + header + b"".join(objects)
    return hashlib.sha256(body).digest() + body


def _unpack(content: bytes) -> tuple[int, list[bytes]] | None:
    digest, body = content[:32], content[32:]
    if hashlib.sha256(body).digest() != digest:
        return None
    start = 8 + int.from_bytes(body[:8], "little")
    header = json.loads(body[8:start])
    objects = []
    for length in header["objects"]:
        objects.append(body[start : start + length])
        start += length
    return header["work"], objects
