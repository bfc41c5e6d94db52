"""Problems without a solution, or with an awkward one, end with the status that says so."""

import casadi as ca
import numpy as np
import pytest
from support.ocp_problems import contradiction, integrator_chain, out_of_reach, rest_to_rest
from trisweep.ocp import Settings


def redundant():
    ocp, x, _ = rest_to_rest()
    ocp.constrain("finish again", 2 * x[0], equals=2, at="end")
    ocp.constrain("and again", ca.vertcat(x[0], x[0]), equals=1, at="end")
    return ocp


def endless():
    ocp, x, u = integrator_chain()
    ocp.minimize(u)
    ocp.constrain("start", x, equals=0, at="start")
    return ocp


def saddle():
    ocp, x, u = integrator_chain()
    ocp.minimize(-(u**2))
    ocp.constrain("start", x, equals=0, at="start")
    return ocp


def undefined():
    ocp, x, u = integrator_chain()
    ocp.minimize(u**2 + ca.sqrt(x[0] - 0.5))
    ocp.constrain("start", x, equals=0, at="start")
    return ocp


def badly_scaled():
    ocp, x, u = integrator_chain()
    ocp.minimize(1e6 * u**2)
    ocp.constrain("start", 1e-5 * x, equals=0, at="start")
    ocp.constrain("finish", 1e7 * x, equals=[1e7, 0], at="end")
    return ocp


def without_a_cost():
    ocp, x, u = integrator_chain()
    ocp.constrain("start", x, equals=0, at="start")
    ocp.constrain("finish", x, equals=[1, 0], at="end")
    return ocp


def tangent():
    """(x - 1)^2 = 0 has a gradient of zero where it holds: no multipliers satisfy the KKT conditions at the optimum."""
    ocp, x, u = integrator_chain()
    ocp.minimize(u**2)
    ocp.constrain("start", x, equals=0, at="start")
    ocp.constrain("touch", (x[0] - 1) ** 2, equals=0, at="end")
    return ocp


@pytest.mark.parametrize("constant", [1e4, 1e8, 1e10])
@pytest.mark.parametrize("curvature", [1.0, 1e-4])
def test_a_saddle_is_one_beside_any_constant_in_the_objective(constant, curvature):
    ocp, x, u = integrator_chain()
    ocp.minimize(constant - curvature * u**2)
    ocp.constrain("start", x, equals=0, at="start")
    assert ocp.build().solve().status == "not minimal"


@pytest.mark.parametrize(
    ("make", "status"),
    [
        (redundant, "solved"),
        (badly_scaled, "solved"),
        (without_a_cost, "solved"),
        (tangent, "stalled"),
        (contradiction, "infeasible"),
        (out_of_reach, "infeasible"),
        (endless, "unbounded"),
        (saddle, "not minimal"),
        (undefined, "not finite"),
    ],
)
def test_awkward_problems_end_with_the_right_status(make, status):
    solution = make().build().solve()
    assert solution.status == status
    assert solution.advice or solution.status == "solved"
    if solution.status == "solved":
        assert max(solution.residual.dynamics, solution.residual.equalities) < 1e-6


@pytest.mark.parametrize(
    ("make", "status"),
    [(redundant, "solved"), (without_a_cost, "solved"), (out_of_reach, "infeasible"), (endless, "unbounded"),
     (undefined, "not finite"), (tangent, "stalled"), (saddle, "not minimal")],
)  # fmt: skip
def test_the_adaptive_barrier_on_awkward_problems(make, status):
    assert make().build().solve(settings=Settings(barrier="adaptive")).status == status


def test_a_term_that_is_not_finite_is_located():
    solution = undefined().build().solve()
    assert (solution.fault.name, solution.fault.stage) == ("cost 1", 0)


def test_a_solver_that_met_a_bad_problem_solves_a_good_one():
    ocp, x, u = integrator_chain()
    depth, target = ocp.parameter("depth"), ocp.parameter("goal")
    ocp.minimize(u**2 + ca.sqrt(x[0] + depth))
    ocp.constrain("start", x, equals=0, at="start")
    ocp.constrain("finish", x, equals=ca.vertcat(target, 0), at="end")
    ocp.constrain("push", u, lower=-2, upper=2)
    solver = ocp.build()
    good = solver.solve(depth=1.0, goal=1.0)
    assert solver.solve(depth=-1.0, goal=1.0).status == "not finite"
    for goal in (3.0, 30.0, 89.0, 91.0, 1000.0):
        far = solver.solve(depth=1.0, goal=goal)
        assert far.status == "infeasible" and far.statistics.iterations < 100  # of two looks at it
    again = solver.solve(depth=1.0, goal=1.0)
    assert good.status == again.status == "solved"
    np.testing.assert_array_equal(good.x, again.x)
