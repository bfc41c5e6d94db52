"""Every example as it stands: it runs, says something, and whatever it solves is solved."""

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
from trisweep.ocp import Solver

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))
OPTIMAL_CONTROL = {
    "quickstart", "own_robot", "contact_forces", "free_final_time", "parameters_and_warm_start", "jump",
    "closed_loop", "estimator", "squat", "walk", "carry"
}  # fmt: skip
NEEDS = {"sweep_dask": ["distributed"]}
LOOPS = {"mpc"}  # a controller, of which one cycle is a solve
PLANNING = {"plan", "via_points"}  # tries several ways, of which some may fail


@pytest.fixture
def solutions(monkeypatch):
    """All that is solved while a test runs."""
    found, solve = [], Solver.solve

    def recorded(self, *arguments, **named):
        found.append(solve(self, *arguments, **named))
        return found[-1]

    monkeypatch.setattr(Solver, "solve", recorded)
    return found


def test_the_examples_are_there():
    assert {path.stem for path in EXAMPLES} >= OPTIMAL_CONTROL | LOOPS


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_solves(path, tmp_path, monkeypatch, capsys, solutions):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(path)])
    for package in NEEDS.get(path.stem, ()):
        pytest.importorskip(package, reason=f"{package} is not here")
    runpy.run_path(str(path), run_name="__main__")
    said = capsys.readouterr().out.splitlines()
    assert 1 <= len(said) <= 25 and max(map(len, said)) <= 160
    assert bool(solutions) == (path.stem in OPTIMAL_CONTROL | PLANNING)
    if path.stem in LOOPS:
        assert said[0] == "finished after 2 s" and "1 solved" in said[1] and "0 late" in said[1]
        assert float(said[-1].split()[-4]) < 10.0  # mm from the target
        return
    if path.stem in PLANNING:
        assert said.count("Plan: found") == 2
        return
    assert [solution.status for solution in solutions] == ["solved"] * len(solutions)


def test_the_wiping_hand_presses_within_its_limits_and_ends_its_stroke(solutions, capsys):
    example = runpy.run_path(str(EXAMPLES[0].with_name("contact_forces.py")))
    solution, arm, hand = solutions[0], example["arm"], example["HAND"]
    forces = [
        arm.forward_dynamics(*state, constraints=[example["flat"]])[1][0]
        for state in zip(solution.q, solution.v, solution.tau)
    ]
    pressure = [-force[3] for force in forces]
    assert 15 - 1e-6 < min(pressure) < max(pressure) < 25 + 1e-6 and max(pressure) > 25 - 1e-3
    begin, end = (arm.link_pose(solution.q[k], hand) for k in (0, -1))
    assert end[1][:2] - begin[1][:2] == pytest.approx(example["STROKE"], abs=1e-7)
    assert abs(end[0] - begin[0]).max() < 1e-2 and abs(end[1][2] - begin[1][2]) < 2e-3


def test_the_estimator_finds_what_nobody_knew(solutions, capsys):
    runpy.run_path(str(EXAMPLES[0].with_name("estimator.py")))
    angles, friction = capsys.readouterr().out.splitlines()
    assert float(angles.split()[2]) < 0.03 and abs(float(friction.split()[1]) - 0.4) < 0.1
    assert np.median([solution.statistics.iterations for solution in solutions[1:]]) <= 4


def test_a_warm_start_saves_iterations(solutions, capsys):
    runpy.run_path(str(EXAMPLES[0].with_name("parameters_and_warm_start.py")))
    iterations = [solution.statistics.iterations for solution in solutions]
    assert np.median(iterations[5:]) < iterations[0] / 2 and max(iterations) == iterations[0]
