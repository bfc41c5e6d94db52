"""Motions of several phases: sizes, dynamics and costs of their own, one after another or as a tree."""

import casadi as ca
import numpy as np
import pytest
from support.ocp_problems import rest_to_rest
from support.rivals import needs_rivals
from trisweep.ocp import Free, Problem, ProblemError, Solution
from trisweep.riccati import LQProblem, Stage


def pull_and_coast():
    """Two states and one control until a gate; an impact; then three states and two controls. Both times are free."""
    pull = Problem(steps=20, duration=Free(1.0, 0.2, 3.0), name="pull")
    x, u = pull.state("x", 2), pull.control("u", lower=-3, upper=3)
    pull.derivative(x=ca.vertcat(x[1], u))
    pull.minimize(0.05 * u**2)
    pull.minimize(pull.steps * pull.time_step, at="end")
    pull.constrain("start", x, equals=0, at="start")
    pull.constrain("gate", x[0], equals=1, at="end")
    coast = Problem(steps=15, duration=Free(1.0, 0.2, 3.0), name="coast")
    y, w, goal = coast.state("y", 3), coast.control("w", 2, lower=-1, upper=1), coast.parameter("goal")
    coast.derivative(y=ca.vertcat(y[1], w[0] - 0.1 * y[1], w[1]))
    coast.minimize(0.1 * ca.sumsqr(w))
    coast.minimize(coast.steps * coast.time_step, at="end")
    coast.constrain("goal", y[:2], equals=ca.vertcat(goal, 0), at="end")
    coast.constrain("third", y[2], lower=0.3, at="end")
    pull.then(coast, y=ca.vertcat(x[0], 0.5 * x[1], 0.1))
    return pull


def cart(name, steps):
    phase = Problem(steps=steps, name=name)
    x, u, wind = phase.state("x", 2), phase.control("u"), phase.parameter("wind")
    phase.next(x=ca.vertcat(x[0] + 0.1 * x[1] + 0.005 * (u + wind), x[1] + 0.1 * (u + wind)))
    phase.minimize(0.5 * (x[0] ** 2 + 0.1 * x[1] ** 2 + 0.1 * u**2))
    return phase, x


def two_futures():
    trunk, x = cart("trunk", 10)
    trunk.constrain("start", x, equals=[1, 0], at="start")
    for name in ("left", "right"):
        branch, x = cart(name, 20)
        branch.constrain("rest", x, equals=0, at="end")
        trunk.then(branch)
    return trunk


WIND = {"trunk": 0.0, "left": 2.0, "right": -2.0}


@pytest.fixture(scope="module")
def solver():
    return pull_and_coast().build()


@pytest.fixture(scope="module")
def solution(solver):
    return solver.solve(goal=2.0)


@needs_rivals
@pytest.mark.parametrize("backend", ["ipopt", "fatrop"])
def test_phases_of_their_own_sizes_equal_the_rivals(solution, backend):
    other = pull_and_coast().build(backend=backend).solve(goal=2.0)
    assert solution.solved and other.solved and solution.check().worst < 1e-7
    assert solution.objective == pytest.approx(other.objective, rel=1e-8)
    for name, motion in solution.phases.items():
        for variable, values in motion.trajectories.items():
            np.testing.assert_allclose(values, other.phases[name][variable], atol=1e-5)
        for constraint, values in motion.multipliers.items():
            np.testing.assert_allclose(values, other.phases[name].multipliers[constraint], atol=1e-4)


def test_a_phase_begins_where_the_one_before_ended(solution):
    pull, coast = solution.phases.values()
    assert coast.times[0] == pull.times[-1] == pytest.approx(pull.trajectories["duration"][0, 0])
    assert solution.duration == coast.times[-1] == pytest.approx(pull.duration + coast.duration)
    np.testing.assert_allclose(coast.y[0], [pull.x[-1, 0], 0.5 * pull.x[-1, 1], 0.1], atol=1e-9)
    np.testing.assert_array_equal(solution.y, coast.y)
    assert pull.gains.shape == (20, 1, 3) and coast.gains.shape == (15, 2, 4)


def test_what_several_phases_have_is_asked_of_one(solution):
    with pytest.raises(AttributeError, match=r"'duration' is in several phases"):
        solution.__getattr__("duration")
    with pytest.raises(KeyError, match="is in several phases"):
        solution["duration"]
    with pytest.raises(ProblemError, match=r"phases pull, coast: ask one, .phases\['pull'\]"):
        _ = solution.times
    with pytest.raises(ProblemError, match="no phase 'fly'; the phases are pull, coast"):
        solution.branch("fly")


