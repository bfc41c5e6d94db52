"""Stating a problem: typical mistakes, each answered with a sentence that says what to change."""

import casadi as ca
import numpy as np
import pytest
from ocp_problems import integrator_chain, rest_to_rest
from trisweep.ocp import Free, Problem, ProblemError, Settings


def mistake(sentence):
    return pytest.raises(ProblemError, match=sentence)


def test_mistakes_of_the_problem_itself():
    with mistake("steps is 0, expected a whole number of at least 1"):
        Problem(steps=0, step=0.1)
    with mistake("integrator is 'rk5', expected one of 'euler'"):
        Problem(steps=5, step=0.1, integrator="rk5")
    with mistake("step and duration are both given"):
        Problem(steps=5, step=0.1, duration=1.0)
    with mistake("step is -1, expected a positive number of seconds"):
        Problem(steps=5, step=-1)
    with mistake(r"duration is Free.*, expected 0 < lower <= guess <= upper"):
        Problem(steps=5, duration=Free(guess=1.0, lower=2.0))


def test_mistakes_of_variables():
    ocp = Problem(steps=5, step=0.1)
    ocp.state("q", 2)
    with mistake("state 'q': the name is taken"):
        ocp.state("q")
    with mistake("control: name is '2nd', expected an identifier"):
        ocp.control("2nd")
    with mistake("state 'v': size is 0, expected a whole number of at least 1"):
        ocp.state("v", 0)
    with mistake(r"control 'u': lower\[1\] is 3 and upper\[1\] is 2, expected lower <= upper"):
        ocp.control("u", 2, lower=[0, 3], upper=2)
    with mistake("control 'u': upper has NaN"):
        ocp.control("u", upper=np.nan)
    with mistake(r"control 'u': lower has shape \(3,\), expected one number or \(2,\)"):
        ocp.control("u", 2, lower=[1, 2, 3])


def test_mistakes_of_dynamics():
    ocp = Problem(steps=5, step=0.1)
    q, u = ocp.state("q", 2), ocp.control("u")
    with mistake("derivative: there is no state 'p'; the states are q"):
        ocp.derivative(p=u)
    with mistake("derivative: 'q' has 2 entries, but its derivative has 1"):
        ocp.derivative(q=u)
    with mistake("build: state q has no dynamics; say them with derivative or next"):
        ocp.build()
    ocp.derivative(q=ca.vertcat(q[1], u))
    with mistake("derivative: state 'q' has dynamics already"):
        ocp.derivative(q=ca.vertcat(q[1], u))
    with mistake("next: the dynamics are said by derivative already"):
        ocp.next(q=q)
    with mistake("neither step nor duration is given"):
        bare = Problem(steps=5)
        x = bare.state("x")
        bare.derivative(x=x)
        bare.build()
    with mistake("the problem has no state"):
        Problem(steps=5, step=0.1).build()


def test_mistakes_of_cost_and_constraints():
    ocp, x, u = rest_to_rest()
    with mistake(r"'cost 2' has shape \(2, 1\), expected one number"):
        ocp.minimize(x)
    with mistake("there is a constraint 'start' already"):
        ocp.constrain("start", x, equals=0)
    with mistake("'a' has no bounds, expected equals, or lower and/or upper"):
        ocp.constrain("a", x)
    with mistake("'a' has both equals and bounds"):
        ocp.constrain("a", x, equals=0, upper=1)
    with mistake("'a' has 2 rows, but equals has 3"):
        ocp.constrain("a", x, equals=[1, 2, 3])
    with mistake("'a' uses the control u at stage 20, the last, where there is none"):
        ocp.constrain("a", u, upper=1, at="end")
    with mistake("'a': at is 'finish', expected one of 'all', 'steps', 'start', 'end', an index or a slice"):
        ocp.constrain("a", x, upper=1, at="finish")
    with mistake("'a': at is 21, expected a stage from 0 to 20"):
        ocp.constrain("a", x, upper=1, at=21)
    with mistake("names no stage of 0 to 20"):
        ocp.constrain("a", x, upper=1, at=slice(5, 5))
    with mistake("'a' uses the symbol 'y', which is none of this problem's: x, u"):
        ocp.constrain("a", ca.SX.sym("y"), upper=1)
    with mistake("'a' is a str, expected numbers or CasADi SX"):
        ocp.constrain("a", "x", upper=1)
    with mistake("expected finite numbers"):
        ocp.constrain("a", x, equals=np.nan)


def test_mistakes_of_build_and_solve():
    ocp, x, u = integrator_chain()
    goal = ocp.parameter("goal", 2)
    ocp.minimize(u**2)
    ocp.constrain("start", x, equals=0, at="start")
    ocp.constrain("finish", x, equals=goal, at="end")
    with mistake("hessian is 'bfgs', expected one of 'exact'"):
        ocp.build(hessian="bfgs")
    with mistake("backend is 'snopt'"):
        ocp.build(backend="snopt")
    solver = ocp.build()
    with mistake(r"parameter 'goal' has no value; give it as solve\(goal=...\)"):
        solver.solve()
    with mistake("there is no parameter 'target'; the parameters are goal"):
        solver.solve(goal=[1, 0], target=3)
    with mistake(r"'goal' has shape \(3,\), expected \(2,\)"):
        solver.solve(goal=[1, 2, 3])
    with mistake("'goal' has an entry that is not finite"):
        solver.solve(goal=[np.nan, 0])
    with mistake("guess for 'q', but the variables are u, x"):
        solver.solve(goal=[1, 0], guess={"q": 0})
    with mistake(r"'x' has shape \(7, 2\), expected \(2,\) or \(21, 2\)"):
        solver.solve(goal=[1, 0], guess={"x": np.zeros((7, 2))})
    with mistake("warm_start is not a Solution of this problem"):
        solver.solve(goal=[1, 0], warm_start=rest_to_rest()[0].build().solve())
    with mistake("tolerance is -1, expected a positive number"):
        Settings(tolerance=-1)
    assert solver.solve(goal=[1, 0]).status == "solved"


def test_guesses_in_every_form():
    ocp, x, u = rest_to_rest()
    solver = ocp.build()
    first = solver.solve()
    trajectory = np.linspace([0, 0], [1, 0], 21)
    for guess in (
        None,
        {"x": [0.5, 0.0]},
        {"x": trajectory, "u": 0.1},
        {"u": np.zeros((20, 1))},
        first,
        {"u": np.zeros(20)},
    ):
        np.testing.assert_allclose(solver.solve(guess=guess).x, first.x, atol=1e-9)
