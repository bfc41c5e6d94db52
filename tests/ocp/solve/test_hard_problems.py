"""Problems on which the linear algebra, the search or the limits of floating point once lost an answer."""

import casadi as ca
import numpy as np
import pytest
from random_starts import scattered
from scoreboard.judge import Judge
from suite import case
from support.ocp_problems import integrator_chain
from trisweep import robot
from trisweep.ocp import Free, Problem


def brachistochrone(steps, end):
    """From (0, 0) to (2, 2) m in the least time, guessed as a line to `end`: the row that is passed back becomes the
    costate, whose entry for the control vanishes at the solution."""
    ocp = Problem(steps=steps, duration=Free(guess=2.0, lower=1e-3, upper=10.0), integrator="rk4")
    x = ocp.state("x", 3, lower=0, upper=20)
    theta = ocp.control("theta", lower=0, upper=2 * np.pi)
    ocp.derivative(x=ca.vertcat(x[2] * ca.sin(theta), x[2] * ca.cos(theta), 9.8 * ca.cos(theta)))
    ocp.minimize(ocp.time_step * steps, at="end", name="time")
    ocp.constrain("start", x, equals=0, at="start")
    ocp.constrain("end", x[:2], equals=2, at="end")
    return ocp, {"x": np.linspace([0, 0, 0], end, steps + 1), "theta": 1.0}


@pytest.mark.parametrize(("steps", "end"), [(10, (2, 2, 6)), (40, (1, 1, 1)), (160, (1, 1, 1))])
def test_least_time_without_any_other_cost(steps, end):
    ocp, guess = brachistochrone(steps, end)
    solution = ocp.build().solve(guess=guess)
    assert solution.status == "solved"
    assert solution.objective == pytest.approx(0.8247591, rel=1e-2 / steps)
    assert solution.statistics.iterations < 60


def test_least_time_from_a_poor_guess():
    """Ten steps have several minima, and rounding decides between them: one is found, none worse than IPOPT's."""
    ocp, guess = brachistochrone(10, (1, 1, 1))
    solver = ocp.build()
    solution, theirs = solver.solve(guess=guess), ocp.build(backend="ipopt").solve(guess=guess)
    assert solution.status == theirs.status == "solved" and solution.objective <= theirs.objective
    assert Judge(solver, seconds=600)(solution).false == ""


@pytest.mark.parametrize("steps", [10, 50, 200])
def test_least_time_across_a_current(steps):
    """Zermelo's problem: the heading is in the row of the costate alone, which vanishes at the solution."""
    ocp = Problem(steps=steps, duration=Free(guess=5.0, lower=0.1, upper=50.0), integrator="rk4")
    p, heading = ocp.state("p", 2), ocp.control("heading", lower=-np.pi, upper=np.pi)
    ocp.derivative(p=ca.vertcat(ca.cos(heading) - 0.5 * p[1], ca.sin(heading)))
    ocp.minimize(ocp.time_step * steps, at="end")
    ocp.constrain("start", p, equals=[3.66, -1.86], at="start")
    ocp.constrain("end", p, equals=0, at="end")
    guess = {"p": np.linspace([3.66, -1.86], [0, 0], steps + 1), "heading": 2.5}
    solution, theirs = (ocp.build(backend=name).solve(guess) for name in ("native", "ipopt"))
    assert solution.status == theirs.status == "solved"
    assert solution.objective == pytest.approx(theirs.objective, rel=1e-7)
    assert solution.statistics.iterations <= theirs.statistics.iterations + 2


@pytest.mark.parametrize("seed", range(3))
def test_no_direction_while_infeasible_asks_for_restoration(seed):
    """Random rates of gas-oil cracking: where the sweep finds no direction the solve ended as "stalled"."""
    stated = case("gas_oil").build()
    solver = stated.problem.build()
    solution = solver.solve(scattered(stated, seed), **stated.parameters)
    assert solution.status == "solved" and Judge(solver, seconds=600)(solution).false == ""


