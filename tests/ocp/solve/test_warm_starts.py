"""Warm starts: near ones save iterations, far ones cost few; the answer is that of a cold start."""

import numpy as np
import pytest
import trisweep as ts
from support.rivals import OF_IPOPT


def sledge():
    """A convex quadratic program."""
    ocp = ts.Problem(steps=25, step=0.1)
    motion = ocp.state("motion", 2, lower=[-10.0, -1.0], upper=[10.0, 1.0])
    push = ocp.control("push", lower=-1.5, upper=1.5)
    ocp.next(motion=np.array([[1.0, 0.1], [0.0, 0.98]]) @ motion + np.array([0.0, 0.1]) * push)
    ocp.minimize(ts.sumsqr(motion) + 0.05 * push**2)
    ocp.start("motion")
    return ocp.build(), {"motion": np.array([3.0, 0.0])}, {"motion": np.array([2.0, 0.5])}


def top():
    """A pendulum held upright, with little torque."""
    ocp = ts.Problem(steps=30, step=0.05, integrator="rk4")
    lean, rate = ocp.state("lean"), ocp.state("rate", lower=-4.0, upper=4.0)
    torque = ocp.control("torque", lower=-6.0, upper=6.0)
    ocp.derivative(lean=rate, rate=torque + 9.81 * ts.sin(lean))
    ocp.minimize(lean**2 + 0.1 * rate**2 + 0.01 * torque**2)
    ocp.start("lean", "rate")
    return ocp.build(), {"lean": np.zeros(1), "rate": np.zeros(1)}, {"lean": np.full(1, 0.4), "rate": np.ones(1)}


@pytest.mark.parametrize("make", [sledge, top])
@pytest.mark.parametrize(("strength", "most"), [(1e-3, 4), (1e-2, 4), (1.0, 10)])
def test_a_receding_horizon(make, strength, most):
    """Kicks of this share of a large one; all of it: to a place that has nothing to do with the plan. most: iterations
    of a warm solve, at the mean.
    """
    solver, base, size = make()
    random, warm_iterations = np.random.default_rng(0), []
    start = dict(base)
    last = solver.solve(start=start)
    for _ in range(12):
        for name in base:
            centre = base[name] if strength == 1.0 else last.trajectories[name][1]
            kick = np.clip(strength * size[name] * random.standard_normal(len(size[name])), -size[name], size[name])
            start[name] = centre + kick
        warm, cold = (
            solver.solve(start=start, warm_start=last.shifted()),
            solver.solve(start=start, settings=OF_IPOPT),
        )
        assert warm.solved and cold.solved
        assert warm.objective == pytest.approx(cold.objective, rel=1e-6)
        warm_iterations.append(warm.statistics.iterations)
        last = warm
    assert np.mean(warm_iterations) <= most


def receding():
    ocp = ts.Problem(steps=30, step=0.1)
    x, u, now = ocp.state("x", 2), ocp.control("u", lower=-1, upper=1), ocp.parameter("now", 2)
    aim = ocp.parameter("aim", per_stage=True)
    ocp.derivative(x=ts.vertcat(x[1], u - 0.1 * x[1] ** 3))
    ocp.minimize((x[0] - aim) ** 2 + 0.1 * u**2)
    ocp.constrain("speed", x[1], lower=-0.8, upper=0.8)
    ocp.constrain("now", x, equals=now, at="start")
    return ocp.build()


def test_a_horizon_that_moves_on_starts_from_the_last_solution():
    solver, aim = receding(), np.sin(0.1 * np.arange(60))
    first = solver.solve(now=[2.0, 0.0], aim=aim[:31])
    start = first.shifted(3)
    np.testing.assert_array_equal(start.guess["x"][:-3], first.x[3:])
    np.testing.assert_array_equal(start.guess["x"][-3:], np.tile(first.x[-1], (3, 1)))
    np.testing.assert_array_equal(start.guess["u"][:-3], first.u[3:])
    rows = next(rows for rows in first.layout.constraints if rows.name == "speed")
    np.testing.assert_array_equal(start.point.y[rows.places][:-3], first.point.y[rows.places][3:])
    # parameters stay where they are
    np.testing.assert_array_equal(start.point.stage_parameters, first.point.stage_parameters)
    assert not hasattr(start, "status") and not hasattr(start, "solved")
    parameters = {"now": first.x[1] + 1e-3, "aim": aim[1:32]}
    warm, cold = solver.solve(warm_start=first.shifted(), **parameters), solver.solve(**parameters)
    assert warm.solved and cold.solved and warm.objective == pytest.approx(cold.objective, rel=1e-7)
    assert warm.statistics.iterations < cold.statistics.iterations
    assert solver.solve(first.shifted(), **parameters).solved
    for steps in (-1, 31, 1.5, True):
        with pytest.raises(ts.ProblemError, match=r"shifted: steps is .*, expected a whole number from 0 to 30"):
            first.shifted(steps)


def turning():
    """A hand of a clock, on the circle, from anywhere to where it points up."""
    builder = ts.ModelBuilder("clock")
    builder.add("hand", joint="continuous", axis=(0, 0, 1), mass=1.0, inertia=np.eye(3))
    clock = builder.build()
    ocp = ts.Problem(steps=20, step=0.1)
    q, rate = ocp.state("q", on=clock), ocp.state("rate", lower=-3, upper=3)
    torque = ocp.control("torque", lower=-4, upper=4)
    ocp.derivative(q=rate, rate=torque)
    ocp.minimize(ts.sumsqr(q - np.array([1.0, 0.0])) + 0.1 * rate**2 + 0.01 * torque**2)
    ocp.start("q", "rate")
    near, far = ([np.cos(angle), np.sin(angle)] for angle in (1.0, -2.0))
    return ocp.build(), {"q": near, "rate": [0.0]}, {"q": far, "rate": [-1.0]}


@pytest.mark.parametrize("make", [sledge, top, turning])
def test_a_guess_beside_a_warm_start_is_for_jumps(make):
    solver, start, elsewhere = make()
    plan = solver.solve(start=start, guess={})
    same = solver.solve(start=start, guess={}, warm_start=plan)
    alone = solver.solve(start=start, warm_start=plan)
    assert same.solved and same.statistics.iterations < plan.statistics.iterations
    np.testing.assert_array_equal(same.point.z, alone.point.z)
    jumped, cold = solver.solve(start=elsewhere, guess={}, warm_start=plan), solver.solve(start=elsewhere, guess={})
    assert cold.solved and jumped.records == cold.records
    np.testing.assert_array_equal(jumped.point.z, cold.point.z)
    np.testing.assert_array_equal(jumped.point.stage_parameters, cold.point.stage_parameters)
    assert alone.records == solver.solve(start=start, warm_start=plan).records  # nothing is left of the guess
    with pytest.raises(ts.ProblemError, match="guess is given beside warm_start, expected one of the two"):
        solver.solve_many(start={name: [value, value] for name, value in start.items()}, guess={}, warm_start=plan)
