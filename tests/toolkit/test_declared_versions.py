"""What pyproject.toml declares: all that the package imports, from a lowest version on that is below what is tested."""

import ast
import re
import sys
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("toolkit/trisweep", "native", "riccati", "adjoint", "dynamics", "drawing", "ocp", "problems")
TEXT = (ROOT / "pyproject.toml").read_text()


def declared(field):
    """Names and lowest versions of a list in pyproject.toml."""
    (listed,) = re.findall(rf"^{field} = \[(.*?)\]$", TEXT, re.DOTALL | re.MULTILINE)
    rows = re.findall(r'"([A-Za-z0-9-]+)([^";]*)[^"]*"', listed)
    return {name.lower(): version for name, version in rows}


# Modules that lie where their distributions do not say.
ELSEWHERE = {"pinocchio": ["pin"], "example_robot_data": ["example-robot-data"]}
EXTRAS = ("mjcf", "view", "mesh", "scene", "dask", "mpi", "test", "bench")


def imported():
    """Distributions of the modules that the package's rooms import, late imports included."""
    homes, found = {**metadata.packages_distributions(), **ELSEWHERE}, {}
    for room in ROOMS:
        for file in (ROOT / room).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text())):
                names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
                if isinstance(node, ast.ImportFrom) and not node.level:
                    names = [node.module]
                for name in names:
                    module = name.split(".")[0]
                    if module not in sys.stdlib_module_names and module != "trisweep":
                        found.setdefault(module, (homes.get(module, [module]), file))
    return found


def test_all_that_is_imported_is_declared():
    known = set(declared("dependencies")).union(*(declared(extra) for extra in EXTRAS))
    for module, (homes, file) in imported().items():
        assert known & {home.lower() for home in homes}, f"{module} of {file.name} is in none of {sorted(known)}"


@pytest.mark.parametrize("field", ["dependencies", *EXTRAS])
def test_every_declaration_has_a_lowest_version_that_is_there(field):
    for name, stated in declared(field).items():
        assert re.fullmatch(r"(>=|~=)[0-9.]+", stated.strip()), f"{name} is '{stated}', expected a lowest version"
        try:
            here = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
        lowest, tested = (
            [int(part) for part in re.findall(r"\d+", version)][:3] for version in (stated, here.split("+")[0])
        )
        assert lowest <= tested, f"{name} {stated} is declared, but {here} is tested"
