"""What "solved" means: the conditions hold in the units of the statement, relative to the terms summed there, at the
answer; whatever the slopes were at the guess."""

import casadi as ca
import numpy as np
import pytest
from support.ocp_problems import integrator_chain
from trisweep.ocp import Problem, Settings
from trisweep.ocp.judge.residual import doubt


def one_step():
    ocp = Problem(steps=1, step=1.0)
    x, u = ocp.state("x"), ocp.control("u")
    ocp.next(x=x + u)
    ocp.minimize(u**2)
    return ocp, x, u


@pytest.mark.parametrize(
    ("cost", "guess", "optimum"),
    [
        (lambda x: ca.exp(30 * x) + (x + 1) ** 2, 1.0, -1.0),
        (lambda x: 1 / x**2 + x, 1e-4, 2 ** (1 / 3)),
        (lambda x: x**8 + (x - 1) ** 2, 100.0, 0.6929906525549),
        (lambda x: ca.exp(40 * x) + (x + 1) ** 4 + x, 1.0, -1 - 4 ** (-1 / 3)),
    ],
)
def test_slopes_that_flatten_on_the_way_do_not_loosen_the_answer(cost, guess, optimum):
    ocp, x, _ = one_step()
    ocp.minimize(cost(x), at="start")
    solution = ocp.build().solve(guess={"x": guess})
    assert solution.status == "solved"
    assert solution.x[0, 0] == pytest.approx(optimum, abs=1e-6)
    assert solution.check().stationarity < 1e-6


@pytest.mark.parametrize(("slope", "tolerance"), [(1e10, 1e-8), (1e6, 1e-3), (1e4, 1e-8), (1.0, 1e-8), (1e-6, 1e-8)])
def test_steep_rows_that_contradict_each_other_are_never_solved(slope, tolerance):
    ocp, _, u = one_step()
    ocp.constrain("one", slope * u, equals=1)
    ocp.constrain("two", slope * u, equals=2)
    solution = ocp.build().solve(settings=Settings(tolerance=tolerance))
    assert solution.status in {"infeasible", "stalled"}
    assert solution.violations


@pytest.mark.parametrize("slope", [1e-4, 1.0, 1e5, 1e10])
def test_steep_rows_that_agree_are_solved(slope):
    ocp, x, u = one_step()
    ocp.minimize((x - 3) ** 2, at="end")
    ocp.constrain("one", slope * (u - 1) + 0 * x, equals=0)
    solution = ocp.build().solve()
    assert solution.status == "solved"
    assert solution.u[0, 0] == pytest.approx(1.0, abs=1e-7)


def test_the_judge_takes_its_scales_from_the_answer():
    """The relative residual of a point does not change with the units of a row, nor with those of a steep objective."""
    relative = []
    for factor in (1.0, 1e6):
        ocp, x, u = integrator_chain()
        ocp.minimize(factor * 100 * u**2)
        ocp.constrain("start", x, equals=0, at="start")
        ocp.constrain("finish", factor * 1e3 * x, equals=[factor * 1e3, 0], at="end")
        solver = ocp.build()
        solution = solver.solve()
        point = solution.point
        point.z[:] *= 1.001
        measured = solver.plain_conditions.measure(point, solution.limit_vectors)
        assert "computed again" in doubt(measured, 1e-8)
        relative.append(measured.relative)
        by_machine = solver.backend.judge(point, solution.limit_vectors)
        np.testing.assert_allclose(
            list(vars(by_machine.relative).values()), list(vars(measured.relative).values()), rtol=1e-6, atol=1e-12
        )
    for name in ("stationarity", "equalities"):
        assert getattr(relative[0], name) == pytest.approx(getattr(relative[1], name), rel=1e-3)
        assert getattr(relative[0], name) > 1e-5


def valve(opening=1e-7, pressure=1e5):
    """Towards five bar, as fast as a small opening allows: numbers of 1e5 beside one of 1e-7."""
    ocp = Problem(steps=2)
    p, u = ocp.state("p"), ocp.control("u", lower=-opening, upper=opening)
    ocp.next(p=p + pressure / opening * u)
    for at in ("steps", "end"):
        ocp.minimize((p / pressure - 5) ** 2, at=at)
    ocp.constrain("start", p, equals=pressure, at="start")
    return ocp


@pytest.mark.parametrize("opening", [1e-9, 1e-7, 1e-4, 1.0])
@pytest.mark.parametrize("pressure", [1.0, 1e5, 1e8])
def test_a_limit_holds_whatever_units_others_have(opening, pressure):
    """It was passed by a tenth: what is large elsewhere said how much counts."""
    solution = valve(opening, pressure).build().solve()
    assert solution.status == "solved"
    assert np.abs(solution.u).max() <= opening * (1 + 1e-6)
    assert solution.objective == pytest.approx(16 + 9 + 4, rel=1e-6)


