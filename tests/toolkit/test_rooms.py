"""The arrows between the rooms: who may import whom (CONTRIBUTING.md, "Rooms")."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EVERYWHERE = {"numpy", "scipy", "cached", "errors", "floats", "forks", "late", "whole_file", *sys.stdlib_module_names}
MAY_IMPORT = {
    "native": {"casadi", "llvmlite", "rich"},
    "riccati": {"native"},
    "adjoint": {"casadi"},
    "drawing": {"matplotlib", "plotly"},
    "dynamics": {"casadi", "mujoco", "rich", "trimesh", "yaml", "riccati", "adjoint", "native", "drawing"},
    "ocp": {"casadi", "rich", "riccati", "adjoint", "native", "dynamics", "drawing"},
    "problems": {"casadi", "coal", "pinocchio", "yaml", "riccati", "adjoint", "native", "dynamics", "ocp"},
    "toolkit": {"rich", "riccati", "adjoint", "native", "dynamics", "drawing", "ocp", "problems"},
}
# Allowed under `if TYPE_CHECKING:` only: the names of data that is handed over, of figures that come back.
AS_DATA = {
    "drawing": {"dynamics", "ocp"},
    "dynamics": {"matplotlib"},
    "ocp": {"matplotlib"},
    "problems": {"matplotlib"},
    "toolkit": {"casadi"},
}
FOLDER = {"toolkit": "toolkit/trisweep"}


def imported(path, room, root=ROOT):
    """The rooms and packages that a file imports, as (line, name); its own room is left out, and what it may import as
    data where it does no more than that.
    """
    depth = len(path.relative_to(root / FOLDER.get(room, room)).parts)
    up_to_rooms = depth if room == "toolkit" else depth + 1
    tree = ast.parse(path.read_text())
    for_types = {id(node) for block in ast.walk(tree) if _for_types(block) for node in ast.walk(block)}
    for node in ast.walk(tree):
        for name in _names(node, up_to_rooms):
            own = name == room or (room == "toolkit" and getattr(node, "level", 0) and name not in MAY_IMPORT)
            if not own and not (id(node) in for_types and name in AS_DATA.get(room, ())):
                yield node.lineno, name


def _for_types(node):
    """True for a block `if TYPE_CHECKING:`."""
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _names(node, up_to_rooms):
    """The rooms and packages that a statement imports."""
    if isinstance(node, ast.Import):
        return {alias.name.split(".")[0] for alias in node.names}
    if isinstance(node, ast.ImportFrom) and node.level == 0:
        return {node.module.split(".")[0]}
    if isinstance(node, ast.ImportFrom) and node.level == up_to_rooms:
        return {node.module.split(".")[0]} if node.module else {alias.name for alias in node.names}
    return set()


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_a_room_imports_only_what_lies_below_it(room):
    allowed = MAY_IMPORT[room] | EVERYWHERE
    files = sorted((ROOT / FOLDER.get(room, room)).rglob("*.py"))
    assert files
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in files
        for line, name in imported(path, room)
        if name not in allowed
    ]
    assert not wrong, "\n".join(wrong)


def test_what_is_cached_is_cached_without_a_lock():
    """By `trisweep.cached`, whose header says why."""
    files = [path for room in MAY_IMPORT for path in (ROOT / FOLDER.get(room, room)).rglob("*.py")]
    wrong = [
        path.relative_to(ROOT)
        for path in files
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module == "functools" and path.name != "cached.py"
        if "cached_property" in [alias.name for alias in node.names]
    ]
    assert not wrong, "expected cached_property of trisweep.cached in " + ", ".join(map(str, wrong))


def test_other_peoples_robots_are_known_to_the_twins_alone():
    files = (ROOT / "problems").rglob("*.py")
    knowing = {path.parent.name for path in files for _, name in imported(path, "problems") if name == "pinocchio"}
    assert knowing == {"twins"}


def test_the_check_sees_a_wrong_arrow(tmp_path):
    (tmp_path / "riccati").mkdir()
    file = tmp_path / "riccati" / "bad.py"
    file.write_text("from ..ocp import Problem\nfrom .. import dynamics\nfrom .problem import Stage\nimport casadi\n")
    assert {name for _, name in imported(file, "riccati", tmp_path)} == {"ocp", "dynamics", "casadi"}


def test_what_is_handed_over_may_be_named_in_types_alone(tmp_path):
    (tmp_path / "drawing").mkdir()
    file = tmp_path / "drawing" / "page.py"
    file.write_text("from ..errors import ModelError\nif TYPE_CHECKING:\n    from ..dynamics import Model\n")
    assert [name for _, name in imported(file, "drawing", tmp_path)] == ["errors"]
    file.write_text("def page():\n    from ..dynamics import Model\n")
    assert [name for _, name in imported(file, "drawing", tmp_path)] == ["dynamics"]


def test_nothing_heavy_is_imported_before_it_is_needed():
    """`import trisweep` and the Riccati room leave casadi, llvmlite and the plotting packages alone."""
    heavy = ("casadi", "llvmlite", "matplotlib", "scipy", "rich")
    code = f"import sys, trisweep, trisweep.riccati; print([m for m in {heavy} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_a_problem_without_robots_needs_no_dynamics():
    code = (
        "import sys, trisweep.ocp; print([m for m in ('trisweep.dynamics', 'trisweep.ocp.many') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_a_first_solution_needs_neither_pictures_nor_tables():
    """Plots, pages, tables, shapes, simulation and other readers are imported by who asks for them."""
    late = ("matplotlib", "plotly", "rich", "scipy", "mujoco")
    late += ("trisweep.riccati", "trisweep.dynamics.shapes", "trisweep.dynamics.simulation")
    code = (
        "import sys, trisweep as ts; ocp = ts.Problem(steps=5, step=0.1); arm = ts.robot('iiwa14'); "
        "x, u = ocp.state('x'), ocp.control('u'); ocp.derivative(x=u); ocp.minimize(u**2); "
        "ocp.constrain('end', x, equals=1, at='end'); assert ocp.build().solve().solved; "
        f"print([m for m in {late} if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
