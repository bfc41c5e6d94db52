"""Answers from workers on this very machine by way of a folder in memory: a pipe takes several times as long, and its
two ends wait for each other all the while. Workers elsewhere do not find the folder and send what they have.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import NamedTuple

import numpy as np

from ..stages.layout import Layout
from .answers import Answers, shapes_of

MEMORY = "/dev/shm"  # Linux has it


class Letterbox(NamedTuple):
    """A folder, and the process that reads there. No folder: nothing is put there."""

    path: str
    reader: int

    @classmethod
    def new(cls) -> Letterbox:
        """One of this process, while it is not removed."""
        try:
            return cls(tempfile.mkdtemp(prefix="trisweep-", dir=MEMORY), os.getpid())
        except OSError:
            return cls("", os.getpid())

    def remove(self) -> None:
        """With all that nobody took out."""
        if self.path:
            shutil.rmtree(self.path, ignore_errors=True)

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
