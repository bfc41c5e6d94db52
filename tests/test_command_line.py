"""The command `trisweep`, as a user runs it."""

import subprocess
import sys

import numpy as np
from trisweep.problems.slalom import FINISH, GATES, slalom


def run(*arguments):
    return subprocess.run([sys.executable, "-m", "trisweep", *arguments], capture_output=True, text=True)


def test_demo_solves_and_draws(tmp_path):
    result = run("demo", "--output", str(tmp_path / "new"))
    assert result.returncode == 0, result.stderr
    assert "solved: objective" in result.stdout
    assert (tmp_path / "new" / "demo.png").read_bytes().startswith(b"\x89PNG")


def test_no_command_is_answered_with_the_usage():
    result = run()
    assert result.returncode == 2 and "usage: trisweep" in result.stderr


def test_the_puck_goes_through_every_gate_and_stops():
    x = np.array(slalom().solve().x)
    for step, position in GATES.items():
        np.testing.assert_allclose(x[step, :2], position, atol=1e-10)
    np.testing.assert_allclose(x[-1], [*FINISH, 0, 0], atol=1e-10)
