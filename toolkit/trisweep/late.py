"""What is fetched from its file when first asked for, so that imports stay quick: names of a room, entries of a table.

A room states its names twice, under `if TYPE_CHECKING:` for the checker and as `_HOMES`;
tests/toolkit/test_public_names.py sees that both agree.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, Generic, TypeVar

Entry = TypeVar("Entry")


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


class LateTable(Mapping[str, Entry], Generic[Entry]):
    """Entries by name: a module, relative to a room, and what it is called there; or one that is here already. Which
    names there are is known without any import.

    FORWARD = LateTable(__package__, {"pv": (".constrained.pv", "pv")})
    """

    def __init__(self, room: str, homes: Mapping[str, tuple[str, str]], here: Mapping[str, Entry] | None = None):
        self._room, self._homes, self._found = room, homes, dict(here or {})
        self._names = (*homes, *self._found)

    def __getitem__(self, name: str) -> Entry:
        if name not in self._found:
            module, entry = self._homes[name]
            self._found[name] = getattr(import_module(module, self._room), entry)
        return self._found[name]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
