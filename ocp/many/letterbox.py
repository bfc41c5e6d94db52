"""Answers from workers on this very machine by way of a folder in memory: a pipe takes several times as long, and its
two ends wait for each other all the while. Workers elsewhere do not find the folder and send what they have.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..stages.layout import Layout
from .answers import Answers, shapes_of

MEMORY = "/dev/shm"  # Linux has it
PREFIX = "trisweep-"
ABANDONED_AFTER = 60.0  # seconds


class Letterbox(NamedTuple):
    """A folder, and the process that reads there, which holds a lock on it. No folder: nothing is put there."""

    path: str
    reader: int
    lock: int = -1

    @classmethod
    def new(cls) -> Letterbox:
        """One of this process, while it is not removed. Those of readers that were killed go."""
        try:
            _clear_abandoned()
            path = tempfile.mkdtemp(prefix=PREFIX, dir=MEMORY)
            return cls(path, os.getpid(), _locked(path))
        except OSError:
            return cls("", os.getpid())

    def remove(self) -> None:
        """With all that nobody took out."""
        if self.path:
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(self.lock)

    def post(self, answers: Answers) -> str:
        """Put answers there; their file, or nothing where there is no way or no room."""
        if not self.path or os.getpid() == self.reader or not os.path.isdir(self.path):
            return ""
        name = ""
        try:
            with tempfile.NamedTemporaryFile(dir=self.path, delete=False) as file:
                name = file.name
                for part in _names():
                    file.write(np.ascontiguousarray(getattr(answers, part)).data)
        except OSError:
            if name and os.path.exists(name):
                os.unlink(name)
            return ""
        return name


def _clear_abandoned() -> None:
    """What lies in memory would stay there for good."""
    for path in Path(MEMORY).glob(PREFIX + "*"):
        with contextlib.suppress(OSError):
            status = path.lstat()
            if status.st_uid == os.getuid() and time.time() - status.st_mtime > ABANDONED_AFTER:
                lock = _locked(str(path))
                shutil.rmtree(path, ignore_errors=True)
                os.close(lock)


def _locked(path: str) -> int:
    """A lock on a folder, which goes with its process; an OSError where another has it."""
    import fcntl

    opened = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(opened)
        raise
    return opened


def take(name: str, layout: Layout, shared_parameters: np.ndarray) -> Answers:
    """What was put into a file, which is then gone."""
    count = len(shared_parameters)
    shapes, found = shapes_of(layout, count, 0), {}
    with open(name, "rb") as file:
        for part in _names():
            shape = shapes[part] if part != "records" else (-1, shapes[part][1])
            size = int(np.prod(shape)) if part != "records" else -1
            found[part] = np.fromfile(file, count=size).reshape(shape)
    os.unlink(name)
    return Answers(**found, shared_parameters=shared_parameters)


def _names() -> list[str]:
    """All but what the reader knows, the records last."""
    return [part for part in Answers.__dataclass_fields__ if part != "shared_parameters"]