def test_both_judges_see_a_limit_that_is_passed_by_a_tenth():
    solver = valve().build()
    solution = solver.solve()
    point = solution.point
    point.z[[0, 2]] *= 1.1
    for judge in (solver.backend.judge, solver.plain_conditions.measure):
        assert judge(point, solution.limit_vectors).relative.bounds == pytest.approx(1 / 29, rel=1e-3)


def resting(cost=1.0, most=3.0):
    """A motion that best stays at zero, within limits."""
    ocp = Problem(steps=20, step=0.1)
    x, u, goal = ocp.state("x", 2), ocp.control("u", lower=-most, upper=most), ocp.parameter("goal")
    ocp.derivative(x=ca.vertcat(x[1], u - ca.sin(x[0])))
    ocp.minimize(cost * (u**2 + ca.sumsqr(x - goal)))
    ocp.start("x")
    ocp.constrain("slow", x[1], upper=2.0 * most, soft=10.0 * cost)
    return ocp.build()


@pytest.mark.parametrize("cost", [1e-9, 1.0, 1e6])
@pytest.mark.parametrize("most", [1e-3, 3.0, 1e5])
def test_a_motion_that_stays_at_zero_is_solved(cost, most):
    """No term has a size there, and multipliers of 1e-18 were measured against 1e-16."""
    solver = resting(cost, most)
    solution = solver.solve(goal=0.0, start={"x": [0, 0]})
    assert solution.status == "solved"
    assert np.abs(solution.u).max() <= 1e-8 * most
    assert solver.plain_conditions.measure(solution.point, solution.limit_vectors).relative.worst <= 3e-8


def test_near_zero_is_not_at_rest():
    """A goal of 1e-5 moves everything by as little, and that counts; a control beside its best is refused."""
    solver = resting()
    far, near = (solver.solve(goal=goal, start={"x": [0, 0]}) for goal in (1e-3, 1e-5))
    assert far.status == near.status == "solved"
    assert near.u / 1e-5 == pytest.approx(far.u / 1e-3, abs=1e-4)
    near.point.z[0] *= 1 + 1e-4
    for judge in (solver.backend.judge, solver.plain_conditions.measure):
        assert judge(near.point, near.limit_vectors).relative.worst > 1e-6


def test_what_has_outgrown_all_numbers_excuses_nothing():
    """A first state whose terms overflow: no error is small beside infinity."""
    ocp = Problem(steps=8, step=0.25)
    x, u = ocp.state("x", 2), ocp.control("u")
    ocp.derivative(x=ca.vertcat(x[1], u))
    ocp.minimize(u**2)
    ocp.start("x")
    ocp.constrain("push", u, lower=-1, upper=1)
    ocp.constrain("end", x, equals=[1, 0], at="end")
    solver = ocp.build()
    near = solver.solve(start={"x": [0.9, 0.0]})
    assert near.solved
    for first in (1e308, -1e308):
        solution = solver.solve(near, near, {"x": first})
        assert not solution.solved
        for measured in (
            solver.backend.judge(solution.point, solution.limit_vectors),
            solver.plain_conditions.measure(solution.point, solution.limit_vectors),
        ):
            assert not measured.relative.worst < 1.0
        many = solver.solve_many(warm_start=near, start={"x": [[first, first]]}, progress=False)
        assert not many.solved.any()


@pytest.mark.parametrize("far", [1e4, 1e6, 5e7])
def test_what_nobody_minds_says_nothing_of_the_cost(far):
    """The last state is free and far away. With its size the cost of the others counted as thousands of times what it
    is: the answer was 29 % above the optimum."""
    ocp = Problem(steps=2)
    x, u, w = ocp.state("x"), ocp.control("u"), ocp.control("w", lower=0.3, upper=3)
    ocp.next(x=x + u)
    ocp.constrain("start", x, equals=0.1, at="start")
    ocp.minimize((x - 0.1) ** 2 + 1e-2 * (w - 0.1) ** 2)
    solution = ocp.build().solve(guess={"x": far, "w": 1.0})
    assert solution.solved or far > 1e6  # there the rows' rounding is in the way
    assert not solution.solved or solution.objective == pytest.approx(8e-4, rel=1e-6)


@pytest.mark.parametrize("seed", range(12))
def test_slopes_do_not_excuse_a_step_that_does_not_follow_from_the_last(seed):
    """Within a millionth of w the sine goes round: by its slopes a row that was off by half of itself was as good as
    met. A seventh of such guesses ended so."""
    random = np.random.default_rng(seed)
    ocp = Problem(steps=2)
    x, v, u, w = ocp.state("x"), ocp.state("v"), ocp.control("u"), ocp.control("w")
    ocp.next(x=0.9 * x + 0.1 * ca.tanh(u), v=v + ca.sin(u * w))
    ocp.constrain("start", x, equals=0.1, at="start")
    ocp.constrain("end", v, equals=2.0, at="end")
    ocp.minimize((x - 0.3) ** 2 + 1e-3 * u**2)
    guess = {"w": random.normal() * 10 ** random.uniform(4, 7), "u": random.normal(), "v": random.normal()}
    solution = ocp.build().solve(guess=guess)
    off = np.abs(solution.v[:-1] + np.sin(solution.u * solution.w) - solution.v[1:]).max()
    assert not solution.solved or off < 1e-5


