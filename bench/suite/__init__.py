"""Optimal-control problems of published collections: a folder a family, a file a problem, no list of them anywhere.

    from suite import cases, case
    problem, guess, parameters = case("brachistochrone").build()

A file defines `CASE`, a `Case`; its name and its family are those of the file and of the folder.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from .case import Case

FOLDER = Path(__file__).parent


def places() -> dict[str, str]:
    """Family of every problem, by the problem's name; nothing is imported for it."""
    files = sorted(FOLDER.glob("*/[a-z]*.py"))
    found = {file.stem: file.parent.name for file in files}
    if len(found) != len(files):
        twice = sorted({file.stem for file in files if found[file.stem] != file.parent.name})
        raise NameError(f"suite: two problems are called {twice[0]!r}, expected a name for each")
    return found


def case(name: str) -> Case:
    """The problem of that name."""
    families = places()
    if name not in families:
        raise KeyError(f"suite: there is no problem {name!r}, expected one of {', '.join(families)}")
    module = import_module(f".{families[name]}.{name}", __name__)
    return replace(module.CASE, name=name, family=families[name])


def cases(family: str | None = None) -> Iterator[Case]:
    """All problems, or those of a family."""
    return (case(name) for name, of in places().items() if family in (None, of))
