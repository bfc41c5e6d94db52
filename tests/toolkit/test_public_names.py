"""The public names are fetched late; the checker, the list of names and what is fetched agree."""

import ast
from pathlib import Path

import trisweep as ts

SOURCE = Path(__file__).parents[2] / "toolkit" / "trisweep" / "__init__.py"


def names_for_the_checker() -> dict[str, str]:
    """Every name that the `TYPE_CHECKING` branch imports, and the module it comes from."""
    branch = next(node for node in ast.parse(SOURCE.read_text()).body if isinstance(node, ast.If))
    imports = [node for node in branch.body if isinstance(node, ast.ImportFrom)]
    return {name.name: "." * node.level + str(node.module) for node in imports for name in node.names}


def test_the_checker_sees_the_names_that_are_fetched():
    assert names_for_the_checker() == ts._ROOM_OF
    assert set(ts.__all__) == {"__version__", *ts._ROOM_OF}


def test_every_public_name_is_there():
    for name in ts.__all__:
        assert getattr(ts, name) is not None
