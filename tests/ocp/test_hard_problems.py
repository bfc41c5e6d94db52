"""Problems on which the linear algebra, the search or the limits of floating point once lost an answer."""

import casadi as ca
import numpy as np
import pytest
from support.ocp_problems import integrator_chain
from trisweep.ocp import Free, Problem


def brachistochrone(steps):
    """From (0, 0) to (2, 2) m in the least time: the row that is passed back becomes the costate, whose entry for the
    control vanishes at the solution."""
    ocp = Problem(steps=steps, duration=Free(guess=2.0, lower=1e-3, upper=10.0), integrator="rk4")
    x = ocp.state("x", 3, lower=0, upper=20)
    theta = ocp.control("theta", lower=0, upper=2 * np.pi)
    ocp.derivative(x=ca.vertcat(x[2] * ca.sin(theta), x[2] * ca.cos(theta), 9.8 * ca.cos(theta)))
    ocp.minimize(ocp.time_step * steps, at="end", name="time")
    ocp.constrain("start", x, equals=0, at="start")
    ocp.constrain("end", x[:2], equals=2, at="end")
    return ocp, {"x": np.linspace([0, 0, 0], [1, 1, 1], steps + 1), "theta": 1.0}


@pytest.mark.parametrize("steps", [10, 40, 160])
def test_least_time_without_any_other_cost(steps):
    ocp, guess = brachistochrone(steps)
    solution = ocp.build().solve(guess=guess)
    assert solution.status == "solved"
    assert solution.objective == pytest.approx(0.8247591, rel=1e-2 / steps)
    assert solution.statistics.iterations < 60


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


@pytest.mark.parametrize("make", [parallel_at_the_start, parallel_at_the_end])
def test_parallel_rows_that_contradict_each_other_are_infeasible(make):
    ocp, x, at = make()
    ocp.constrain("one", x[0] + x[1], equals=1, at=at)
    ocp.constrain("three halves", 2 * (x[0] + x[1]), equals=3, at=at)
    solution = ocp.build().solve()
    assert solution.status == "infeasible"
    assert {violation.name for violation in solution.violations} & {"one", "three halves"}
    assert solution.statistics.iterations < 400
