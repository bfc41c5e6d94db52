"""Many solves, first values and limits of parameters made of junk; files of many solutions that are damaged."""

import shutil
from concurrent.futures import Executor, Future

import numpy as np
import pytest
import trisweep as ts
from support.junk import damaged, fuzz, picker

pytestmark = pytest.mark.usefixtures("quiet")
pick = picker()


def started():
    """A cart from where it is to rest at a goal, pushed no harder than a parameter says."""
    ocp = ts.Problem(steps=8, step=0.25)
    x, u, goal, push = ocp.state("x", 2), ocp.control("u"), ocp.parameter("goal"), ocp.parameter("push")
    ocp.derivative(x=ts.vertcat(x[1], u))
    ocp.minimize(u**2)
    ocp.start("x")
    ocp.constrain("push", u, lower=-push, upper=push)
    ocp.constrain("end", x, equals=ts.vertcat(goal, 0), at="end")
    return ocp


@pytest.fixture(scope="module")
def solver():
    return started().build()


GOOD = {"goal": 1.0, "push": 5.0}


def confirmed(solution, start, push):
    """True for a motion that is feasible by arithmetic of our own."""
    x, u = solution.x, solution.u
    np.testing.assert_allclose(x[0], start, atol=1e-9)
    np.testing.assert_allclose(x[-1, 1], 0, atol=1e-5)
    assert (abs(u) <= push + 1e-5 * max(1, abs(push))).all()
    np.testing.assert_allclose(x[1:, 1], x[:-1, 1] + 0.25 * u[:, 0], atol=1e-5 * max(1.0, abs(x).max()))
    assert solution.check().worst <= 1e-5


def test_first_values_and_limits_of_parameters(solver):
    expected = solver.solve(start={"x": [0.0, 0.0]}, **GOOD)
    assert expected.solved

    def attempt(rng):
        first = pick(rng, {"x": pick(rng, [0.0, 0.0], [1.0, -1.0])}, None, share=0.15)
        given = {"goal": pick(rng, 1.0, -2.0, share=0.3), "push": pick(rng, 5.0, 0.0, -1.0, 1e-9, share=0.3)}
        warm = pick(rng, None, expected, share=0.1)
        solution = solver.solve(start=first, warm_start=warm, guess=pick(rng, None, expected, share=0.1), **given)
        if solution.solved:
            confirmed(
                solution,
                np.broadcast_to(np.asarray(first["x"], float).ravel(), 2),
                np.asarray(given["push"], float).item(),
            )

    fuzz(800, 30, attempt)
    np.testing.assert_array_equal(solver.solve(start={"x": [0.0, 0.0]}, **GOOD).x, expected.x)


def test_statements_of_first_values():
    def attempt(rng):
        ocp = ts.Problem(steps=3, step=0.1)
        x, u = ocp.state("x", 2), ocp.control("u")
        p = ocp.parameter("p", pick(rng, 1, 2, share=0.1))
        ocp.derivative(x=ts.vertcat(x[1], u))
        ocp.minimize(u**2)
        ocp.start(*(pick(rng, "x", share=0.5) for _ in range(int(rng.integers(0, 3)))))
        ocp.constrain(
            "row", pick(rng, x, x[0], share=0.2), lower=pick(rng, p, -p, x[0]), upper=pick(rng, 2 * p, None),
            at=pick(rng, "all", [1, 2], [], [99], share=0.3),
        )  # fmt: skip

    fuzz(800, 31, attempt)


def test_many(solver):
    starts = {"x": np.zeros((3, 2))}
    goals = np.array([[1.0], [0.5], [-1.0]])
    expected = solver.solve_many(start=starts, goal=goals, push=5.0, threads=2, progress=False)
    assert list(expected.statuses) == ["solved"] * 3

    def attempt(rng):
        given = {
            "goal": pick(rng, goals, 1.0, goals[:2], share=0.3),
            "push": pick(rng, 5.0, np.full((3, 1), 5.0), share=0.3),
        }
        if rng.random() < 0.1:
            given[str(pick(rng, "q", share=0))] = pick(rng)
        first = pick(rng, starts, {"x": pick(rng, [0.0, 0.0])}, share=0.2)
        more = {
            "guess": pick(rng, None, {"x": pick(rng)}, list(expected), share=0.1),
            "warm_start": pick(rng, None, list(expected), share=0.1),
            "settings": pick(rng, None, ts.Settings(iterations=20), share=0.1),
            "threads": pick(rng, None, 1, 2, share=0.1),
        }
        solutions = solver.solve_many(start=first, progress=False, **more, **given)
        for i in range(len(solutions)):
            if solutions.solved[i]:
                assert solutions[i].check().worst <= 1e-5
        str(solutions)

    fuzz(250, 32, attempt)
    again = solver.solve_many(start=starts, goal=goals, push=5.0, threads=2, progress=False)
    np.testing.assert_array_equal(again.x, expected.x)


