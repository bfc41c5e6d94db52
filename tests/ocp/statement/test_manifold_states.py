"""States on manifolds: charts against SciPy's rotations, motions against IPOPT and an integrator that is not ours."""

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from support.ocp_problems import dive, diver
from support.rivals import needs_rivals
from trisweep.dynamics import ModelBuilder
from trisweep.ocp import Problem, ProblemError, Settings, Solution
from trisweep.ocp.statement.manifold import Manifold

POSE = Manifold(11, ((3, 7), (8, 10)))  # position, quaternion, an entry, a pair, an entry


def evaluate(expression, *pairs):
    symbols, numbers = zip(*pairs)
    return np.array(ca.Function("f", list(symbols), [ca.densify(expression)])(*numbers)).ravel()


def random_state(rng):
    state = rng.normal(size=11)
    state[3:7] = Rotation.random(random_state=rng).as_quat()
    state[8:10] /= np.linalg.norm(state[8:10])
    return state


def test_charts_undo_each_other_and_turn_as_rotations_do():
    rng = np.random.default_rng(1)
    d, anchor, state = ca.SX.sym("d", 9), ca.SX.sym("anchor", 6), ca.SX.sym("state", 11)
    for _ in range(20):
        here, there = random_state(rng), random_state(rng)
        at = np.r_[here[3:7], here[8:10]]
        away = evaluate(POSE.coordinates(anchor, state), (anchor, at), (state, there))
        back = evaluate(POSE.compose(d, anchor), (d, away), (anchor, at))
        back[3:7] *= np.sign(back[3:7] @ there[3:7])
        np.testing.assert_allclose(back, there, atol=1e-12)
        np.testing.assert_array_equal(away[[0, 1, 2, 6, 8]], there[[0, 1, 2, 7, 10]])
        turn = Rotation.from_quat(here[3:7]).inv() * Rotation.from_quat(there[3:7])
        axis = turn.as_rotvec()
        angle = np.linalg.norm(axis)
        np.testing.assert_allclose(away[3:6], 2 * np.tan(angle / 2) * axis / angle, rtol=1e-9)
        about = np.arctan2(there[9], there[8]) - np.arctan2(here[9], here[8])
        assert away[7] == pytest.approx(2 * np.tan(about / 2))
        opposite = there.copy()
        opposite[3:7] *= -3.0
        np.testing.assert_allclose(evaluate(POSE.coordinates(anchor, state), (anchor, at), (state, opposite)), away)


def test_recentring_keeps_the_state():
    rng = np.random.default_rng(2)
    d, anchor = ca.SX.sym("d", 9), ca.SX.sym("anchor", 6)
    still, moved = POSE.recentred(d, anchor)
    for _ in range(10):
        here = random_state(rng)
        numbers = (d, rng.normal(size=9)), (anchor, np.r_[here[3:7], here[8:10]])
        coordinates, at = evaluate(still, *numbers), evaluate(moved, *numbers)
        assert not coordinates[[3, 4, 5, 7]].any()
        expected = evaluate(POSE.compose(d, anchor), *numbers)
        np.testing.assert_allclose(
            evaluate(POSE.compose(d, anchor), (d, coordinates), (anchor, at)), expected, atol=1e-14
        )
        np.testing.assert_allclose(POSE.joined(coordinates[None], at[None])[0], expected, atol=1e-14)
    states = np.array([random_state(rng) for _ in range(5)])
    np.testing.assert_allclose(POSE.joined(*POSE.cut(states)), states, atol=1e-14)


@pytest.fixture(scope="module")
def model():
    return diver()


@pytest.fixture(scope="module")
def solver(model):
    return dive(model).build()


@pytest.fixture(scope="module")
def solution(solver):
    return solver.solve()


@needs_rivals
def test_a_floating_robot_reaches_ipopts_optimum(model, solution):
    assert solution.solved
    assert solution.check().worst < 1e-6  # CasADi's own derivatives, at any place of the chart
    for part in (slice(3, 7), slice(7, 11), slice(11, 15), slice(15, 17)):
        np.testing.assert_allclose(np.linalg.norm(solution.q[:, part], axis=1), 1, atol=1e-12)
    near = dive(model).build(backend="ipopt").solve(solution)
    assert near.solved and near.objective == pytest.approx(solution.objective, rel=1e-8)
    np.testing.assert_allclose(near.v, solution.v, atol=1e-4)


def test_the_motion_is_that_of_the_robot(model, solution):
    h = 0.6 / 12
    for k in range(12):
        tau = np.r_[np.zeros(6), solution.tau[k]]
        v = solution.v[k] + h * model.forward_dynamics(solution.q[k], solution.v[k], tau)
        np.testing.assert_allclose(solution.v[k + 1], v, atol=1e-7)
        away = model.difference(model.integrate(solution.q[k], h * v), solution.q[k + 1])
        np.testing.assert_allclose(away, 0, atol=1e-7)


