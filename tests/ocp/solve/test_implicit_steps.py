"""Steps that an integrator solves by iterations: "solved" is said only where their equations hold."""

import pickle
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
import trisweep as ts
from scipy.optimize import root
from support.ocp_problems import swing_up
from trisweep.dynamics import ModelBuilder
from trisweep.ocp.judge import unsolved

SENTENCE = "the equation of 'implicit midpoint' at stage 0 of 'motion' is not solved there"
STIFF = {
    "-x^3": lambda x, m: -(x**3),
    "-x^5": lambda x, m: -(x**5),
    "exp": lambda x, m: -m.exp(x),
    "atan": lambda x, m: -m.arctan(10 * x),
    "tanh": lambda x, m: -5 * m.tanh(20 * x),
    "sqrt": lambda x, m: -m.sqrt(x**2 + 1e-4),
    "logistic": lambda x, m: 5 * x * (1 - x),
}


def stiff(rate, step, first=None, steps=3, name="motion"):
    """From `first`, where it is given, or from what is measured, to nearly zero."""
    ocp = ts.Problem(steps=steps, step=step, integrator="implicit midpoint", name=name)
    x, u = ocp.state("x"), ocp.control("u", lower=-5, upper=5)
    ocp.derivative(x=u + rate(x, ca))
    if first is not None:
        ocp.constrain("start", x, equals=first, at="start")
    ocp.minimize(u**2 + x**2)
    ocp.minimize(10 * (x - 0.1) ** 2, at="end")
    return ocp


def missed(x, u, rate, step):
    """What is left of the midpoint rule (steps,)."""
    return np.abs(np.diff(x) - step * (u + rate((x[1:] + x[:-1]) / 2, np)))


def test_a_stiff_step_that_explicit_guesses_do_not_lead_to():
    solution = stiff(STIFF["-x^3"], 0.3, 5.0).build().solve(guess={"x": 5.0})
    assert solution.solved and solution.objective == pytest.approx(25.015, abs=1e-3)
    assert missed(solution.x.ravel(), solution.u.ravel(), STIFF["-x^3"], 0.3).max() < 1e-8


@pytest.mark.parametrize("name", STIFF)
def test_what_is_solved_follows_the_rule(name):
    rate, said = STIFF[name], []
    for step in (0.05, 0.3, 1.0, 3.0):
        for first in (0.5, 2.0, 5.0):
            solution = stiff(rate, step, first).build().solve(guess={"x": first}, settings=ts.Settings(iterations=200))
            said.append(str(solution.status))
            x, u = solution.x.ravel(), solution.u.ravel()
            off = missed(x, u, rate, step).max()
            if off > 1e-6 * (np.abs(x).max() + step * np.abs(u).max()):
                assert not solution.solved and solution.check().dynamics > 0.5 * off
            if solution.solved:
                for here, there, push in zip(x, x[1:], u):
                    rule = root(lambda y, x=here, u=push: y - x - step * (u + rate((x + y) / 2, np)), there)
                    assert rule.success and rule.x[0] == pytest.approx(there, abs=1e-6, rel=1e-6)
    assert said.count("solved") >= 3


def test_a_step_that_is_not_solved_is_said_by_all_who_solve():
    ocp = stiff(STIFF["-x^5"], 0.3)
    ocp.start("x")
    solver = ocp.build()
    good = solver.solve(guess={"x": 0.1}, start={"x": 0.5})
    bad = solver.solve(guess={"x": 5.0}, start={"x": 5.0})
    assert good.solved and not good.doubt
    assert bad.status == "stalled" and SENTENCE in bad.doubt and "smaller steps" in bad.advice
    assert bad.residual.dynamics > 0.1 and bad.check().dynamics == pytest.approx(bad.residual.dynamics)
    many = solver.solve_many(guess={"x": [[[0.1]], [[5.0]]]}, start={"x": [[0.5], [5.0]]}, progress=False)
    assert [str(status) for status in many.statuses] == ["solved", "stalled"]
    assert many[1].doubt == bad.doubt and many.residuals[1] == pytest.approx(bad.residual.worst)
    controller = solver.controller(iterations=20, guess={"x": 5.0}, shift=False)
    assert controller.feedback(x=5.0).status == "stalled"
    assert controller.plan.status == "stalled" and SENTENCE in controller.plan.doubt
    for _ in range(3):
        controller.prepare()
        controller.feedback(x=5.0)
    assert controller.plan.status == "stalled" and SENTENCE in controller.plan.doubt
    controller.restart({"x": 0.1})
    assert controller.feedback(x=0.5).status == "solved"
    there = pickle.loads(pickle.dumps(solver)).solve(guess={"x": 5.0}, start={"x": 5.0})
    assert there.status == "stalled" and there.doubt == bad.doubt


def test_another_back_end_is_judged_too():
    solution = stiff(STIFF["-x^5"], 0.3, 5.0).build(backend="ipopt").solve(guess={"x": 5.0})
    assert solution.status == "stalled" and SENTENCE in solution.doubt