def test_cutting_a_motion_in_two_changes_nothing():
    whole, _, _ = rest_to_rest()
    first, second = (Problem(steps=n, step=0.1, name=name) for n, name in ((8, "first"), (12, "second")))
    symbols = []
    for phase in (first, second):
        x, u = phase.state("x", 2), phase.control("u")
        phase.derivative(x=ca.vertcat(x[1], u))
        phase.minimize(u**2)
        symbols.append(x)
    first.constrain("start", symbols[0], equals=0, at="start")
    second.constrain("finish", symbols[1], equals=[1, 0], at="end")
    first.then(second)
    one, two = whole.build().solve(), first.build().solve()
    assert two.solved and two.objective == pytest.approx(one.objective, rel=1e-12)
    both = np.vstack([two.phases["first"].x, two.phases["second"].x[1:]])
    np.testing.assert_allclose(both, one.x, atol=1e-9)
    np.testing.assert_allclose(two.phases["second"].gains, one.gains[8:], atol=1e-9)


@needs_rivals
def test_a_tree_equals_the_linear_quadratic_tree_and_ipopt():
    A, B = np.array([[1, 0.1], [0, 1]]), np.array([[0.005], [0.1]])
    step = {"Q": np.diag([1.0, 0.1]), "q": [0, 0], "R": [[0.1]]}
    end = {"Q": np.zeros((2, 2)), "q": [0, 0]}
    stages, begin = [], {}
    for name, steps in (("trunk", 10), ("left", 20), ("right", 20)):
        begin[name] = len(stages)
        for k in range(steps + 1):
            edge = {"parent": len(stages) - 1, "A": A, "B": B, "b": B[:, 0] * WIND[name]}
            if k == 0:
                edge = {} if name == "trunk" else {"parent": 10, "A": np.eye(2), "B": np.zeros((2, 0)), "b": [0, 0]}
            rest = {"Gx": np.eye(2), "g": np.zeros(2)} if k == steps and name != "trunk" else {}
            stages.append(Stage(**(step if k < steps else end), **rest, **edge))
    expected = LQProblem(stages, initial_state=[1.0, 0.0]).solve()
    found = two_futures().build().solve(wind=WIND)
    rival = two_futures().build(backend="ipopt").solve(wind=WIND)
    assert found.solved and found.check().worst < 1e-8
    assert found.objective == pytest.approx(rival.objective, rel=1e-9)
    for name, first in begin.items():
        motion = found.phases[name]
        np.testing.assert_allclose(motion.x, expected.x[first : first + len(motion.x)], atol=1e-8)
        np.testing.assert_allclose(motion.x, rival.phases[name].x, atol=1e-7)
        for constraint, values in found.phases[name].multipliers.items():
            np.testing.assert_allclose(values, rival.phases[name].multipliers[constraint], atol=1e-6)
    assert [motion.name for motion in found.branch()] == ["trunk", "left"]
    assert [motion.name for motion in found.branch("right")] == ["trunk", "right"]


@needs_rivals
def test_a_state_may_be_chosen_anew():
    """A tool's length is free in the second phase: the cheapest is found, as with one more control before it."""
    first = Problem(steps=5, step=0.1, name="first")
    x, u = first.state("x"), first.control("u")
    first.derivative(x=u)
    first.minimize(u**2)
    first.constrain("start", x, equals=0, at="start")
    second = Problem(steps=5, step=0.1, name="second")
    y, tool, w = second.state("x"), second.state("tool", lower=0, upper=0.4), second.control("w")
    second.derivative(x=w, tool=0)
    second.minimize(w**2)
    second.minimize(tool**2, at="end")
    second.constrain("reach", y + tool, equals=1, at="end")
    first.then(second, choose=["tool"])
    found, rival = (first.build(backend=name).solve() for name in ("native", "ipopt"))
    assert found.solved and found.objective == pytest.approx(rival.objective, rel=1e-8)
    # min 5 u^2 + 5 w^2 + t^2 with (u + w) / 2 + t = 1 wants t = 0.91, more than its limit; then u = w = 0.6.
    np.testing.assert_allclose(found.tool, 0.4, atol=1e-6)
    np.testing.assert_allclose(found.u, 0.6, atol=1e-6)
    assert np.ptp(found.tool) < 1e-8


