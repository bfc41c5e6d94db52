"""Tables and lengths of steps made of junk: a sentence, or numbers that an oracle confirms."""

import casadi as ca
import numpy as np
import pytest
import trisweep as ts
from scipy.interpolate import make_interp_spline
from support.junk import fuzz, picker

pytestmark = pytest.mark.usefixtures("quiet")
pick = picker()

GRID = np.array([0.0, 1.0, 2.5, 3.0, 5.0])
TABLES = [
    (GRID, GRID**2 - GRID),
    ([GRID, GRID[:4]], np.outer(GRID, GRID[:4] ** 2)),
    ([GRID[1:], GRID, GRID[:4]], np.multiply.outer(np.outer(GRID[1:], GRID**2), GRID[:4])),
]


def interpolated(grid, values, kind, point):
    """SciPy's splines, one axis after another."""
    axes = grid if np.ndim(values) > 1 or (isinstance(grid, list) and len(grid) == 1) else [grid]
    found = np.asarray(values, dtype=float)
    for axis, x in zip(axes, point):
        found = make_interp_spline(np.asarray(axis, dtype=float), found, 3 if kind == "cubic" else 1)(x)
    return found


def test_tables():
    def attempt(rng):
        grid, values = TABLES[int(rng.integers(len(TABLES)))]
        dimensions = np.ndim(values)
        if rng.random() < 0.3:
            grid = pick(rng, GRID, [GRID], [GRID, pick(rng)], [pick(rng), GRID, GRID], GRID[::-1])
        if rng.random() < 0.3:
            values = pick(rng, GRID, np.full(5, 1e308))
        kind = pick(rng, "linear", "cubic", share=0.1)
        table = ts.table(grid, values, kind)
        count = dimensions if rng.random() < 0.9 else int(rng.integers(5))
        at = [pick(rng, 2.0, 2.7, ca.SX.sym("x"), np.full(3, 1.5), share=0.25) for _ in range(count)]
        found = table(*at)
        if isinstance(found, ca.SX):
            assert found.shape == (1, 1)
            return
        assert np.isfinite(found).all()
        if np.ndim(found) == 0 and all(0.0 <= float(x) <= 3.0 for x in np.ravel(at)) and np.ptp(values) > 0:
            expected = interpolated(grid, values, kind, np.ravel(at).astype(float))
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(values).max())

    fuzz(1000, 60, attempt)


def test_lists_of_steps():
    def attempt(rng):
        steps = pick(
            rng, [0.1, 0.2, 0.3], np.array([0.1, 0.2, 0.3]), (0.1,) * 3, "h", [pick(rng), 0.1, pick(rng, 0.1)],
            np.ones((3, 1)), np.array([None, 1, 2], dtype=object), [0.1, 0.2], [0.1, -0.2, 0.3], [0.1, 0.0, 0.3],
        )  # fmt: skip
        ocp = ts.Problem(steps=pick(rng, 3, share=0.05), step=steps, integrator=pick(rng, "rk4", share=0.05))
        x, u = ocp.state("x", 2, names=pick(rng, None, ["a", "b"], share=0.1)), ocp.control("u")
        if rng.random() < 0.1:
            ocp.parameter(pick(rng, "h", "step"))
        ocp.derivative(x=ts.vertcat(x[1], u))
        ocp.minimize(u**2 + ts.sumsqr(x))
        ocp.constrain("start", x, equals=1, at="start")
        assert f"{ocp.steps} steps" in str(ocp)
        if rng.random() < 0.02:
            given = {"h": [0.1, 0.2, 0.3]} if isinstance(steps, str) else {}
            solution = ocp.build().solve(**given)
            assert not solution.solved or (np.diff(solution.times) >= 0).all()

    fuzz(800, 61, attempt)


@pytest.fixture(scope="module")
def stated():
    """Steps whose lengths come with a solve; the last state is where the control's push brings it."""
    ocp = ts.Problem(steps=3, step="h")
    x, u = ocp.state("x"), ocp.control("u")
    ocp.derivative(x=u)
    ocp.minimize(ocp.time_step * u**2)
    ocp.start("x")
    ocp.constrain("end", x, equals=1.0, at="end")
    return ocp.build()


LENGTHS = (0.1, [0.1, 0.2, 0.3], np.array([[0.1], [0.2], [0.3]]), [0.1, 0.2, 0.3, 0.4], 0, -1, [0.1, -0.1, 0.1], 1e-9)


def confirmed(x, u, lengths):
    """The least effort from 0 to 1 is an even push."""
    np.testing.assert_allclose(u, 1 / sum(lengths), rtol=1e-5)
    np.testing.assert_allclose(np.diff(x), np.asarray(lengths) * u, rtol=1e-5, atol=1e-7)


def test_lengths_that_come_with_a_solve(stated):
    expected = stated.solve(start={"x": 0.0}, h=0.1)
    controller = stated.controller(shift=False)

    def attempt(rng):
        h = pick(rng, *LENGTHS, [0.1, pick(rng), 0.2], share=0.3)
        if rng.random() < 0.15:
            command = controller.step({"x": 0.0}, h=h)
            assert np.isfinite(command.u).all()
            return
        solution = stated.solve(start={"x": 0.0}, h=h)
        if solution.solved:
            lengths = np.broadcast_to(np.ravel(np.asarray(h, dtype=float)[:3]) if np.ndim(h) else float(h), 3)
            if min(lengths) > 1e-6:
                np.testing.assert_allclose(solution.objective, 1 / sum(lengths), rtol=1e-6)
            if min(lengths) > 1e-6 * max(1, *lengths):  # a step of no length beside the others has no price
                confirmed(solution.x[:, 0], solution.u[:, 0], lengths)
            assert (np.diff(solution.times) >= 0).all()
            solution.shifted(pick(rng, 1, 2, share=0.2))

    fuzz(800, 62, attempt)
    np.testing.assert_array_equal(stated.solve(start={"x": 0.0}, h=0.1).x, expected.x)
    controller.restart()
    assert np.isfinite(controller.step({"x": 0.0}, h=0.1).u).all()


def test_lengths_of_many_problems(stated):
    def attempt(rng):
        shape = [(2, 3), (2, 3, 1), (2, 4), (2, 4, 1), (3, 3), (2, 5), (1, 3, 1)][int(rng.integers(7))]
        h = rng.uniform(0.05, 0.3, shape)
        if rng.random() < 0.4:
            h[tuple(rng.integers(shape))] = [0.0, -0.1, np.nan, np.inf, -1e-320][int(rng.integers(5))]
        solutions = stated.solve_many(start={"x": np.zeros((len(h), 1))}, h=h, progress=False)
        for i in np.flatnonzero(solutions.solved):
            lengths = h[i].ravel()[:3]
            assert (lengths > 0).all()
            confirmed(solutions.x[i, :, 0], solutions.u[i, :, 0], lengths)

    fuzz(300, 63, attempt)
    with pytest.raises(ts.ProblemError, match=r"'h' of problem 1 is -0\.2 at one of its steps, expected positive"):
        stated.solve_many(start={"x": np.zeros((2, 1))}, h=[[0.1, 0.1, 0.1], [0.1, -0.2, 0.1]], progress=False)


def test_steps_of_several_lengths_are_printed():
    assert str(ts.Problem(steps=3, step=[0.1, 0.2, 0.3])).startswith("motion: 3 steps of 0.1 to 0.3 s")
    assert str(ts.Problem(steps=3, step="h")).startswith("motion: 3 steps of 'h', given")
