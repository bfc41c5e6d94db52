"""IPOPT and FATROP behind the same statement: held to their own tolerances, and their failures named as ours are."""

import casadi as ca
import numpy as np
import pytest
from support.ocp_problems import contradiction, out_of_reach, rest_to_rest
from support.rivals import needs_rivals
from trisweep.ocp import Problem, ProblemError, Settings


@pytest.mark.parametrize("backend", ["ipopt", "fatrop"])
def test_limits_that_a_rival_has_widened_are_no_reason_for_doubt(backend):
    """IPOPT widens a limit of 15 by 1.5e-7 and ends there."""
    ocp = Problem(steps=10, step=0.1)
    x, u = ocp.state("x", 2), ocp.control("u", lower=-15, upper=15)
    ocp.derivative(x=ca.vertcat(x[1], u))
    ocp.minimize(ca.sumsqr(x - ca.vertcat(100, 0)))
    ocp.constrain("start", x, equals=0, at="start")
    solution = ocp.build(backend=backend).solve()
    assert solution.status == "solved" and not solution.doubt
    assert 1e-8 < solution.u.max() - 15 < 1e-6


def test_a_term_that_is_not_finite_is_named():
    """A cone from its tip, whose slope is not defined there."""
    ocp = Problem(steps=3, step=0.1)
    x, u = ocp.state("x", 2), ocp.control("u", 2)
    ocp.derivative(x=u)
    ocp.minimize(ca.sumsqr(u))
    ocp.constrain("cone", ca.sqrt(ca.sumsqr(u)), upper=1, at="steps")
    ocp.constrain("goal", x, equals=[0.1, 0.1], at="end")
    for backend in ("native", "ipopt"):
        solution = ocp.build(backend=backend).solve()
        assert solution.status == "not finite"
        assert (solution.fault.name, solution.fault.stage, solution.fault.what) == ("cone", 0, "gradient")


def test_a_rival_that_does_not_start_has_made_no_iterations():
    """More equalities than variables: IPOPT leaves its count unset."""
    ocp = Problem(steps=1, step=0.1)
    x, u = ocp.state("x"), ocp.control("u")
    ocp.derivative(x=u)
    ocp.minimize(u**2)
    ocp.constrain("one", x, equals=1, at="start")
    ocp.constrain("two", x, equals=2, at="start")
    ocp.constrain("square", x * x, equals=2, at="end")
    solution = ocp.build(backend="ipopt").solve()
    assert not solution.solved
    assert solution.statistics.iterations == solution.statistics.factorizations == 0


def test_a_constraint_that_says_nothing_is_refused():
    """A state compared with itself is 0 = 0; of a vector, rows that say something are enough."""
    ocp = Problem(steps=2, step=0.1)
    x, u = ocp.state("x", 2), ocp.control("u")
    ocp.derivative(x=ca.vertcat(x[1], u))
    with pytest.raises(ProblemError, match=r"constrain: 'periodic' compares .* says nothing of any variable"):
        ocp.constrain("periodic", x, equals=x, at="end")
    ocp.constrain("start", ca.vertcat(x[0], 0), equals=np.zeros(2), at="start")


@needs_rivals
@pytest.mark.parametrize("backend", ["ipopt", "fatrop"])
def test_other_back_ends_give_the_same_answer(backend):
    ocp, x, u = rest_to_rest()
    ocp.constrain("push", u, lower=-2.0, upper=2.0)
    ocp.constrain("corridor", x[0] + 0.1 * x[1] ** 2, lower=-0.1, upper=1.2)
    ours, theirs = ocp.build().solve(), ocp.build(backend=backend).solve()
    assert ours.status == theirs.status == "solved"
    assert theirs.check().worst < 1e-6
    assert abs(ours.objective - theirs.objective) < 1e-6
    np.testing.assert_allclose(theirs.x, ours.x, atol=1e-5)
    for name in ("finish", "push"):
        np.testing.assert_allclose(theirs.multipliers[name], ours.multipliers[name], atol=1e-4)
    infeasible = out_of_reach().build(backend=backend).solve()
    assert infeasible.status != "solved" and infeasible.violations


@needs_rivals
@pytest.mark.parametrize("backend", ["ipopt", "fatrop"])
def test_other_back_ends_neither_compile_nor_build_the_core(backend, monkeypatch):
    def refuse(*_):
        raise AssertionError("asked for machine code")

    ocp, x, u = rest_to_rest()
    ours = ocp.build().solve()
    monkeypatch.setattr("trisweep.ocp.solve.native_backend.compile_function", refuse)
    monkeypatch.setattr("trisweep.ocp.solve.native_backend.core", None)
    solver = ocp.build(backend=backend)
    first, second = solver.solve(), solver.solve(guess=ours)
    assert first.solved and second.solved and first.statistics.build_seconds > 0
    np.testing.assert_allclose(second.x, ours.x, atol=1e-6)
    short = solver.solve(settings=Settings(iterations=0))
    assert not short.solved and short.statistics.iterations == 0


@needs_rivals
def test_a_problem_that_a_back_end_does_not_take_is_refused_with_its_reason():
    with pytest.raises(ProblemError, match=r"the backend 'fatrop' refuses this problem: .*number_of_eq_constraints"):
        contradiction().build(backend="fatrop").solve()
