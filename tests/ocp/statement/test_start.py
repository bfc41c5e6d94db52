"""`ocp.start(...)`: first values that come with every solve, the fixed root of the sweep."""

import casadi as ca
import numpy as np
import pytest
from support.ocp_problems import dive, diver
from support.rivals import needs_rivals
from trisweep.ocp import Free, Problem, ProblemError, Settings

STEPS = 25


def swing(said, free=False, rows=True):
    """A pendulum with limits of speed and torque; its first state by `start`, or by rows of constraints."""
    ocp = Problem(steps=STEPS, integrator="rk4", **({"duration": Free(1.5, 0.5, 3.0)} if free else {"step": 0.06}))
    angle, speed = ocp.state("angle"), ocp.state("speed", lower=-5, upper=5)
    torque = ocp.control("torque", lower=-8, upper=8)
    ocp.derivative(angle=speed, speed=torque - 9.81 * ca.sin(angle))
    ocp.minimize(0.01 * torque**2 + 0.1 * speed**2)
    ocp.minimize(20 * (angle - 2) ** 2 + speed**2, at="end")
    if free:
        ocp.minimize(ocp.free_duration.symbol, at="end")
    if rows:
        ocp.constrain("power", torque * speed, upper=12)
    if said == "start":
        ocp.start("angle", "speed")
    else:
        first = ocp.parameter("first", 2)
        ocp.constrain("first", ca.vertcat(angle, speed), equals=first, at="start")
    return ocp


@pytest.mark.parametrize("hessian", ["exact", "gauss-newton"])
def test_a_start_is_the_same_as_rows_at_the_start(hessian):
    by_start, by_rows = (swing(said).build(hessian) for said in ("start", "rows"))
    rng = np.random.default_rng(3)
    for _ in range(4):
        first = rng.uniform(-2, 2, 2)
        theirs = by_rows.solve(first=first)
        ours = by_start.solve(start={"angle": first[0], "speed": first[1]})
        assert ours.solved and theirs.solved
        assert ours.angle[0, 0] == first[0] and ours.speed[0, 0] == first[1]
        assert ours.objective == pytest.approx(theirs.objective, rel=1e-7)
        np.testing.assert_allclose(ours.torque, theirs.torque, atol=1e-5)
        np.testing.assert_allclose(ours.gains, theirs.gains, atol=1e-4)
        assert ours.check().worst < 1e-6 and "first" not in ours.constraints


@needs_rivals
@pytest.mark.parametrize("free", [False, True])
def test_a_start_reaches_ipopts_optimum(free):
    ocp = swing("start", free)
    solver, ipopt = ocp.build(), ocp.build(backend="ipopt")
    for angle, speed in ((0.0, 0.0), (-1.0, 3.0), (3.0, -4.9)):
        start = {"angle": angle, "speed": speed}
        ours, theirs = solver.solve(start=start), ipopt.solve(start=start)
        assert ours.solved and theirs.solved
        assert ours.objective == pytest.approx(theirs.objective, rel=1e-7)
        np.testing.assert_allclose(ours.speed, theirs.speed, atol=1e-5)


def test_limits_of_what_is_given_are_not_demanded_at_the_first_stage():
    """A measured speed beyond its limit: the motion comes back within it as soon as it can."""
    solver = swing("start", rows=False).build()
    solution = solver.solve(start={"angle": 1.0, "speed": 5.3})
    assert solution.solved and solution.speed[0, 0] == 5.3 and solution.speed[1:].max() <= 5 + 1e-7
    by_rows = swing("rows", rows=False).build()
    same = by_rows.solve(first=[1.0, 5.3])
    assert same.solved and same.objective == pytest.approx(solution.objective, rel=1e-7)
    outside = by_rows.solve(first=[1.0, 15.0])
    assert outside.status == "infeasible" and {v.name for v in outside.violations} & {"first", "dynamics of speed"}


def test_some_states_may_be_given_and_others_found():
    ocp = Problem(steps=STEPS, step=0.1)
    x, v, u = ocp.state("x"), ocp.state("v", lower=-2, upper=2), ocp.control("u")
    ocp.derivative(x=v, v=u)
    ocp.minimize(u**2 + 0.01 * v**2)
    ocp.constrain("there", x, equals=1, at="end")
    ocp.start("x")
    solution = ocp.build().solve(start={"x": 0.25})
    assert solution.solved and solution.x[0, 0] == 0.25
    np.testing.assert_allclose(solution.u, 0, atol=1e-2)  # the speed that it needs is its own choice
    assert solution.v[0, 0] == pytest.approx(0.3, abs=0.05)
    reference = ocp.build(backend="ipopt").solve(start={"x": 0.25})
    np.testing.assert_allclose(solution.v, reference.v, atol=1e-6)


