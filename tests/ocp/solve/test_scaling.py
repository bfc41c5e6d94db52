"""Badly scaled problems: the same swing-up in other units ends in the same motion, or with a status that is true."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
import trisweep as ts
from scoreboard.judge import Judge
from suite import case
from support.ocp_problems import swing_up_in_units
from support.rivals import ipopt

FACTORS = (1e-5, 1e-3, 1e3, 1e5)
ONE_AT_A_TIME = [{name: k} for name in ("angle", "speed", "torque", "rows", "cost", "power") for k in FACTORS]
TOGETHER = [{"angle": k, "speed": k} for k in (1e-3, 1e3)]
TOGETHER += [{"angle": k, "speed": k, "torque": k} for k in (1e-3, 1e3)]
TOGETHER += [{"angle": k, "speed": 1 / k, "torque": k} for k in (1e-3, 1e3)]


def name_of(units):
    return ", ".join(f"{name} {value:g}" for name, value in units.items())


@pytest.fixture(scope="module")
def objective():
    """IPOPT's, in plain units."""
    solver = swing_up_in_units().build()
    answer = ipopt(SimpleNamespace(guess=None, parameters={}), solver).solve()
    assert answer.solved
    return answer.objective


@pytest.mark.parametrize("units", [*ONE_AT_A_TIME, *TOGETHER], ids=name_of)
def test_units_do_not_change_the_answer(units, request):
    solution = swing_up_in_units(**units).build().solve()
    assert solution.status == "solved"
    objective = request.getfixturevalue("objective")
    # Rows in units of 1000 hold to 1e-8 of these: that much of the objective is open.
    assert solution.objective / units.get("cost", 1.0) == pytest.approx(objective, rel=2e-6)


@pytest.mark.parametrize("integrator", ["rk4", "implicit midpoint"])
def test_rows_without_any_slope_at_the_guess_are_scaled_by_their_distance(integrator):
    """A limit of 3 MW or of 3 GW, times a product of two variables that start at zero: the same iterations."""
    few, many = (swing_up_in_units(power=power, integrator=integrator).build().solve() for power in (1e5, 1e8))
    assert few.status == many.status == "solved"
    assert abs(few.statistics.iterations - many.statistics.iterations) <= 3
    assert few.statistics.iterations <= 100
    assert many.objective == pytest.approx(few.objective, rel=1e-7)


@pytest.mark.parametrize("integrator", ["euler", "rk4"])
@pytest.mark.parametrize("units", [*ONE_AT_A_TIME, *TOGETHER], ids=name_of)
def test_no_units_take_many_iterations(units, integrator):
    """In plain ones it takes 30 to 60."""
    solution = swing_up_in_units(integrator=integrator, **units).build().solve()
    assert solution.solved and solution.statistics.iterations <= 120


@pytest.mark.parametrize(("name", "most"), [("algal_bacterial", 100), ("shuttle_reentry", 120)])
def test_variables_of_a_thousandth_or_of_a_hundred_thousand(name, most):
    """States of 1e-4 and of 1e5 beside others of 1: by slopes alone it took 290 and more than 500 iterations."""
    stated = case(name).build()
    solver = stated.problem.build()
    solution = solver.solve(stated.guess, **stated.parameters)
    assert solution.solved and solution.statistics.iterations <= most
    assert Judge(solver, seconds=60)(solution).false == ""


@pytest.mark.parametrize("units", [*ONE_AT_A_TIME, *TOGETHER], ids=name_of)
def test_a_motor_too_weak_is_never_said_to_do_it(units):
    solution = swing_up_in_units(limit=0.3, **units).build().solve()
    assert solution.status in {"infeasible", "stalled", "iteration limit"}
    assert solution.violations and solution.advice


@pytest.mark.parametrize(
    "units", [{}, {"rows": 1e-5}, {"rows": 1e-3}, {"rows": 1e3}, {"torque": 1e-3}, {"angle": 1e-3}], ids=name_of
)
def test_a_motor_too_weak_is_named_infeasible(units):
    solution = swing_up_in_units(limit=0.3, **units).build().solve()
    assert solution.status == "infeasible"
    assert solution.violations[0].name in {"hang", "stand", "dynamics of angle", "dynamics of speed"}


@pytest.mark.parametrize("gravity", [0.0, 1.0])
@pytest.mark.parametrize("guess", [100.0, 300.0])
def test_a_cost_scaled_down_for_a_steep_guess_is_scaled_up_again_before_the_end(gravity, guess):
    """A cost of 1e8 and more at the guess, 9 at the end: the scaled problem was solved too early, the judge said no,
    and up to six iterations came after that. Such an iteration stands twice in the log.
    """
    ocp = ts.Problem(steps=20, step=0.1)
    x, u = ocp.state("x", 2), ocp.control("u", lower=-5, upper=5)
    ocp.derivative(x=ts.vertcat(x[1], u - gravity * ts.sin(x[0])))
    ocp.minimize(1e-3 * u**2 + ts.sumsqr(x) ** 2)
    ocp.constrain("start", x, equals=[1, 0], at="start")
    solver = ocp.build()
    solution, near = solver.solve({"x": np.full((21, 2), guess)}), solver.solve({"x": np.ones((21, 2))})
    assert solution.solved and near.solved
    assert solution.objective == pytest.approx(near.objective, rel=1e-7)
    numbers = [record.iteration for record in solution.records]
    refused = [one for one, then in itertools.pairwise(numbers) if one == then]
    assert solution.statistics.iterations - min(refused, default=solution.statistics.iterations) <= 2
    assert len(refused) <= 1