def test_multipliers_start_anew_where_restoration_ends_far_from_the_rows():
    """Rates of methanol from afar: estimates that went with slopes of 1e5 bent the next step, and most solves went
    round in circles until the limit of iterations."""
    stated = case("methanol").build()
    solver = stated.problem.build()
    solutions = [solver.solve(scattered(stated, seed), **stated.parameters) for seed in (6, 15, 27)]
    assert sum(solution.solved for solution in solutions) >= 2


def test_steps_within_rounding_are_not_searched():
    """The last steps of the F-8 change nothing but the rows' last digits: ever shorter ones were taken for them."""
    stated = case("f8").build()
    solution = stated.problem.build().solve(stated.guess, **stated.parameters)
    assert solution.solved and solution.statistics.iterations <= 22


@pytest.mark.parametrize("size", [1.0, 1e3, 1e6])
def test_polynomials_are_finite(size):
    """What overflows or cancels in our own arithmetic is no fault of the user's terms."""
    rng = np.random.default_rng(3)
    ocp = Problem(steps=5, step=1.0)
    x, u = ocp.state("x", 2), ocp.control("u")
    a = ocp.parameter("a", 6)
    ocp.next(x=ca.vertcat(x[0] + a[0] * x[1] ** 2 + a[1] * u, a[2] * x[0] * x[1] + a[3] * u**3))
    ocp.minimize(a[4] * (x[0] ** 2 - 1) ** 2 + a[5] * x[0] * x[1] + u**2)
    ocp.constrain("end", x[0] ** 2 * x[1], equals=1, at="end")
    solver = ocp.build()
    for _ in range(25):
        guess = {"x": size * rng.standard_normal((6, 2)), "u": size * rng.standard_normal((5, 1))}
        solution = solver.solve(guess, a=rng.standard_normal(6))
        assert solution.status != "not finite" and not solution.fault


@pytest.mark.parametrize("limit", [1.0, 1e4, 1e8, 1e9])
def test_limits_of_any_size(limit):
    ocp = Problem(steps=10, step=0.1)
    x = ocp.state("x", 2, lower=-limit, upper=limit)
    u = ocp.control("u", lower=-limit, upper=limit)
    ocp.next(x=ca.vertcat(x[0] + 0.1 * x[1], x[1] + 0.1 * u))
    ocp.minimize(-x[0] / limit, at="end")
    ocp.minimize(1e-3 * (u / limit) ** 2)
    ocp.constrain("start", x, equals=0, at="start")
    solution = ocp.build().solve()
    assert solution.status == "solved"
    assert solution.objective == pytest.approx(-0.441, abs=1e-5)


def parallel_at_the_start():
    ocp = Problem(steps=1, step=1.0)
    x, u = ocp.state("x", 2), ocp.control("u")
    ocp.next(x=x + u)
    ocp.minimize(u**2 + ca.sumsqr(x))
    return ocp, x, "start"


def parallel_at_the_end():
    ocp, x, u = integrator_chain()
    ocp.minimize(u**2)
    ocp.constrain("start", x, equals=0, at="start")
    return ocp, x, "end"


def parallel_amid_a_curved_motion():
    ocp = Problem(steps=10, step=0.1)
    x, u = ocp.state("x", 2, lower=-5, upper=5), ocp.control("u", 2, lower=-10, upper=10)
    ocp.derivative(x=u + ca.sin(x))
    ocp.minimize(ca.sumsqr(u) + ca.sumsqr(x))
    ocp.constrain("start", x, equals=0, at="start")
    return ocp, x, 5