@pytest.mark.parametrize("seed", [2, 25, 55])
def test_without_a_cost_the_rows_alone_count(seed):
    """Ways between obstacles: multipliers of rows that nothing presses on were sought for hundreds of iterations, and
    not found from the last of these."""
    random = np.random.default_rng(seed)
    ocp = Problem(steps=8, step=0.2)
    x, u = ocp.state("x", 2), ocp.control("u", 2)
    ocp.derivative(x=ca.vertcat(u[0] * ca.cos(x[1]), u[1] - ca.sin(x[0])))
    for i in range(2):
        centre = random.normal(size=2)
        ocp.constrain(f"obstacle {i}", ca.sumsqr(x - centre), lower=0.05 + 0.2 * random.random())
    first, last = random.normal(size=(2, 2)) * 2
    ocp.constrain("start", x, equals=first, at="start")
    ocp.constrain("end", x, equals=last, at="end")
    ocp.constrain("product", u[0] * u[1], upper=1.0)
    guess = {"x": random.normal(size=(9, 2)) * 2, "u": random.normal(size=(8, 2)) * 2}
    solution = ocp.build().solve(guess)
    assert solution.solved and solution.check().worst < 1e-6


@pytest.mark.parametrize("size", [1.0, 1e14, 1e17])
def test_what_is_large_from_the_start_does_not_grow_without_limit(size):
    """Numbers beyond 1e15 were "unbounded" before the first iteration."""
    ocp, x, u = one_step()
    ocp.minimize((x - 1) ** 2, at="end")
    ocp.constrain("far away", size + u, lower=0)
    assert ocp.build().solve(guess={"x": 5.0}).solved


@pytest.mark.parametrize("demand", [{"equals": 0.5}, {"lower": 0.5, "upper": 0.6}])
def test_slopes_do_not_excuse_a_row_that_is_not_met(demand):
    """Likewise of rows: a third of such guesses, with `equals`, was "solved" with the sine off by up to 1.5. One after
    another and many at once."""
    ocp = Problem(steps=2)
    x, u, w = ocp.state("x"), ocp.control("u"), ocp.control("w")
    ocp.next(x=0.9 * x + 0.1 * ca.tanh(u))
    ocp.constrain("start", x, equals=0.1, at="start")
    ocp.constrain("sine", ca.sin(u * w), **demand)
    ocp.minimize((x - 0.3) ** 2 + 1e-3 * u**2)
    solver, least, most = ocp.build(), 0.5, demand.get("upper", 0.5)

    def is_met(solution):
        values = np.sin(solution.u * solution.w)
        return not solution.solved or np.maximum(least - values, values - most).max() < 1e-4

    guesses = []
    for seed in range(40):
        random = np.random.default_rng(seed)
        guesses.append({"w": random.normal() * 10 ** random.uniform(4, 7), "u": random.normal()})
    found = [solver.solve(guess) for guess in guesses]
    assert all(map(is_met, found)) and sum(solution.solved for solution in found) > 10
    at_once = {name: np.reshape([guess[name] for guess in guesses], (-1, 1, 1)) for name in ("w", "u")}
    assert [each.status for each in solver.solve_many(guess=at_once)] == [solution.status for solution in found]


def test_sums_and_products_are_as_large_as_their_slopes_say():
    """What a row is made of, by hand; errors of rows with large numbers are no larger for being noticed."""
    from trisweep.ocp.judge.made_of import _sizes

    a, b = ca.SX.sym("a"), ca.SX.sym("b")
    rows = ca.vertcat(3 * (a - b), a * a - b, (a - b) * a, a / b, ca.sqrt(a), ca.sin(a * b), ca.exp(a))
    values, terms = [np.array([1e3]), np.array([-2e3])], [np.array([1e3]), np.array([2e3])]
    sizes = _sizes(ca.Function("rows", [a, b], [rows]), values, terms)
    assert sizes[:5] == pytest.approx([9e3, 1.002e6, 3e6, 0.5, np.sqrt(1e3)])
    assert sizes[5] == pytest.approx(1.0) and np.isinf(sizes[6])
    ocp, x, u = one_step()
    ocp.minimize((x - 3e9) ** 2 / 1e18, at="end")
    ocp.constrain("far", x - 1e9, equals=0, at="start")
    ocp.constrain("push", ca.sqrt(u) - 3e4, equals=0)
    assert ocp.build().solve(guess={"x": 1e9, "u": 1e9}).solved
