"""Statements, solves and settings made of junk: a sentence, or a right answer, and objects that work afterwards."""

from dataclasses import fields
from itertools import cycle

import casadi as ca
import numpy as np
import pytest
from support.junk import fuzz, picker
from support.ocp_problems import rest_to_rest, swing_up
from trisweep.ocp import Free, Problem, ProblemError, Settings, Soft, closed_loop

pytestmark = pytest.mark.usefixtures("quiet")
pick = picker(share=0.5)


def state_something(rng):
    """A problem by a few verbs, each of them with an argument or two that may be anything."""
    length = {"step": pick(rng, 0.1, 1, None)} if rng.random() < 0.5 else {}
    if rng.random() < 0.3:
        length["duration"] = pick(rng, 1.0, Free(1.0)) if rng.random() < 0.5 else Free(pick(rng, 1.0), pick(rng, 0.1))
    ocp = Problem(steps=pick(rng, 3, 5, share=0.2), integrator=pick(rng, "euler", "rk4", share=0.2), **length)
    x = ocp.state(
        pick(rng, "x", share=0.2), pick(rng, 2, share=0.3), lower=pick(rng, None, -1), upper=pick(rng, None, 1)
    )
    u = ocp.control(pick(rng, "u", share=0.2), pick(rng, 1, share=0.3), lower=pick(rng, None, share=0.3))
    p = ocp.parameter(pick(rng, "p", share=0.2), pick(rng, 1, share=0.3))
    verb = int(rng.integers(6))
    if verb == 0:
        ocp.derivative(x=pick(rng, ca.vertcat(x[-1], u)))
    elif verb == 1:
        ocp.next(x=pick(rng, x, 2 * x))
    elif verb == 2:
        ocp.minimize(pick(rng, u**2, p * u), at=pick(rng, "steps", 1), name=pick(rng, None, "cost"))
    elif verb == 3:
        sides = {side: pick(rng, 0, [1, 2]) for side in ("equals", "lower", "upper") if rng.random() < 0.5}
        if rng.random() < 0.3:
            sides["soft"] = pick(rng, 1.0, Soft(pick(rng, 1.0), pick(rng, 2.0)))
        ocp.constrain(pick(rng, "c"), pick(rng, x, x[0] * p), at=pick(rng, "all", "end", 2), **sides)
    elif verb == 4:
        ocp.then(
            pick(rng, Problem(steps=2), ocp), choose=pick(rng, (), ["x"]), **{pick(rng, "x", share=0): pick(rng, x)}
        )
    else:
        ocp.state("q", on=pick(rng))
    if rng.random() < 0.02:
        ocp.build(hessian=pick(rng, "exact", share=0.9), backend=pick(rng, "native", share=0.9))


def test_statements():
    fuzz(2500, 1, state_something)


@pytest.fixture(scope="module")
def solver():
    ocp, x, u = rest_to_rest()
    p = ocp.parameter("p")
    each = ocp.parameter("each", 2, per_stage=True)
    ocp.constrain("push", u, upper=5 + 0 * 1, at="steps")
    ocp.constrain("beside", x[0] - p - each[0], upper=50, at="end")
    return ocp.build()


def test_solves(solver):
    expected = solver.solve(p=0.0, each=0.0)
    assert expected.status == "solved"

    def attempt(rng):
        given = {"p": pick(rng, 0.0, share=0.4), "each": pick(rng, 0.0, np.zeros((21, 2)), share=0.4)}
        if rng.random() < 0.1:
            given[str(pick(rng, "q", share=0))] = pick(rng)
        guess = pick(
            rng, None, {"x": pick(rng)}, {"u": pick(rng), "x": np.zeros(2)}, expected, {"motion": pick(rng)}, share=0.2
        )
        warm = pick(rng, None, expected, share=0.1)
        settings = pick(rng, None, Settings(iterations=20), share=0.1)
        callback = pick(rng, None, share=0.05)
        start = pick(rng, None, share=0.05)
        solution = solver.solve(guess, warm, start, settings, callback, **given)
        if solution.solved:
            assert max(solution.check().worst, 0) <= 1e-6
            np.testing.assert_allclose(solution.objective, expected.objective, rtol=1e-6)

    fuzz(1500, 2, attempt)
    np.testing.assert_array_equal(solver.solve(p=0.0, each=0.0).x, expected.x)


def test_loops():
    ocp = Problem(steps=5, step=0.1)
    x, u = ocp.state("x"), ocp.control("u", lower=-1.0, upper=1.0)
    goal = ocp.parameter("goal")
    ocp.next(x=x + 0.1 * u)
    ocp.minimize((x - goal) ** 2 + 0.01 * u**2)
    ocp.start("x")
    solver = ocp.build()
    controller = solver.controller(shift=False)
    expected = controller.step({"x": 0.3}, goal=0.2)

    def plant(states, controls, period):
        return {"x": states["x"] + period * controls["u"]}

    def attempt(rng):
        if rng.random() < 0.2:
            options = {"seconds": 0.1, "iterations": 2, "barrier": 1e-6, "shift": True, "guess": None}
            solver.controller(**{name: pick(rng, good) for name, good in options.items() if rng.random() < 0.4})
        elif rng.random() < 0.7:
            command = controller.step(pick(rng, {"x": pick(rng, 0.3)}), goal=pick(rng, 0.2))
            assert np.isfinite(command.u).all() and abs(command.u[0]) <= 1 + 1e-7
        else:
            start, given = pick(rng, {"x": pick(rng, 0.3)}), pick(rng, {"goal": pick(rng, 0.2)})
            more = {"delay": pick(rng, 1), "noise": pick(rng, {"x": pick(rng, 0.1)}), "seed": 1}
            given = {} if callable(given) else given  # what a user's function raises is his
            body = pick(rng, plant)
            body = plant if callable(body) else body
            run = closed_loop(solver.controller(), body, pick(rng, 0.3), start, given, **more)
            assert run.status in ("finished", "diverged") and np.isfinite(run.x).all()

    fuzz(1000, 4, attempt)
    controller.restart()
    np.testing.assert_array_equal(controller.step({"x": 0.3}, goal=0.2).u, expected.u)