def test_derivatives_are_casadis_where_increments_are_zero(solver):
    rng = np.random.default_rng(3)
    for block, functions in zip(solver.transcription.blocks, solver.backend.functions):
        rows, inputs = block.plain_rows, block.inputs
        z, weights = ca.vertcat(*inputs[:2]), ca.SX.sym("w", rows.numel())
        hessian, _ = ca.hessian(ca.dot(weights, rows), z)
        plain = ca.Function("plain", [*inputs, weights], [ca.jacobian(rows, z), ca.tril(hessian)])
        numbers = [rng.normal(size=part.numel()) for part in inputs]
        numbers[1][3:13] = 0  # the increments of trunk, arms and wheel
        for own in numbers[3:]:
            for part in (slice(0, 4), slice(4, 8), slice(8, 12), slice(12, 14)):
                own[part] /= np.linalg.norm(own[part]) if own.size else 1.0
        numbers.append(rng.normal(size=rows.numel()))
        found = functions.derivatives([part[None] for part in numbers[:-1]], numbers[-1][None])
        places = functions.jacobian_places, functions.hessian_places
        for nonzeros, place, theirs in zip(found, places, plain(*numbers)):
            theirs = np.array(ca.densify(theirs))
            ours = np.zeros_like(theirs)
            ours[place] = nonzeros[0]
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9 * abs(theirs).max())


def test_threads_change_nothing(solver, solution):
    for threads in (1, 2):
        again = solver.solve(settings=Settings(threads=threads))
        np.testing.assert_array_equal(again.q, solution.q)
        np.testing.assert_array_equal(again.point.y, solution.point.y)


def test_files_guesses_and_pictures(model, solver, solution, tmp_path):
    back = Solution.load(solution.save(tmp_path / "dive.npz"))
    np.testing.assert_array_equal(back.q, solution.q)
    again = solver.solve(back)
    assert again.solved and again.objective == pytest.approx(solution.objective, rel=1e-8)
    titles = [axes.get_title(loc="left") for axes in solution.plot().axes]
    assert titles[:3] == ["state q", "state v", "control tau"]
    assert solution.animate(tmp_path / "dive.html").stat().st_size > 1e5
    assert solution.gains.shape == (12, 7, 26)


@pytest.mark.parametrize(
    "integrator, order", [("euler", 1), ("semi-implicit euler", 1), ("rk4", 4), ("implicit midpoint", 2)]
)
def test_integrators_keep_their_order_on_the_manifold(integrator, order):
    """A tumbling body without forces: the motion that the dynamics alone decide, against SciPy."""
    body = ModelBuilder("book", gravity=(0, 0, 0))
    inertia = np.diag([0.3, 0.5, 0.9])
    body.add("book", joint="spherical", mass=1.0, inertia=inertia)
    model, omega = body.build(), np.array([0.4, 2.0, 0.3])

    def rate(_, y):
        q, w = y[:4], y[4:]
        product = np.r_[q[3] * w + np.cross(q[:3], w), -q[:3] @ w]
        return np.r_[0.5 * product, np.linalg.solve(inertia, np.cross(inertia @ w, w))]

    exact = solve_ivp(rate, (0, 1), np.r_[0, 0, 0, 1, omega], rtol=1e-12, atol=1e-13).y[:, -1]
    errors = []
    for steps in (10, 20):
        ocp = Problem(steps=steps, duration=1.0, integrator=integrator)
        q, v = ocp.state("q", on=model), ocp.state("v", 3)
        ocp.derivative(q=v, v=model.forward_dynamics(q, v, np.zeros(3)))
        ocp.constrain("start", q, equals=model.neutral(), at="start")
        ocp.constrain("spin", v, equals=omega, at="start")
        found = ocp.build().solve()
        assert found.solved
        errors.append(abs((Rotation.from_quat(exact[:4]).inv() * Rotation.from_quat(found.q[-1])).magnitude()))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.25 * order)


def test_mistakes_get_a_sentence(model, solver):
    ocp = Problem(steps=3, step=0.1)
    bounds = np.full(model.nq, -np.inf)
    bounds[4] = 0.2
    for give, sentence in (
        (lambda: ocp.state("q", on="robot"), "state 'q': on is a str, expected a robot"),
        (lambda: ocp.state("q", 3, on=model), "state 'q': size is 3, but a configuration of this robot has 17 entries"),
        (lambda: ocp.state("q", on=model, lower=bounds), "entries 3 to 6 are a unit quaternion, expected no bounds"),
    ):
        with pytest.raises(ProblemError, match=sentence):
            give()
    q, v = ocp.state("q", on=model), ocp.state("v", model.nv)
    with pytest.raises(ProblemError, match=r"'q' is a configuration, expected a velocity \(13,\), not 17"):
        ocp.derivative(q=q)
    with pytest.raises(ProblemError, match="'q' has zeros at entries 3 to 6, expected a unit quaternion"):
        solver.solve({"q": np.zeros(model.nq)})
    first = Problem(steps=2, step=0.1, name="first")
    first.state("v", model.nv)
    with pytest.raises(ProblemError, match="'q' is a configuration, which cannot be chosen"):
        first.then(ocp, choose=["q"])
    assert v.numel() == 13
