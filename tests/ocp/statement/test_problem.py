"""Stating a problem: typical mistakes, each answered with a sentence that says what to change."""

import casadi as ca
import numpy as np
import pytest
from support.ocp_problems import integrator_chain, rest_to_rest, to_a_goal
from trisweep.dynamics import ModelError, weld
from trisweep.ocp import Free, Problem, ProblemError, Settings
from trisweep.problems.robot import robot


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


def test_mistakes_with_expressions():
    ocp, x, u = rest_to_rest()
    with mistake("'a' is a MX, expected numbers or CasADi SX"):
        ocp.constrain("a", ca.MX.sym("x"), upper=1)
    with mistake("'a' is a list, expected numbers or CasADi SX; vertcat makes one of several"):
        ocp.constrain("a", [x[0], u], upper=1)
    with mistake("'cost 2' is a NoneType, expected numbers or CasADi SX"):
        ocp.minimize(None)
    for comparison in (x <= 1, x[0] == 1, x < 1):
        with mistake("'a' is a comparison, expected the expression alone, with equals=, lower= or upper="):
            ocp.constrain("a", comparison)
    with mistake("'a': lower is the expression u, expected numbers or parameters; constrain the difference instead"):
        ocp.constrain("a", x, lower=u)
    with mistake("control 'w': upper is the expression x_0, expected numbers"):
        ocp.control("w", upper=x[0])
    with mistake("name is 3, expected a text"):
        ocp.constrain(3, x, upper=1)
    with mistake(r"'cost 2' has shape \(2, 1\), expected one number; use sumsqr or dot"):
        ocp.minimize(x**2)
    assert len(ocp.terms) == len(rest_to_rest()[0].terms)


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_numpy_on_symbols_is_what_casadi_makes_of_it():
    ocp, x, u = integrator_chain()
    ocp.minimize(np.sum(u**2) + 1e-3 * np.sin(x[0]) ** 2)
    ocp.constrain("start", np.array([x[0], x[1]]), equals=0, at="start")
    ocp.constrain("finish", np.hstack([x]), equals=np.array([[1.0], [0.0]]), at="end")
    other, y, w = integrator_chain()
    other.minimize(ca.sumsqr(w) + 1e-3 * ca.sin(y[0]) ** 2)
    other.constrain("start", y, equals=0, at="start")
    other.constrain("finish", y, equals=[1, 0], at="end")
    np.testing.assert_allclose(ocp.build().solve().x, other.build().solve().x, atol=1e-9)


def test_dynamics_of_a_robot_forgotten_or_taken_with_their_forces():
    arm = robot("iiwa14")
    ocp = Problem(steps=5, step=0.1)
    q, v, tau = ocp.state("q", 7), ocp.state("v", 7), ocp.control("tau", 7)
    with mistake("'derivative of v' is a tuple, expected numbers or CasADi SX"):
        ocp.derivative(v=arm.forward_dynamics(q, v, tau, constraints=[weld("iiwa_flange")]))
    with pytest.raises(ModelError, match="expected a list of constraints"):
        arm.forward_dynamics(q, v, tau, constraints=weld("iiwa_flange"))
    with pytest.raises(ModelError, match=r"v has shape \(14, 1\), expected \(7,\)"):
        arm.forward_dynamics(q, ca.vertcat(q, v), tau)
    ocp.derivative(q=v)
    with mistake("build: state v has no dynamics; say them with derivative or next"):
        ocp.build()


@pytest.mark.parametrize("forgotten", ["start", "finish"])
def test_a_forgotten_at_is_hinted_at(forgotten):
    ocp, x, u = integrator_chain()
    ocp.minimize(u**2)
    for name, value, at in (("start", [0, 0], "start"), ("finish", [1, 0], "end")):
        ocp.constrain(name, x, equals=value, **({} if name == forgotten else {"at": at}))
    solution = ocp.build().solve()
    assert solution.status == "infeasible"
    assert f"'{forgotten}' is demanded on every stage: give at= if it is meant for one" in solution.advice
    assert solution.advice in str(solution)


def test_no_at_is_hinted_at_where_none_is_missing():
    ocp, x, u = rest_to_rest()
    ocp.constrain("far", x[0], lower=5, at=10)
    ocp.constrain("near", x[0], upper=4)
    solution = ocp.build().solve()
    assert solution.status == "infeasible" and "give at=" not in solution.advice


def test_mistakes_of_build_and_solve():
    ocp = to_a_goal()
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
    with mistake(r"'x' has shape \(2, 21\), expected \(2,\) or \(21, 2\); it is transposed"):
        solver.solve(goal=[1, 0], guess={"x": np.zeros((2, 21))})
    with mistake(r"'u' has shape \(1, 20\), expected \(1,\) or \(20, 1\); it is transposed"):
        solver.solve(goal=[1, 0], guess={"u": np.zeros((1, 20))})
    with mistake("guess is a ndarray, expected a Solution or a dictionary of x, u"):
        solver.solve(np.zeros((21, 2)), goal=[1, 0])
    with mistake(r"'tolerance' is a setting; give it as solve\(settings=Settings\(tolerance=...\)\)"):
        solver.solve(goal=[1, 0], tolerance=1e-6)
    with mistake(r"settings is \{'tolerance': 1e-06\}, expected Settings\(...\)"):
        solver.solve(goal=[1, 0], settings={"tolerance": 1e-6})
    with mistake("there is no setting 'tol'; the settings are tolerance, iterations"):
        Settings(tol=1e-6)
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
