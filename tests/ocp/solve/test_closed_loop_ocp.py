"""Optimal control through closed loops with dependent rows: IPOPT's optimum, whatever way the loop is closed."""

import casadi as ca
import numpy as np
import pytest
from trisweep.dynamics import simulate
from trisweep.ocp import Problem
from trisweep.problems import task
from trisweep.problems.mechanisms import four_bar
from trisweep.problems.tasks.four_bar import closed_configuration, linkage
from trisweep.problems.twins.pinocchio_twin import pinocchio_twin


def moved(mechanism, constraints, steps=50, step=0.015):
    """The crank from rest at its nominal angle to rest 1 rad further, by a torque of at most 5 N m."""
    model = mechanism.model
    ocp = Problem(steps=steps, step=step, integrator="euler")
    q, v, torque = ocp.state("q", model.nq), ocp.state("v", model.nv), ocp.control("torque", 1, lower=-5, upper=5)
    a, forces = model.forward_dynamics(q, v, ca.vertcat(torque, ca.SX.zeros(model.nv - 1)), constraints)
    ocp.derivative(q=v, v=a)
    ocp.minimize(ca.sumsqr(torque) + 1e-3 * ca.sumsqr(a))
    ocp.constrain("start pose", q, equals=mechanism.q, at="start")
    ocp.constrain("start at rest", v, equals=0, at="start")
    ocp.constrain("goal", ca.vertcat(q[0], v[0]), equals=[mechanism.q[0] - 1.0, 0], at="end")
    return ocp


@pytest.mark.parametrize("rows", ["point", "hinge", "weld"])
def test_the_optimum_is_that_of_ipopt(rows):
    mechanism = four_bar(rows).stabilised(0.1)
    ocp = moved(mechanism, mechanism.constraints)
    ours, theirs = (ocp.build(backend=backend).solve({"q": mechanism.q}) for backend in ("native", "ipopt"))
    assert ours.status == theirs.status == "solved"
    assert ours.objective == pytest.approx(theirs.objective, rel=1e-8)
    np.testing.assert_allclose(ours.q, theirs.q, atol=1e-5)
    gaps = [np.abs(pinocchio_twin(mechanism).terms(q, np.zeros(mechanism.model.nv)).away).max() for q in ours.q]
    assert max(gaps) < 1e-2


def test_a_loop_closed_twice_has_the_same_optimum():
    mechanism = four_bar().stabilised(0.1)
    once, twice = (
        moved(mechanism, mechanism.constraints * times).build().solve({"q": mechanism.q}) for times in (1, 2)
    )
    assert once.status == twice.status == "solved"
    assert twice.statistics.iterations == once.statistics.iterations
    assert twice.objective == pytest.approx(once.objective, rel=1e-10)


def test_a_simulation_with_the_optimal_torques_goes_the_optimal_way():
    solution = task("four_bar_move").solve()
    model, closure = linkage()
    torques = np.column_stack([solution.torque, np.zeros((len(solution.torque), 2))])
    run = simulate(model, solution.q[0], None, torques, [closure], 1.0, 0.025, "rk4", drift="stabilisation")
    np.testing.assert_allclose(run.q, solution.q, atol=1e-7)
    np.testing.assert_allclose(run.q[-1], closed_configuration(2.6), atol=1e-4)
    assert run.drift.position.max() < 1e-4
