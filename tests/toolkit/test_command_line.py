"""The command `trisweep`, as a user runs it."""

import subprocess
import sys

from trisweep.command_line import main
from trisweep.ocp import Settings
from trisweep.problems import names
from trisweep.problems.ready import Task


def run(*arguments):
    return subprocess.run([sys.executable, "-m", "trisweep", *arguments], capture_output=True, text=True)


def test_demo_solves_draws_and_moves(tmp_path):
    result = run("demo", "--output", str(tmp_path / "new"))
    assert result.returncode == 0, result.stderr
    assert "solved: " in result.stdout and "violat." in result.stdout
    assert (tmp_path / "new" / "demo.png").read_bytes().startswith(b"\x89PNG")
    assert "Plotly.newPlot" in (tmp_path / "new" / "demo.html").read_text()


def test_no_command_is_answered_with_the_usage():
    result = run()
    assert result.returncode == 2 and "usage: trisweep" in result.stderr


def test_list_names_every_ready_problem_with_a_line(capsys):
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(names())
    assert all(len(line.split()) > 3 for line in lines)


def test_a_reader_that_has_enough_is_no_error():
    with subprocess.Popen(
        [sys.executable, "-m", "trisweep", "list"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 0


def test_solve_says_how_it_went_and_draws(capsys, tmp_path):
    picture = tmp_path / "deep" / "pendulum.png"
    assert main(["solve", "pendulum_swing_up", "--plot", str(picture)]) == 0
    said = capsys.readouterr().out
    assert said.startswith("solved: ") and "violat." not in said
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_an_unknown_problem_is_answered_with_those_there_are(capsys):
    assert main(["solve", "rocket_to_mars"]) == 2
    said = capsys.readouterr().err
    assert "no ready problem 'rocket_to_mars'" in said and all(name in said for name in names())


def test_what_is_not_solved_ends_with_1(capsys, monkeypatch):
    solve = Task.solve
    monkeypatch.setattr(Task, "solve", lambda self: solve(self, Settings(iterations=2)))
    assert main(["solve", "pendulum_swing_up", "--log"]) == 1
    said = capsys.readouterr().out
    assert "violat." in said and "iteration limit: 2 iterations" in said and "allow more iterations" in said
