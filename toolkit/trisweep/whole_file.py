"""Paths as users give them, and files and folders that are there whole or not at all, whoever is killed when and
however full the disk is.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

from .errors import TrisweepError


def path_of(given: object, what: str, error: type[TrisweepError]) -> Path:
    """The path that a user gave; what no system takes for one is answered with the error."""
    try:
        path = Path(given)  # type: ignore[arg-type]
        if b"\0" not in os.fsencode(path):
            return path
    except (TypeError, ValueError):
        pass
    raise error(f"{what}: path is {given!r}, expected a path") from None


def is_file(path: Path) -> bool:
    """True if a file is there; a name that is too long for the system is none."""
    try:
        return path.is_file()
    except OSError:
        return False


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A new file beside `path`, with the same ending, to write to; it takes the place of `path` if all is well.

    The content is on the disk before the name changes. Whatever is raised leaves `path` as it was and nothing beside
    it; what the system raises names `path`.
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    unfinished = _beside(target)
    with _in_its_place(unfinished, target, path):
        os.close(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        yield unfinished
        with contextlib.suppress(OSError):
            unfinished.chmod(target.stat().st_mode & 0o777)


@contextlib.contextmanager
def whole_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """The same for a folder, where there is none yet, or an empty one; folders above it are made."""
    target = Path(os.path.realpath(path))
    above = [each for each in target.parents if not each.exists()]
    unfinished = _beside(target)
    try:
        with _in_its_place(unfinished, target, path):
            unfinished.mkdir(parents=True)
            yield unfinished
    except BaseException:
        for made in above:
            with contextlib.suppress(OSError):
                made.rmdir()
        raise


def _beside(target: Path) -> Path:
    return target.with_name(f".{target.stem[:40]}.{secrets.token_hex(8)}{target.suffix[:40]}")


@contextlib.contextmanager
def _in_its_place(unfinished: Path, target: Path, path: str | os.PathLike[str]) -> Iterator[None]:
    """What is written meanwhile is on the disk, then takes its place; or nothing of it is left."""
    try:
        yield
        for written in [*unfinished.rglob("*"), unfinished]:
            _sync(written)
        os.replace(unfinished, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            shutil.rmtree(unfinished) if unfinished.is_dir() else unfinished.unlink()
        if isinstance(error, OSError) and error.filename == str(unfinished):
            raise type(error)(error.errno, error.strerror, str(path)) from None
        raise
    with contextlib.suppress(OSError):
        _sync(target.parent)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