def test_guess_parameters_and_warm_start_by_phase(solver, solution):
    again = solver.solve(goal=2.05, warm_start=solution)
    assert again.solved and again.statistics.iterations < solution.statistics.iterations
    guess = {"pull": {"x": solution.phases["pull"].x}, "coast": {"y": [1, 0, 0]}, "u": 0.5}
    assert solver.solve(guess, goal=2.0).objective == pytest.approx(solution.objective, rel=1e-8)
    assert solver.solve(solution, goal={"coast": 2.0}).solved
    for wrong, sentence in (
        (
            {"pull": {"y": 0}},
            r"guess for the phase 'pull' is .*, expected a dictionary of its variables duration, x, u",
        ),
        ({"fly": {}}, "guess for 'fly', but the variables are"),
    ):
        with pytest.raises(ProblemError, match=sentence):
            solver.solve(wrong, goal=2.0)
    with pytest.raises(ProblemError, match="parameter 'goal' has no value for 'coast'"):
        solver.solve(goal={"pull": 2.0})


def test_phases_go_to_a_file_and_to_a_picture(solution, tmp_path):
    back = Solution.load(solution.save(tmp_path / "two.npz"))
    assert str(back) == str(solution) and back.layout == solution.layout
    np.testing.assert_array_equal(back.phases["coast"].gains, solution.phases["coast"].gains)
    figure = solution.plot()
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles[:4] == ["state x", "state y", "control u", "control w"]
    active = [label.get_text() for label in figure.axes[4].get_yticklabels()]
    assert "coast: third" in active


def test_what_is_wrong_is_named_with_its_phase(solver):
    ocp = pull_and_coast()
    coast = ocp.links[0].phase
    coast.constrain("too far", coast.states[0].symbol[0], lower=3, at="end")
    impossible = ocp.build().solve(goal=2.0)
    assert impossible.status == "infeasible"
    assert {v.name for v in impossible.violations if v.phase == "coast"} & {"too far", "goal"}
    assert "of 'coast'" in str(impossible)
    ocp = pull_and_coast()
    coast = ocp.links[0].phase
    coast.minimize(ca.sqrt(coast.states[0].symbol[2] - 5), at=3, name="root")
    broken = ocp.build().solve(goal=2.0)
    assert broken.status == "not finite"
    assert (broken.fault.name, broken.fault.stage, broken.fault.phase) == ("root", 3, "coast")
    assert solver.solve(goal=2.0).solved


def test_phases_that_are_alike_and_longer_horizons_share_their_machine_code(tmp_path, monkeypatch):
    monkeypatch.setenv("TRISWEEP_CACHE", str(tmp_path))
    rest_to_rest(steps=10)[0].build()
    made = sorted(path.name for path in tmp_path.rglob("*") if path.is_file())
    assert made
    rest_to_rest(steps=17)[0].build()
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == made
    trunk, _ = cart("trunk", 10)
    for name in ("left", "middle", "right"):
        trunk.then(cart(name, 20)[0])
    trunk.build()
    # values and derivatives of a step and of an entry
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == len(made) + 4


def simple(name, state="x"):
    phase = Problem(steps=3, step=0.1, name=name)
    x, u = phase.state(state), phase.control("u")
    phase.derivative(**{state: u})
    return phase, x, u


def test_mistakes_get_a_sentence():
    first, x, u = simple("first")
    second, *_ = simple("second", "y")
    for give, sentence in (
        (lambda: first.then("second"), "a str is given, expected a Problem"),
        (lambda: first.then(first), "has its place already"),
        (
            lambda: first.then(second),
            r"state 'y' has no value to start from; say then\(..., y=...\), or choose=\['y'\]",
        ),
        (lambda: first.then(second, x=x), "'x' is not a state to be given there; the states are y"),
        (lambda: first.then(second, y=u), "'y' uses a control, but the last stage of 'first' has none"),
        (lambda: first.then(second, y=ca.vertcat(x, x)), "'y' has 1 entries, but 2 are given"),
        (lambda: first.then(second, choose=["z"]), "'z' is not a state"),
        (lambda: first.then(second, y=ca.SX.sym("k")), "uses the symbol 'k', which is none of this problem's"),
    ):
        with pytest.raises(ProblemError, match=sentence):
            give()
    assert first.links == [] and second.follows is None
    first.then(second, y=2 * x)
    for give, sentence in (
        (lambda: second.then(first), "has its place already"),
        (lambda: first.then(second, y=x), "has its place already"),
        (lambda: second.build(), "'second' follows 'first', expected the phase that is first"),
    ):
        with pytest.raises(ProblemError, match=sentence):
            give()
    second.state("late")
    second.derivative(late=0)
    with pytest.raises(ProblemError, match="state late of 'second' was added after then"):
        first.build()
    first, x, _ = simple("same")
    first.then(simple("same")[0])
    with pytest.raises(ProblemError, match="two phases are named 'same'"):
        first.build()