@pytest.mark.parametrize("make", [parallel_at_the_start, parallel_at_the_end, parallel_amid_a_curved_motion])
def test_parallel_rows_that_contradict_each_other_are_infeasible(make):
    ocp, x, at = make()
    ocp.constrain("one", x[0] + x[1], equals=1, at=at)
    ocp.constrain("three halves", 2 * (x[0] + x[1]), equals=3, at=at)
    solution = ocp.build().solve()
    assert solution.status == "infeasible"
    named = {each.name for each in (*solution.violations, *solution.opponents)}
    assert {"one", "three halves"} <= named and not any(name.startswith("dynamics of") for name in named)
    assert solution.statistics.iterations < 60  # of two looks at it
    assert "violated     'one'" in str(solution) and "against      'three halves'" in str(solution)


def test_limits_that_stand_against_a_goal_are_named():
    ocp = Problem(steps=10, step=0.1)
    x, u = ocp.state("x", 2), ocp.control("u", lower=-1, upper=1)
    ocp.derivative(x=ca.vertcat(x[1], u))
    ocp.minimize(u**2)
    ocp.constrain("start", x, equals=0, at="start")
    ocp.constrain("goal", x[0], equals=3, at="end")
    solution = ocp.build().solve()
    assert solution.status == "infeasible" and [each.name for each in solution.opponents] == ["limits of u"]
    assert "goal" in {each.name for each in solution.violations}


def test_a_tool_beyond_its_reach_is_infeasible():
    """An arm of a metre, asked for a point two metres away: more iterations would not help."""
    arm = robot("ur5")
    ocp = Problem(steps=15, step=0.1)
    q, v = ocp.state("q", 6, lower=arm.q_lower, upper=arm.q_upper), ocp.state("v", 6, lower=-3, upper=3)
    tau = ocp.control("tau", 6, lower=-150, upper=150)
    ocp.derivative(q=v, v=arm.forward_dynamics(q, v, tau))
    ocp.minimize(1e-3 * ca.sumsqr(tau) + 1e-2 * ca.sumsqr(v))
    pose = np.array([0, -1, 1, -1, -1.5, 0])
    ocp.constrain("start", ca.vertcat(q, v), equals=np.r_[pose, np.zeros(6)], at="start")
    ocp.constrain("reach", arm.link_pose(q, "tool0")[1], equals=[2, 0, 0], at="end")
    solution = ocp.build().solve({"q": pose})
    assert solution.status == "infeasible"
    assert solution.violations[0].name == "reach"


@pytest.mark.parametrize("demand", [{"equals": 0}, {"upper": 0}])
def test_pushes_that_exclude_each_other(demand):
    """x y = 0 with x, y >= 0: no point lies inside all limits, and multipliers grow as 1e8 mu."""
    ocp = Problem(steps=30, step=0.1)
    z, x, y = ocp.state("z", 2), ocp.control("x", lower=0), ocp.control("y", lower=0)
    ocp.derivative(z=ca.vertcat(z[1], x - y))
    ocp.minimize(0.1 * (x**2 + y**2) + (z[0] - 1) ** 2)
    ocp.constrain("start", z, equals=0, at="start")
    ocp.constrain("end", z, equals=[1, 0], at="end")
    ocp.constrain("one or none", x * y, **demand)
    solution = ocp.build().solve({"x": 1.0, "y": 1.0})
    assert solution.status == "solved" and solution.check().worst < 1e-6
    # Without the row the optimum is the same: nobody pushes both ways at a cost.
    assert solution.objective == pytest.approx(9.006445, rel=1e-5)


def test_rows_that_repeat_each_other_in_other_words():
    ocp = Problem(steps=10, step=0.1)
    x, u = ocp.state("x", 2), ocp.control("u", 2)
    ocp.derivative(x=u)
    ocp.minimize(ca.sumsqr(u))
    ocp.constrain("start", x, equals=[1, 0], at="start")
    square = ca.sumsqr(x)
    ocp.constrain("circle", square, equals=1)
    ocp.constrain("again", square**2, equals=1)
    ocp.constrain("and again", ca.log(square), equals=0)
    ocp.constrain("end", x[1], equals=0.8, at="end")
    solution = ocp.build().solve({"x": [0.9, 0.3]})
    assert solution.status == "solved"
    # Ten chords of equal length.
    assert solution.objective == pytest.approx(1e3 * (2 * np.sin(np.arcsin(0.8) / 20)) ** 2, rel=1e-7)