def test_a_warm_start_takes_the_new_first_values():
    solver = swing("start").build()
    first = solver.solve(start={"angle": 0.0, "speed": 0.0})
    start = {"angle": first.angle[1, 0] + 1e-3, "speed": first.speed[1, 0]}
    warm, cold = solver.solve(warm_start=first.shifted(), start=start), solver.solve(start=start)
    assert warm.solved and warm.angle[0, 0] == start["angle"]
    assert warm.objective == pytest.approx(cold.objective, rel=1e-7)
    assert warm.statistics.iterations < cold.statistics.iterations


def test_a_configuration_may_be_given():
    model = diver()
    by_rows = dive(model)
    solution = by_rows.build().solve()
    by_start = dive(model)
    by_start.terms = [term for term in by_start.terms if term.stages != (0,)]
    names = [v.name for v in by_start.states]
    by_start.start(*names)
    ours = by_start.build().solve(start={name: solution[name][0] for name in names})
    assert solution.solved and ours.solved
    assert ours.objective == pytest.approx(solution.objective, rel=1e-6)
    for name in names:
        np.testing.assert_allclose(ours[name][0], solution[name][0], atol=1e-12)


def test_an_end_that_the_start_rules_out_is_infeasible():
    ocp = Problem(steps=5, step=0.1)
    x, u = ocp.state("x"), ocp.control("u", lower=-1, upper=1)
    ocp.derivative(x=u)
    ocp.minimize(u**2)
    ocp.constrain("there", x, equals=2, at="end")
    ocp.start("x")
    solver = ocp.build()
    far = solver.solve(start={"x": 0.0})
    assert far.status == "infeasible" and far.x[0, 0] == 0.0
    assert solver.solve(start={"x": 1.8}).solved


def test_misuse_gets_a_sentence():
    ocp = swing("start")
    for names, match in (
        ((), "start: no state is named, expected some of angle, speed"),
        (("torque",), "start: there is no state 'torque'; the states are angle, speed"),
        (("angle",), "start: state 'angle' is named twice"),
    ):
        with pytest.raises(ProblemError, match=match):
            ocp.start(*names)
    solver = ocp.build()
    good = {"angle": 0.0, "speed": 0.0}
    for start, match in (
        (None, r"'angle' has no first value; give it as solve\(start="),
        ({"angle": 0.0}, "'speed' has no first value"),
        ({**good, "torque": 1.0}, r"start has 'torque', but start\(...\) named angle, speed"),
        ([0.0, 0.0], "start is a list, expected a dictionary of angle, speed"),
        ({**good, "angle": [1.0, 2.0]}, r"'angle' has shape \(2,\)"),
        ({**good, "angle": np.nan}, "'angle' has an entry that is not finite"),
    ):
        with pytest.raises(ProblemError, match=match):
            solver.solve(start=start)
    assert solver.solve(start=good, settings=Settings(iterations=500)).solved
    with pytest.raises(ProblemError, match="start has 'angle', but no state is named by start"):
        swing("rows").build().solve(start=good, first=[0, 0])
    with pytest.raises(ProblemError, match=r"the backend 'fatrop' takes no start\(...\)"):
        ocp.build(backend="fatrop")
    with pytest.raises(ProblemError, match="solve_many: problem 0: 'speed' has no first value"):
        solver.solve_many(start={"angle": [0.1, 0.2]})
    before, after = swing("rows"), Problem(steps=2, step=0.1, name="after")
    after.derivative(x=after.state("x"))
    after.start("x")
    before.then(after, x=before.states[0].value)
    with pytest.raises(ProblemError, match="phase 'after': start names x, but the first states"):
        before.build()


@pytest.mark.parametrize("beyond", [1e-9, 1e-8, 1e-6, 1e-3, 0.5])
def test_limits_of_a_state_are_left_out_where_a_row_fixes_it_at_the_start(beyond):
    ocp = Problem(steps=10, step=0.1)
    top = ocp.parameter("top")
    x, v, u = ocp.state("x", 2, lower=-1, upper=top), ocp.state("v", 2), ocp.control("u", 2)
    ocp.derivative(x=v, v=u)
    ocp.minimize(ca.sumsqr(u) + ca.sumsqr(x))
    ocp.constrain("start", ca.vertcat(2 * x[0], v), equals=[2 * (1 + beyond), -6, 0], at="start")
    ocp.constrain("both", x[1] - x[0], equals=-0.5, at="start")
    solution = ocp.build().solve(top=1.0)
    assert solution.solved and solution.x[0, 0] == pytest.approx(1 + beyond, rel=1e-9)
    limits = solution.limits["x"]
    # That which only depends on the first by a row keeps its limits, and so does every other stage.
    assert np.isinf(limits.upper[0, 0]) and limits.upper[0, 1] == 1 and (limits.upper[1:] == 1).all()
