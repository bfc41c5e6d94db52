"""The choice of instruction set, made once at import.

The core is built for each level of `level_table` from the same sources (`_core_baseline`, `_core_avx2`, ...); importing
one of them is the whole dispatch. The environment variable `TRISWEEP_LEVEL` names another level than the best.
"""

import importlib
import importlib.util
import os
from types import ModuleType
from typing import TYPE_CHECKING


def load_core(name: str) -> ModuleType:
    """The extension module of one level, which must be among `levels`."""
    return importlib.import_module(f"._core_{name}", __package__)


def _choose(available: list[str], wanted: str | None) -> str:
    if not wanted:
        return available[-1]
    if wanted not in available:
        raise ImportError(
            f"TRISWEEP_LEVEL is {wanted!r}, but this processor runs {', '.join(available)}; "
            "unset the variable to use the best of them"
        )
    return wanted


def _is_built(name: str) -> bool:
    return importlib.util.find_spec(f"._core_{name}", __package__) is not None


levels: tuple[str, ...] = tuple(filter(_is_built, load_core("baseline").processor_levels()))
level: str = _choose(list(levels), os.environ.get("TRISWEEP_LEVEL"))
if TYPE_CHECKING:
    from . import _core as core  # the types of every level's module: native/_core.pyi
else:
    core = load_core(level)