@pytest.mark.parametrize("everywhere", [False, True])
def test_squares_that_are_to_vanish(everywhere):
    """No multipliers hold at the solution, where the slopes of g^2 = 0 vanish: the point is found all the same."""
    ocp = Problem(steps=10, step=0.1)
    x, u = ocp.state("x", 2), ocp.control("u", 2)
    ocp.derivative(x=u)
    ocp.minimize(ca.sumsqr(u))
    ocp.constrain("start", x, equals=[1, 0], at="start")
    if everywhere:
        ocp.constrain("circle", (ca.sumsqr(x) - 1) ** 2, equals=0)
        ocp.constrain("end", x[1], equals=0.8, at="end")
    else:
        ocp.constrain("end", ca.sumsqr(x - np.array([0.6, 0.8])), equals=0, at="end")
    solution = ocp.build().solve({"x": [0.9, 0.3]} if everywhere else {})
    expected = 1e3 * (2 * np.sin(np.arcsin(0.8) / 20)) ** 2 if everywhere else 8.0
    assert solution.status in {"stalled", "solved"} and solution.statistics.iterations < 100
    assert solution.objective == pytest.approx(expected, rel=1e-4)
    np.testing.assert_allclose(solution.x[-1], [0.6, 0.8], atol=1e-4)


@pytest.mark.parametrize("seed", [762, 6082, 11853, 20068, 23079])
def test_rows_that_nearly_depend_on_each_other(seed):
    """Two rows at the end are the same but for 1e-9 to 1e-6. What the sweep passes back grows until the factors of any
    Hessian, be it all diagonal, look as if it curved down. There are steps nevertheless; that a point is a solution or
    that it is not minimal is said only where it can be told."""
    random = np.random.default_rng(seed)
    states, controls, steps = (int(random.integers(*limits)) for limits in ((2, 5), (1, 3), (2, 6)))
    apart = 10.0 ** random.uniform(-9, -4)
    A = random.normal(size=(states, states))
    B = random.normal(size=(states, controls)) * 10.0 ** random.uniform(-5, 0, size=(1, controls))
    end = np.repeat(random.normal(size=(2, states))[:1], 2, axis=0)
    end[1] += apart * random.normal(size=states)
    row = random.normal(size=(1, states + controls))
    ocp = Problem(steps=steps)
    x, u = ocp.state("x", states), ocp.control("u", controls)
    ocp.next(x=A @ x + B @ u)
    ocp.minimize(ca.sumsqr(u) / 2 + ca.sumsqr(x) / 2 + 1e-3 * ca.sqrt(1 + u[0] ** 2))
    ocp.minimize(ca.sumsqr(x) / 2, at="end")
    ocp.constrain("row", row @ ca.vertcat(x, u), equals=0)
    ocp.constrain("end", end @ x, equals=1, at="end")
    solution, theirs = (ocp.build(backend=name).solve() for name in ("native", "ipopt"))
    assert solution.statistics.iterations <= 10 and solution.check().equalities < 1e-7
    if solution.status == theirs.status == "solved":
        assert solution.objective == pytest.approx(theirs.objective, rel=1e-6)
    else:
        assert solution.status == "stalled"


def test_many_products_that_are_small_each_are_not_small_together():
    """Friction by complementarity has a thousand: at 4e-8 each, 3e-5 of the objective were left to gain."""
    stated = (public := case("cart_pole_friction")).build()
    guess, parameters = public.starts(74, stated)
    solver = stated.problem.build()
    solution = solver.solve(guess, **parameters)
    assert solution.status == "solved"
    assert Judge(solver, seconds=600)(solution).false == ""