class Workers(Executor):
    """Whose work comes back as junk, or not at all, or as it should."""

    def __init__(self, rng):
        self.rng = rng

    def submit(self, work, /, *given, **more):
        future = Future()
        match int(self.rng.integers(4)):
            case 0:
                future.set_exception(pick(self.rng, RuntimeError("lost"), share=0.0))
            case 1:
                future.cancel()
                future.set_running_or_notify_cancel()
            case _:
                future.set_result(work(*given, **more))
        return future


def test_many_elsewhere(solver, tmp_path, monkeypatch):
    """Executors, folders and ways to wait that are none; workers that fail now and then."""
    monkeypatch.chdir(tmp_path)  # where junk may be the name of a folder
    starts, goals = {"x": np.zeros((3, 2))}, np.array([[1.0], [0.5], [-1.0]])
    expected = solver.solve_many(start=starts, goal=goals, push=5.0, progress=False)

    def attempt(rng):
        executor = pick(rng, None, Workers(rng))
        more = {
            "executor": Workers(rng) if callable(executor) else executor,  # what a user's function raises is his
            "resume": pick(rng, None, f"sweep {rng.integers(3)}"),
            "threads": pick(rng, None, 1, share=0.2),
        }
        found = ts.solve_many(solver, start=starts, goal=goals, push=5.0, progress=False, **more)
        for i, status in enumerate(found.statuses):
            if status == "solved":
                np.testing.assert_array_equal(found.x[i], expected.x[i])

    fuzz(150, 34, attempt)


def test_folders_that_others_have_been_at(solver, tmp_path):
    """Files damaged, renamed, taken away or put in: refused with a sentence, or solved again to the same bits."""
    given = {"start": {"x": np.zeros((3, 2))}, "goal": [[1.0], [0.5], [-1.0]], "push": 5.0, "progress": False}
    whole = tmp_path / "whole"
    expected = ts.solve_many(solver, resume=whole, **given)
    names = [
        "0x-1.npz",
        "0-1-2.npz",
        "-.npz",
        "1-0.npz",
        "000000000-999999999.npz",
        "²-3.npz",
        f"{'1' * 200}-2.npz",
        "a",
    ]

    def attempt(rng):
        folder = tmp_path / "tried"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(whole, folder)
        files = sorted(folder.iterdir())
        for _ in range(int(rng.integers(1, 3))):
            file = files[int(rng.integers(len(files)))]
            match int(rng.integers(4)):
                case 0 if file.exists():
                    file.write_bytes(damaged(file.read_bytes(), rng))
                case 1:
                    file.unlink(missing_ok=True)
                case 2 if file.exists():
                    file.rename(folder / names[int(rng.integers(len(names)))])
                case _:
                    (folder / names[int(rng.integers(len(names)))]).write_bytes(b"[" * 100_000)
        np.testing.assert_array_equal(ts.solve_many(solver, resume=folder, **given).x, expected.x)

    fuzz(200, 35, attempt)
    (whole / "batch.json").write_bytes(b"[" * 100_000)
    with pytest.raises(ts.ProblemError, match="which is no folder of a batch"):
        ts.solve_many(solver, resume=whole, **given)


def test_damaged_files_of_many_solutions(solver, tmp_path):
    solutions = solver.solve_many(start={"x": np.zeros((3, 2))}, goal=[[1.0], [0.5], [-1.0]], push=5.0, progress=False)
    path, file = solutions.save(tmp_path / "whole.npz"), tmp_path / "damaged.npz"
    content = path.read_bytes()

    def attempt(rng):
        file.write_bytes(damaged(content, rng))
        np.testing.assert_array_equal(ts.Solutions.load(file).x, solutions.x)

    fuzz(500, 33, attempt)
    for bad in ("\0", 5, None, b"x", "", "."):
        with pytest.raises(ts.ProblemError):
            ts.Solutions.load(bad)
