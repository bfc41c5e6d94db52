"""Soft limits: against slacks stated as controls and solved by IPOPT, exact penalties, both judges, what carries."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
import trisweep as ts
from trisweep.errors import ProblemError
from trisweep.ocp.judge.residual import doubt

PRICES = [ts.Soft(1.0), ts.Soft(0.3), ts.Soft(quadratic=10.0), ts.Soft(0.1, 5.0), ts.Soft(50.0, 1.0)]


def linear(ocp, x, v, u):
    ocp.next(x=x + 0.1 * v, v=v + 0.1 * u)


def bent(ocp, x, v, u):
    ocp.next(x=x + 0.1 * v, v=v + 0.1 * (u - 3 * ts.sin(x) - 0.2 * v * ts.sqrt(1 + v**2)))


def race(dynamics, soft, at="steps", backend="native", cost=1.0, unit=1.0):
    """Towards x = 1, faster than allowed where that pays. soft: a price, None for hard limits; of slacks stated as
    controls where the back end has no soft limits.
    """
    ocp = ts.Problem(steps=20, step=0.1)
    x, v = ocp.state("x"), ocp.state("v")
    u = ocp.control("u", lower=-4.0, upper=4.0)
    dynamics(ocp, x, v, u)
    ocp.minimize(cost * ((x - 1) ** 2 + 0.1 * v**2 + 0.01 * u**2))
    ocp.constrain("from", ts.vertcat(x, v), equals=0, at="start")
    row = ts.vertcat(unit * v, unit * (v + x))
    if soft is None or backend == "native":
        price = soft and ts.Soft(cost / unit * soft.linear, cost / unit**2 * soft.quadratic)
        ocp.constrain("speed", row, lower=unit * np.array([-0.5, -1.0]), upper=unit * np.array([0.5, 1.1]), at=at,
                      soft=price)  # fmt: skip
        return ocp.build(backend=backend)
    over = ocp.control("over", 2, lower=0.0)
    ocp.minimize(soft.linear * (over[0] + over[1]) + soft.quadratic * ts.sumsqr(over) / 2)
    ocp.constrain("speed", row - over, upper=[0.5, 1.1], at=at)
    ocp.constrain("back", row + over, lower=[-0.5, -1.0], at=at)
    return ocp.build(backend=backend)


@pytest.mark.parametrize("dynamics", [linear, bent])
@pytest.mark.parametrize("price", PRICES, ids=str)
def test_it_is_the_problem_with_slacks(dynamics, price):
    solver = race(dynamics, price)
    found, expected = solver.solve(), race(dynamics, price, backend="ipopt").solve()
    assert found.solved
    room = 1e-8 * price.linear * 2 * 20  # IPOPT lets slacks be below zero by this
    assert found.objective == pytest.approx(expected.objective, rel=2e-6, abs=1.1 * room)
    np.testing.assert_allclose(found.x, expected.x, atol=2e-4)
    values = found.constraints["speed"]
    beyond = np.maximum(np.maximum(values.lower - values.values, values.values - values.upper), 0.0)
    np.testing.assert_array_equal(values.excess, beyond)
    cost = (price.linear + price.quadratic * beyond / 2) * beyond
    np.testing.assert_allclose(values.price, cost)
    plain = sum((x - 1) ** 2 + 0.1 * v**2 for x, v in zip(found.x[:-1, 0], found.v[:-1, 0])) + 0.01 * (found.u**2).sum()
    assert found.objective == pytest.approx(plain + cost.sum(), rel=1e-9)
    assert found.check().inequalities == 0.0
    assert ("given up" in str(found)) == (beyond.max() > 1e-7)


@pytest.mark.parametrize("dynamics", [linear, bent])
@pytest.mark.parametrize(("factor", "accuracy"), [(1.5, 1e-6), (10.0, 1e-6), (1e3, 1e-6), (1e6, 1e-5)])
def test_a_price_above_the_multiplier_is_a_hard_limit(dynamics, factor, accuracy):
    hard = race(dynamics, None, at="all").solve()
    most = np.abs(hard.multipliers["speed"]).max()
    assert most > 0.01
    soft = race(dynamics, ts.Soft(factor * most), at="all").solve()
    assert soft.solved and soft.constraints["speed"].excess.max() < 1e-7
    assert soft.objective == pytest.approx(hard.objective, rel=1e-6)
    np.testing.assert_allclose(soft.x, hard.x, atol=accuracy)


def test_what_cannot_be_kept_is_given_up_on_the_first_and_the_last_stage():
    ocp = ts.Problem(steps=5, step=0.1)
    x = ocp.state("x", lower=-0.5, upper=0.5, soft=10.0)
    u = ocp.control("u", lower=-0.1, upper=0.1, soft=ts.Soft(quadratic=100.0))
    ocp.next(x=x + 0.1 * u)
    ocp.minimize(u**2)
    ocp.constrain("from", x, equals=1.0, at="start")
    ocp.constrain("to", x, equals=2.0, at="end")
    solution = ocp.build().solve()
    assert solution.solved
    excess = solution.constraints["soft limits of x"].excess
    assert excess[0, 0] == pytest.approx(0.5, abs=1e-7) and excess[-1, 0] == pytest.approx(1.5, abs=1e-7)
    assert solution.constraints["soft limits of u"].excess.max() > 1.0
    assert "'soft limits of x' row 0 at stage 5 by 1.5" in str(solution)
    assert not solution.violations


@pytest.mark.parametrize("cost", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("unit", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("price", PRICES[1:4], ids=str)
def test_units_do_not_matter(cost, unit, price):
    expected, found = race(bent, price).solve(), race(bent, price, cost=cost, unit=unit).solve()
    assert found.solved
    assert found.objective == pytest.approx(cost * expected.objective, rel=1e-6)
    np.testing.assert_allclose(found.x, expected.x, atol=1e-4)


@pytest.mark.parametrize("price", PRICES, ids=str)
def test_both_judges_agree_and_are_not_fooled(price):
    solver, random = race(bent, price), np.random.default_rng(0)
    solution = solver.solve()
    limits, point = solution.limit_vectors, solution.point
    for k in range(20):
        moved = point
        if k:
            step = 10.0 ** random.uniform(-6, 0)
            part = ("z", "y")[k % 2]
            vector = getattr(point, part)
            moved = replace(point, **{part: vector + step * random.standard_normal(vector.shape)})
        core, plain = solver.backend.judge(moved, limits), solver.plain_conditions.measure(moved, limits)
        assert core.objective == pytest.approx(plain.objective, rel=1e-12)
        for one, other in zip(vars(core.relative).values(), vars(plain.relative).values()):
            assert one == pytest.approx(other, rel=1e-6, abs=1e-12)
        assert bool(doubt(core, 1e-8)) == bool(k)
    at = limits.soft[np.argmax(np.abs(point.y[limits.soft]))]
    cheaper = replace(point, y=np.where(np.arange(len(point.y)) == at, 1.5 * point.y, point.y))
    assert doubt(solver.backend.judge(cheaper, limits), 1e-8)


def test_limits_of_parameters_warm_starts_files_and_batches(tmp_path):
    ocp = ts.Problem(steps=20, step=0.1)
    x, v = ocp.state("x"), ocp.state("v")
    u = ocp.control("u", lower=-4.0, upper=4.0)
    most = ocp.parameter("most")
    ocp.next(x=x + 0.1 * v, v=v + 0.1 * u)
    ocp.minimize((x - 1) ** 2 + 0.01 * u**2)
    ocp.constrain("speed", v, upper=most, soft=0.5)
    ocp.start("x", "v")
    solver, start = ocp.build(), {"x": 0.0, "v": 0.0}
    answers = {m: solver.solve(start=start, most=m) for m in (0.3, 0.3003, 0.6)}
    assert all(answer.solved for answer in answers.values())
    warm = solver.solve(start=start, most=0.3003, warm_start=answers[0.3])
    assert warm.solved and warm.statistics.iterations <= 8
    assert warm.objective == pytest.approx(answers[0.3003].objective, rel=1e-6)
    many = solver.solve_many(start={"x": np.zeros((3, 1)), "v": np.zeros((3, 1))}, most=[[m] for m in answers])
    for one, other in zip(many, answers.values()):
        np.testing.assert_array_equal(one.x, other.x)
        np.testing.assert_array_equal(one.constraints["speed"].excess, other.constraints["speed"].excess)
    again = ts.Solution.load(answers[0.3].save(tmp_path / "soft.npz"))
    np.testing.assert_array_equal(again.constraints["speed"].price, answers[0.3].constraints["speed"].price)
    copy = pickle.loads(pickle.dumps(solver)).solve(start=start, most=0.3)
    np.testing.assert_array_equal(copy.x, answers[0.3].x)


def test_a_controller_gives_way_after_a_kick():
    ocp = ts.Problem(steps=20, step=0.1)
    x, v = ocp.state("x"), ocp.state("v", lower=-0.5, upper=0.5, soft=5.0)
    u = ocp.control("u", lower=-1.0, upper=1.0)
    ocp.next(x=x + 0.1 * v, v=v + 0.1 * u)
    ocp.minimize(x**2 + 0.01 * u**2)
    ocp.start("x", "v")
    controller, x, v = ocp.build().controller(iterations=3), 1.0, 0.0
    for k in range(120):
        if k == 30:
            v = 1.5  # three times what is allowed
        command = controller.step({"x": x, "v": v})
        assert abs(command.u[0]) <= 1.0 + 1e-7
        x, v = x + 0.1 * v, v + 0.1 * command.u[0]
    assert abs(x) < 0.02 and abs(v) < 0.02


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"soft": -1.0, "upper": 1.0}, "'row': soft has a linear price of -1.0, expected 0 or more, finite"),
        ({"soft": np.inf, "upper": 1.0}, "soft has a linear price of inf"),
        ({"soft": "much", "upper": 1.0}, "soft has a linear price 'much', expected a number"),
        ({"soft": [1.0, 2.0], "upper": 1.0}, r"soft has linear prices of shape \(2,\), expected a number or 1 of them"),
        ({"soft": 0.0, "upper": 1.0}, "soft has no price for a row"),
        ({"soft": 1.0, "equals": 1.0}, "'row' has equals and soft, expected a cost"),
        ({"soft": 1.0, "lower": 1.0, "upper": 1.0}, "'row' is soft, but row 0 has lower = upper"),
    ],
)
def test_what_is_refused(change, message):
    ocp = ts.Problem(steps=3, step=0.1)
    x, u = ocp.state("x"), ocp.control("u")
    ocp.next(x=x + u)
    with pytest.raises(ProblemError, match=message):
        ocp.constrain("row", x, **change)


@pytest.mark.parametrize("backend", ["ipopt", "fatrop"])
def test_back_ends_without_soft_limits_say_so(backend):
    ocp = ts.Problem(steps=3, step=0.1)
    x, u = ocp.state("x"), ocp.control("u")
    ocp.next(x=x + u)
    ocp.minimize(u**2)
    ocp.constrain("row", x, upper=1.0, soft=1.0)
    with pytest.raises(ProblemError, match="has no soft limits, but 'row' has; expected 'native'"):
        ocp.build(backend=backend)
