"""Limits that are expressions of parameters, and stages that are listed."""

from inspect import signature

import casadi as ca
import numpy as np
import pytest
from support.rivals import needs_rivals
from trisweep.ocp import Problem, ProblemError, Solver, solve_many
from trisweep.ocp.control.controller import Controller

STEPS = 20


def sprint(parametric, top=1.5, push=3.0, floor=-0.2):
    """A cart to a place and back, with limits of speed, force and place that are numbers or parameters."""
    ocp = Problem(steps=STEPS, step=0.1)
    if parametric:
        top, push = ocp.parameter("top"), ocp.parameter("push", per_stage=True)
        floor = ocp.parameter("floor", per_stage=True)
    p, v = ocp.state("p"), ocp.state("v", lower=-2 * top, upper=top)
    u = ocp.control("u", lower=-push, upper=push)
    ocp.derivative(p=v, v=u)
    ocp.minimize(0.1 * u**2 + (p - ca.sin(v)) ** 2)
    ocp.minimize(1000 * (p - 2) ** 2, at=10)
    ocp.constrain("start", ca.vertcat(p, v), equals=0, at="start")
    ocp.constrain("end", p, equals=0, at="end")
    ocp.constrain("above", p + 0.1 * v, lower=floor, upper=5 * top)
    return ocp


@pytest.mark.parametrize(("top", "push", "floor"), [(1.5, 3.0, -0.2), (0.8, 6.0, -0.05), (2.0, 5.0, -1.0)])
def test_parameters_as_limits_are_numbers_as_limits(top, push, floor):
    ours = sprint(True).build().solve(top=top, push=push, floor=floor)
    expected = sprint(False, top, push, floor).build().solve()
    assert ours.solved and expected.solved
    np.testing.assert_array_equal(ours.point.z, expected.point.z)
    np.testing.assert_array_equal(ours.point.w, expected.point.w)
    np.testing.assert_array_equal(ours.limits["u"].upper, np.full((STEPS, 1), push))
    assert (np.abs(ours.u) > push - 1e-5).any() and (ours.v > top - 1e-5).any()


@needs_rivals
def test_limits_that_differ_from_stage_to_stage_reach_ipopts_optimum(tmp_path):
    ocp, rng = sprint(True), np.random.default_rng(4)
    solver, ipopt = ocp.build(), ocp.build(backend="ipopt")
    for _ in range(3):
        push, floor = rng.uniform(2, 6, STEPS + 1), rng.uniform(-1, -0.1, STEPS + 1)
        given = {"top": rng.uniform(1, 2), "push": push, "floor": floor}
        ours, theirs = solver.solve(**given), ipopt.solve(**given)
        assert ours.solved and theirs.solved
        assert ours.objective == pytest.approx(theirs.objective, rel=1e-6)
        np.testing.assert_allclose(ours.u, theirs.u, atol=1e-4)
        assert (np.abs(ours.u[:, 0]) <= given["push"][:-1] + 1e-8).all()
        np.testing.assert_array_equal(ours.constraints["above"].lower[:, 0], given["floor"])
        assert ours.check().worst < 1e-6
        assert ours.load(ours.save(tmp_path / "limits.npz")).limits["u"].upper[3] == given["push"][3]


def test_wrong_limits_are_named_and_the_solver_stays_usable():
    solver = sprint(True).build()
    with pytest.raises(ProblemError, match=r"limits of 'v': row 0 at stage 0 has lower 2 and upper -1, expected lower"):
        solver.solve(top=-1, push=3, floor=-1)
    push = np.full(STEPS + 1, 3.0)
    push[7] = -1
    with pytest.raises(ProblemError, match="limits of 'u': row 0 at stage 7 has lower 1 and upper -1"):
        solver.solve(top=1, push=push, floor=-1)
    assert solver.solve(top=1.5, push=3, floor=-1).solved


def test_limits_may_use_parameters_alone():
    ocp = Problem(steps=3, step=0.1)
    x, two = ocp.state("x", 2), ocp.parameter("two", 2)
    with pytest.raises(ProblemError, match="control 'u': upper is the expression x_0, expected numbers or parameters"):
        ocp.control("u", upper=x[0])
    with pytest.raises(ProblemError, match=r"control 'u': upper has shape \(2, 1\), expected one number or \(3,\)"):
        ocp.control("u", 3, upper=two)
    with pytest.raises(ProblemError, match="uses the symbol 'other', which is none of this problem's"):
        ocp.control("u", upper=ca.SX.sym("other"))
    u = ocp.control("u", 2, lower=-two, upper=[1.0, np.inf])
    assert np.isnan(ocp.controls[0].limits.numbers[0]).all() and u.shape == (2, 1)


def test_stages_may_be_listed():
    ocp = Problem(steps=20, step=0.1)
    x, u = ocp.state("x"), ocp.control("u")
    ocp.derivative(x=u)
    ocp.minimize(u**2)
    ocp.constrain("gates", x, equals=1, at=[10, -1, 10])
    ocp.constrain("home", x, equals=0, at=(0, 15))
    solution = ocp.build().solve()
    assert solution.solved
    np.testing.assert_allclose(solution.x[[0, 10, 15, 20], 0], [0, 1, 0, 1], atol=1e-8)
    np.testing.assert_array_equal(solution.constraints["gates"].stages, [10, 20])


def test_stages_that_are_none_are_refused():
    ocp = Problem(steps=20, step=0.1)
    x = ocp.state("x")
    for at in ([], [3, 21], [0.5], 1.5, None, ["end"]):
        with pytest.raises(ProblemError, match=r"'wrong': at is .*, (expected|which)"):
            ocp.constrain("wrong", x, equals=1, at=at)


VERBS = Solver.solve, Solver.solve_many, solve_many, Controller.step
WORDS = {name for verb in VERBS for name, each in signature(verb).parameters.items() if each.kind != each.VAR_KEYWORD}


@pytest.mark.parametrize("word", sorted(WORDS))
def test_a_parameter_may_not_be_called_like_a_word_of_solve(word):
    with pytest.raises(ProblemError, match=rf"parameter '{word}': this is a word of solve"):
        Problem(steps=2).parameter(word)
