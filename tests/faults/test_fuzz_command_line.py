"""The command line and tables of parameters made of junk: a sentence and an exit code, never a traceback, and nothing
is solved that cannot be written.
"""

import numpy as np
import pytest
import trisweep as ts
from support.junk import damaged, fuzz
from trisweep import command_line
from trisweep.ocp.many.table import read_parameters
from trisweep.ocp.solve.solver import Solver

pytestmark = pytest.mark.usefixtures("quiet")
TABLE = b"goal[0],goal[1],speed\n0.1,0.2,1.0\n-0.5,1e-3,2\n 3, 4 ,5\n"


def test_damaged_tables(tmp_path):
    ocp = ts.Problem(steps=3, step=0.1)
    _, goal, speed = ocp.state("x", 2), ocp.parameter("goal", 2), ocp.parameter("speed")
    ocp.derivative(x=speed * goal)
    layout, file = ocp.build().layout, tmp_path / "table.csv"

    def attempt(rng):
        file.write_bytes(damaged(TABLE, rng))
        found = read_parameters(file, layout)
        lengths = {len(value) for value in found.values()}
        assert len(lengths) == 1 and all(np.isfinite(value).all() for value in found.values())

    fuzz(800, 70, attempt)
    file.write_bytes(TABLE)
    np.testing.assert_array_equal(read_parameters(file, layout)["goal"], [[0.1, 0.2], [-0.5, 1e-3], [3, 4]])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["solve", "nothing"], "there is no ready problem 'nothing', expected one of iiwa_reach"),
        (["solve", "pendulum_swing_up", "--plot", "picture"], "'picture' ends with '', expected one of"),
        (["solve", "pendulum_swing_up", "--plot", "picture.xyz"], "ends with '.xyz', expected one of"),
        (["solve", "iiwa_reach", "--many", "nowhere.csv"], "'nowhere.csv' cannot be read as a table"),
        (["solve", "iiwa_reach", "--many", "table.csv", "--out", "no/where.npz"], "--out is 'no/where.npz', expected"),
        (["solve", "iiwa_reach", "--many", "table.csv", "--out", "."], "--out is '.', expected a file"),
        (["solve", "iiwa_reach", "--many", "table.csv", "--resume", "table.csv"], "table.csv"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is_solved(words, sentence, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table.csv").write_text(",".join(f"goal[{i}]" for i in range(7)) + "\n" + ",".join("1" * 7) + "\n")
    monkeypatch.setattr(Solver, "solve", lambda *_, **__: pytest.fail("it was solved"))
    assert command_line.main(words) == 2
    said = capsys.readouterr()
    assert said.err.startswith("trisweep: ") and sentence in said.err and not said.out
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]


def test_a_full_disk_is_a_sentence(capsys, tmp_path, monkeypatch):
    import os

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert command_line.main(["solve", "pendulum_swing_up", "--plot", str(tmp_path / "picture.png")]) == 2
    assert "No space left on device" in capsys.readouterr().err and not list(tmp_path.iterdir())