def test_phases_durations_and_parameters_of_stages(monkeypatch):
    """What is left at any point, by all three ways, against the rule written down again."""
    rng = np.random.default_rng(0)
    trunk = ts.Problem(steps=3, duration=ts.Free(1.0, 0.5, 2.0), integrator="implicit midpoint", name="trunk")
    x, u = trunk.state("x"), trunk.control("u")
    stiffness = trunk.parameter("stiffness", per_stage=True)
    trunk.derivative(x=u - stiffness * x**5)
    trunk.constrain("start", x, equals=0.5, at="start")
    trunk.minimize(u**2)
    leaves = [stiff(STIFF["-x^5"], step, steps=2, name=name) for step, name in ((0.3, "left"), (0.1, "right"))]
    for leaf in leaves:
        trunk.then(leaf)
    solver = trunk.build()
    values = {"trunk": rng.uniform(1, 2, (4, 1))}
    solution = solver.solve(guess={"x": 0.3}, stiffness=values)
    assert solution.solved
    backend, conditions, found = solver.backend, solver.plain_conditions, []
    moves = 3 * rng.normal(size=(3, len(solution.point.z)))
    points = [replace(solution.point, z=solution.point.z + move) for move in moves]
    for point in points:
        z = point.z
        duration = solver.layout.phases[0].coordinates(z)[solver.layout.phases[0].states[0].name][:, 0]
        rules = []
        for phase in solver.layout.phases:
            parts = phase.coordinates(z)
            steps = duration[:-1] / 3 if phase.name == "trunk" else [{"left": 0.3, "right": 0.1}[phase.name]] * 2
            strength = values["trunk"][:3, 0] if phase.name == "trunk" else [1.0, 1.0]
            for here, push, h, k in zip(parts["x"][:-1, 0], parts["u"][:, 0], steps, strength):
                y = here
                for _ in range(5):
                    middle = (here + y) / 2
                    y -= (y - here - h * (push - k * middle**5)) / (1 + h * k * 2.5 * middle**4)
                terms = y - here, h * (push - k * ((here + y) / 2) ** 5)
                rules.append(abs(terms[0] - terms[1]))
        left = backend._unsolved.at(point)
        found.append(left)
        assert left.error == pytest.approx(max(rules), rel=1e-6, abs=1e-12)
        plain = conditions._unsolved.at(point)
        assert plain.where == left.where and plain.relative == pytest.approx(left.relative, rel=1e-6)
        assert backend.judge(point, solution.limit_vectors).residual.dynamics >= left.error
    rows = [np.stack([getattr(p, n) for p in points]) for n in ("z", "shared_parameters", "stage_parameters")]
    for at_once in (unsolved.AT_ONCE, 1):
        monkeypatch.setattr(unsolved, "AT_ONCE", at_once)
        error, relative = backend._unsolved.of_many(*rows)
        np.testing.assert_allclose(error, [left.error for left in found], rtol=1e-12)
        np.testing.assert_allclose(relative, [left.relative for left in found], rtol=1e-12)


def test_a_number_that_is_none_is_no_solution():
    solver = stiff(STIFF["exp"], 0.3, 5.0).build()
    solution = solver.solve(guess={"x": 5.0}, settings=ts.Settings(iterations=3))
    point = replace(solution.point, z=np.full_like(solution.point.z, np.nan))
    assert np.isnan(solver.backend._unsolved.at(point).relative)
    assert not solver.backend.error(point, solution.limit_vectors) <= 1.0


def test_what_is_not_stiff_is_solved_to_rounding():
    solution = swing_up("implicit midpoint").build().solve()
    assert solution.solved and solution.objective == pytest.approx(7.644792501450937, rel=1e-9)
    assert solution.solver.backend._unsolved.at(solution.point).relative < 1e-14
    assert solution.statistics.iterations == 13


def test_a_body_that_tumbles_is_solved_to_rounding():
    body = ModelBuilder("book", gravity=(0, 0, 0))
    body.add("book", joint="spherical", mass=1.0, inertia=np.diag([0.3, 0.5, 0.9]))
    model = body.build()
    ocp = ts.Problem(steps=10, step=0.1, integrator="implicit midpoint")
    q, v, torque = ocp.state("q", on=model), ocp.state("v", 3), ocp.control("torque", 3)
    ocp.derivative(q=v, v=model.forward_dynamics(q, v, torque))
    ocp.constrain("start", q, equals=model.neutral(), at="start")
    ocp.constrain("spin", v, equals=[0.4, 2.0, 0.3], at="start")
    ocp.minimize(ts.sumsqr(torque) + ts.sumsqr(v))
    tumbling = ocp.build().solve()
    assert tumbling.solved and tumbling.solver.backend._unsolved.at(tumbling.point).relative < 1e-14


def test_other_integrators_pay_nothing():
    solver = swing_up("rk4").build()
    assert not solver.backend.inexact and not any(solver.backend.code[2])
    assert solver.backend._unsolved.at(solver.solve().point) is None