def test_settings():
    good = {  # of each some that are allowed, the least and the most among them
        "tolerance": (1e-8, 1e-12, 0.1, 1e-300),
        "iterations": (30, 0, 1, 300),
        "seconds": (10.0, 1e-9, 1e300),
        "initial_barrier": (0.1, 1e-12, 1e10),
        "barrier": ("adaptive", "monotone"),
        "curvature": ("damped", "shifted"),
        "patience": (0, 1, 3, 1000),
        "threads": (1, 2),
        "portfolio": (False, True),
        "log": (False,),
    }
    assert set(good) == {each.name for each in fields(Settings)}
    solvers = rest_to_rest()[0].build(), swing_up("euler").build()
    made = []

    def attempt(rng):
        chosen = {name: pick(rng, *good[name], share=0.2) for name in good if rng.random() < 0.5}
        settings = Settings(**chosen)
        if settings.threads <= 2 and not settings.log and len(made) < 400:
            made.append(settings)

    fuzz(2500, 3, attempt)
    assert len(made) > 200
    for settings, solver in zip(made, cycle(solvers)):
        solution = solver.solve(settings=settings)
        assert solution.statistics.iterations <= min(settings.iterations, 1000)
        if solution.solved and settings.tolerance <= 1e-6:
            assert solution.residual.worst < 1e-3
        assert solution.statistics.iterations or not solution.solved


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"initial_barrier": np.inf}, "initial_barrier is inf, expected a positive number of at most 1e\\+10"),
        ({"initial_barrier": np.nan}, "initial_barrier is nan"),
        ({"tolerance": np.inf}, "tolerance is inf, expected a positive number of at most 0.1"),
        ({"tolerance": True}, "tolerance is True"),
        ({"tolerance": "1e-8"}, "tolerance is '1e-8'"),
        ({"iterations": 2**31}, "iterations is 2147483648, expected a number from 0 to 1000000000"),
        ({"iterations": 3.0}, "iterations is 3.0"),
        ({"seconds": -np.inf}, "seconds is -inf"),
        ({"seconds": None}, "seconds is None"),
    ],
)
def test_every_setting_is_checked(wrong, sentence):
    with pytest.raises(ProblemError, match=sentence):
        Settings(**wrong)


def test_the_core_refuses_settings_that_would_never_end():
    from trisweep.native import core

    ocp, _, _ = rest_to_rest()
    solver = ocp.build()
    expected = solver.solve()
    for name, value in [("initial_barrier", np.inf), ("tolerance", np.inf), ("tolerance", np.nan), ("iterations", -1)]:
        settings = core.Settings()
        setattr(settings, name, value)
        with pytest.raises(ValueError, match="out of its range"):
            solver.backend.core.solve(settings, None)
    np.testing.assert_array_equal(solver.solve().x, expected.x)


def test_a_statement_is_closed_by_build():
    ocp, x, u = rest_to_rest()
    solver = ocp.build()
    before = solver.solve()
    more = {
        "state": lambda: ocp.state("more"),
        "control": lambda: ocp.control("more"),
        "parameter": lambda: ocp.parameter("more"),
        "minimize": lambda: ocp.minimize(x[0] ** 2),
        "constrain": lambda: ocp.constrain("more", x, lower=0),
        "derivative": lambda: ocp.derivative(x=x),
        "then": lambda: ocp.then(Problem(steps=2)),
    }
    for verb, add in more.items():
        with pytest.raises(ProblemError, match=f"{verb}: 'motion' is built, and its solver would not know"):
            add()
    np.testing.assert_array_equal(solver.solve().x, before.x)
    np.testing.assert_array_equal(ocp.build().solve().x, before.x)


def test_a_verb_that_is_refused_leaves_the_statement_as_it_was():
    """Who corrects a line of a notebook says it again, and is not told that half of it was said before."""
    ocp = Problem(steps=3, step=0.1)
    x, y = ocp.state("x"), ocp.state("y")
    u = ocp.control("u")
    refused = [
        lambda: ocp.state("z", soft="dear", lower=0),
        lambda: ocp.control("z", soft=[1, 2, 3], lower=0),
        lambda: ocp.start("x", "nowhere"),
        lambda: ocp.next(x=x, y="junk"),
        lambda: ocp.derivative(x=u, y=ca.SX.sym("foreign")),
        lambda: ocp.minimize(u**2, at=99),
        lambda: ocp.constrain("row", x, lower=0, soft=-1),
        lambda: ocp.then(Problem(steps=2), choose=["nothing"]),
    ]
    before = str(ocp)
    for verb in refused:
        with pytest.raises(ProblemError):
            verb()
        assert str(ocp) == before
    assert not (ocp.started or ocp.dynamics or ocp.terms or ocp.links or ocp.discrete)
    ocp.derivative(x=u, y=x)
    ocp.start("x", "y")
    ocp.minimize(u**2 + y**2)
    assert ocp.build().solve(start={"x": 1.0, "y": 0.0}).solved


def test_names_of_the_dynamics_are_ours():
    ocp, x, u = rest_to_rest()
    with pytest.raises(ProblemError, match="'dynamics of x' is what the rows of dynamics are called"):
        ocp.constrain("dynamics of x", x[0], upper=9)
    ocp.constrain("dynamics", x[0], upper=9)
    assert {"dynamics", "dynamics of x"} <= set(ocp.build().solve().constraints)
