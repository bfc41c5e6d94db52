"""Names of a room that are fetched from their files when first asked for, so that its import stays quick.

A room states them twice: under `if TYPE_CHECKING:` for the checker, and as `_HOMES`; tests/toolkit/test_public_names.py
sees that both agree.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def fetched_late(room: str, homes: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """The `__getattr__` of a room: modules, relative to it, and the names that live in each.

    __getattr__ = fetched_late(__name__, {".shapes.scene": ("Scene",)})
    """
    home_of = {name: home for home, names in homes.items() for name in names}

    def fetch(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module '{room}' has no attribute '{name}'")
        return getattr(import_module(home_of[name], room), name)

    return fetch
