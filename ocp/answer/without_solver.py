"""Answers that travel alone."""

from __future__ import annotations

from dataclasses import Field, fields
from typing import Any, ClassVar


class WithoutSolver:
    """A dataclass that pickles and copies, as in a file, with everything but its solver."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __getstate__(self) -> dict[str, Any]:
        return {part.name: getattr(self, part.name) for part in fields(self) if part.name != "solver"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, solver=None)
