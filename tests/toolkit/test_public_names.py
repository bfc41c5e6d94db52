"""Names that a room fetches late: the checker, the list of names and what is fetched agree."""

import ast
from pathlib import Path

import pytest
import trisweep
import trisweep.adjoint
import trisweep.dynamics
import trisweep.ocp

ROOMS = [trisweep, trisweep.adjoint, trisweep.dynamics, trisweep.ocp]


def names_for_the_checker(room) -> dict[str, tuple[str, ...]]:
    """Every module of the `TYPE_CHECKING` branch and the names that it imports from there."""
    branch = next(node for node in ast.parse(Path(room.__file__).read_text()).body if isinstance(node, ast.If))
    imports = [node for node in branch.body if isinstance(node, ast.ImportFrom)]
    return {"." * node.level + str(node.module): tuple(name.name for name in node.names) for node in imports}


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.__name__)
def test_the_checker_sees_the_names_that_are_fetched(room):
    assert names_for_the_checker(room) == room._HOMES
    late = {name for names in room._HOMES.values() for name in names}
    assert late <= set(room.__all__)
    folder = Path(room.__file__).parent
    assert not late & {path.stem for path in folder.iterdir()}  # a module of that name would stand in its way
    assert set(room.__all__) - late <= set(vars(room))


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.__name__)
def test_every_public_name_is_there_and_no_other(room):
    for name in room.__all__:
        assert getattr(room, name) is not None
    with pytest.raises(AttributeError, match=f"module '{room.__name__}' has no attribute 'nonsense'"):
        room.nonsense  # noqa: B018
