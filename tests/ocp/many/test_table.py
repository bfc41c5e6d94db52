"""Sweeps as tables, and the command that solves them."""

import csv

import numpy as np
import pytest
import trisweep as ts
from trisweep.command_line import main
from trisweep.ocp import Problem, ProblemError, Solutions
from trisweep.ocp.many.table import read_parameters

GOALS = "goal[0],goal[1],goal[2],goal[3],goal[4],goal[5],goal[6]"


@pytest.fixture(scope="module")
def layout():
    ocp = Problem(steps=3, step=0.1)
    x, u = ocp.state("x", 2), ocp.control("u", 2)
    goal, speed, wind = ocp.parameter("goal", 2), ocp.parameter("speed"), ocp.parameter("wind", 2, per_stage=True)
    ocp.derivative(x=speed * u + wind)
    ocp.minimize(ts.sumsqr(u))
    ocp.constrain("start", x, equals=0, at="start")
    ocp.constrain("finish", x, equals=goal, at="end")
    return ocp.build().layout


def test_columns_become_parameters(layout, tmp_path):
    path = tmp_path / "given.csv"
    path.write_text("speed, goal[1] ,goal[0],wind[0],wind[1]\n1,2,3,4,5\n\n6,7,8,9,10\n")
    found = read_parameters(path, layout)
    assert list(found) == ["speed", "goal", "wind"]
    assert found["goal"].tolist() == [[3, 2], [8, 7]] and found["speed"].tolist() == [[1], [6]]
    assert found["wind"].shape == (2, 4, 2) and (found["wind"][1] == [9, 10]).all()


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "has 0 rows, expected one of names and one a problem"),
        ("speed\n", "has 1 rows"),
        ("spead\n1\n", "has a column 'spead' which is no parameter's, expected some of goal"),
        ("speed,speed\n1,2\n", "has a column 'speed' twice"),
        ("goal[0]\n1\n", r"has no column 'goal\[1\]', expected all of"),
        ("speed\n1\n2,3\n", "problem 1 has 2 entries, expected 1"),
        ("speed\n1\nfast\n", "'speed' of problem 1 is 'fast', expected a number"),
        ("speed\n1\n2\nnan\n", "'speed' of problem 2 is 'nan', expected a number"),
    ],
)
def test_wrong_tables_get_a_sentence(layout, tmp_path, text, match):
    path = tmp_path / "given.csv"
    path.write_text(text)
    with pytest.raises(ProblemError, match=match):
        read_parameters(path, layout)
    with pytest.raises(ProblemError, match="cannot be read as a table"):
        read_parameters(tmp_path / "nothing.csv", layout)
    path.write_bytes(b"\xff\xfe\x00speed")
    with pytest.raises(ProblemError, match="cannot be read as a table"):
        read_parameters(path, layout)


def test_a_sweep_without_a_script(tmp_path, capsys, monkeypatch):
    rng = np.random.default_rng(2)
    goals = rng.uniform(-0.5, 0.5, (3, 7))
    goals[1] = 9.0
    given, out, table = tmp_path / "goals.csv", tmp_path / "answers.npz", tmp_path / "answers.csv"
    given.write_text("\n".join([GOALS, *(",".join(map(repr, row.tolist())) for row in goals)]))
    assert (
        main(["solve", "iiwa_reach", "--many", str(given), "--out", str(out), "--resume", str(tmp_path / "kept")]) == 1
    )
    said = capsys.readouterr().out
    assert "2 of 3 problems solved" in said and f"answers: {out}" in said
    found = Solutions.load(out)
    np.testing.assert_allclose(found.q[[0, 2], -1], goals[[0, 2]], atol=1e-7)
    assert (
        main(["solve", "iiwa_reach", "--many", str(given), "--out", str(table), "--resume", str(tmp_path / "kept")])
        == 1
    )
    with table.open() as file:
        rows = list(csv.DictReader(file))
    assert [row["status"] for row in rows] == [str(status) for status in found.statuses]
    given.write_text("goal[0]\n1\n")
    assert main(["solve", "iiwa_reach", "--many", str(given)]) == 2
    assert "has no column 'goal[1]'" in capsys.readouterr().err
