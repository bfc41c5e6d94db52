"""What a solution holds and says of itself."""

import casadi as ca
import numpy as np
import pytest
from support.ocp_problems import limited_pendulum
from trisweep.ocp import Free, Problem, ProblemError, Settings, Solution
from trisweep.problems.robot import robot

STEPS = 20


# --- fields


def test_fields_and_shapes(solution):
    assert solution.solved and solution.status == "solved" and solution.advice == "" and solution.violations == []
    assert solution.angle.shape == solution.rate.shape == (STEPS + 1, 1) and solution.torque.shape == (STEPS, 1)
    assert solution["angle"] is solution.angle and set(solution.trajectories) == {"angle", "rate", "torque"}
    np.testing.assert_allclose(solution.times, 0.1 * np.arange(STEPS + 1))
    assert solution.duration == pytest.approx(2.0)
    assert solution.gains.shape == (STEPS, 1, 2)
    shapes = {name: m.shape for name, m in solution.multipliers.items()}
    assert shapes == {
        "dynamics of angle": (STEPS, 1),
        "dynamics of rate": (STEPS, 1),
        "start": (1, 2),
        "power": (STEPS, 1),
        "finish": (1, 2),
    }
    np.testing.assert_array_equal(solution.parameters["begin"], [0.0, 0.0])
    numbers = [record.iteration for record in solution.records]  # twice where a restoration handed over
    assert numbers == sorted(numbers) and sorted(set(numbers)) == list(range(solution.statistics.iterations + 1))
    assert {"angle", "torque", "plot"} <= set(dir(solution))


def test_a_constraint_keeps_the_rows_of_its_statement(solution):
    finish = solution.constraints["finish"]
    np.testing.assert_array_equal(finish.stages, [STEPS])
    np.testing.assert_allclose(finish.values, [[solution.rate[-1, 0], solution.angle[-1, 0]]], atol=1e-12)
    np.testing.assert_allclose([finish.lower[0], finish.upper[0]], [[-0.5, np.pi], [0.5, np.pi]])
    power = solution.constraints["power"]
    np.testing.assert_allclose(power.values, solution.torque * solution.rate[:-1], atol=1e-12)


def test_an_equality_has_the_value_that_it_is_to_equal(tmp_path):
    ocp = Problem(steps=4, step=0.1)
    where = ocp.parameter("where", per_stage=True)
    x, v, u = ocp.state("x"), ocp.state("v"), ocp.control("u")
    ocp.derivative(x=v, v=u)
    ocp.minimize(u**2)
    ocp.constrain("at rest", ca.vertcat(v, 2 * v), equals=0.3, at="start")
    ocp.constrain("be there", x, equals=where, at=[2, 4])
    ocp.constrain("as fast", v, equals=1 + x, at="end")
    solution = ocp.build().solve(where=[0, 0, 0.5, 0, 0.7])
    solution = solution.load(solution.save(tmp_path / "solution.npz"))
    found = solution.constraints
    np.testing.assert_array_equal(found["at rest"].upper, [[0.3, 0.3]])
    np.testing.assert_allclose(found["at rest"].values, [[1, 2]] * solution.v[:1], atol=1e-12)
    np.testing.assert_array_equal(found["be there"].lower, [[0.5], [0.7]])
    np.testing.assert_allclose(found["be there"].values, solution.x[[2, 4]], atol=1e-12)
    np.testing.assert_array_equal(found["as fast"].lower, [[0.0]])
    np.testing.assert_allclose(found["as fast"].values, solution.v[-1:] - 1 - solution.x[-1:], atol=1e-12)


def test_limits_press_with_the_sign_of_their_side(solution):
    rate = solution.limits["rate"]
    on_top = rate.values > rate.upper - 1e-6
    assert on_top.any() and (rate.multipliers[on_top] > 1e-3).all()
    assert np.abs(rate.multipliers[~on_top]).max() < 1e-3


def test_names_the_class_has_itself_are_reached_by_item():
    ocp = Problem(steps=3)
    status, z, x = ocp.state("status"), ocp.state("z"), ocp.state("x", 2)
    ocp.next(status=status + 1, z=0.5 * z, x=x)
    ocp.minimize(z**2 + ca.sumsqr(x) + status**2, at="end")
    ocp.constrain("start", ca.vertcat(status, z), equals=[1.0, 8.0], at="start")
    solution = ocp.build().solve()
    assert solution.status == "solved"
    np.testing.assert_allclose(solution["status"].ravel(), [1, 2, 3, 4], atol=1e-8)
    np.testing.assert_allclose(solution.z.ravel(), [8, 4, 2, 1], atol=1e-8)
    np.testing.assert_array_equal(solution.times, [0, 1, 2, 3])
    with pytest.raises(KeyError, match="no 'w'; its trajectories are status, z, x"):
        solution["w"]
    with pytest.raises(AttributeError, match="no 'w'; its trajectories are status, z, x"):
        _ = solution.w


def test_a_free_duration_sets_the_times():
    ocp = Problem(steps=STEPS, duration=Free(guess=2.0, lower=0.5))
    p, v, u = ocp.state("p"), ocp.state("v"), ocp.control("u", lower=-1, upper=1)
    ocp.derivative(p=v, v=u)
    ocp.minimize(ocp.free_duration.symbol, at="end")
    ocp.constrain("start", ca.vertcat(p, v), equals=0, at="start")
    ocp.constrain("there", ca.vertcat(p, v), equals=[1, 0], at="end")
    solution = ocp.build().solve()
    assert solution.solved
    assert solution.duration == pytest.approx(solution.objective) == pytest.approx(solution["duration"][0, 0])
    np.testing.assert_allclose(np.diff(solution.times), solution.objective / STEPS)


def test_gains_are_the_riccati_recursion_on_a_linear_problem():
    A, B, Q, R = np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([[0.0], [0.1]]), np.diag([1.0, 0.1]), np.array([[0.01]])
    ocp = Problem(steps=15)
    x, u = ocp.state("x", 2), ocp.control("u")
    ocp.next(x=A @ x + B @ u)
    ocp.minimize(x.T @ Q @ x + u.T @ R @ u)
    ocp.minimize(x.T @ Q @ x, at="end")
    ocp.constrain("start", x, equals=[1, 0], at="start")
    solution = ocp.build().solve()
    P = Q
    for gain in solution.gains[::-1]:
        K = -np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
        np.testing.assert_allclose(gain, K, rtol=1e-7)
        P = Q + A.T @ P @ (A + B @ K)


# --- what it says of itself


def test_print_is_a_verdict_and_repr_is_short(solution, capsys):
    lines = str(solution).splitlines()
    assert lines[0].startswith("solved: ") and "functions" in lines[0] and "linear algebra" in lines[0]
    assert [line.split()[0] for line in lines[1:]] == ["objective", "residuals", "worst"]
    assert (
        repr(solution)
        == f"<Solution: solved, objective {solution.objective:.9g}, {solution.statistics.iterations} iterations>"
    )
    solution.log()
    table = capsys.readouterr().out.splitlines()
    assert len(table) == len(solution.records) + 1 and max(map(len, table)) <= 80


def test_infeasible_names_the_constraint_at_fault():
    solution = limited_pendulum(torque_limit=0.1).build().solve(begin=[0.0, 0.0])
    assert solution.status == "infeasible"
    worst = solution.violations[0]
    assert (worst.name, worst.stage, worst.row) == ("finish", STEPS, 1)
    assert worst.amount == pytest.approx(abs(solution.angle[-1, 0] - np.pi))
    assert "'finish' row 1 at stage 20" in str(solution) and "relax those named" in str(solution)


def test_an_early_stop_names_what_does_not_hold_yet(solver):
    solution = solver.solve(begin=[0.0, 0.0], settings=Settings(iterations=1))
    assert solution.status == "iteration limit" and "Settings.iterations" in solution.advice
    amounts = [violation.amount for violation in solution.violations]
    assert amounts == sorted(amounts, reverse=True) and amounts[0] > 1e-3
    for violation in solution.violations:
        if violation.name in solution.constraints:
            c = solution.constraints[violation.name]
            at = c.stages.tolist().index(violation.stage), violation.row
            outside = max(c.lower[at] - c.values[at], c.values[at] - c.upper[at])
            assert outside == pytest.approx(violation.amount)


def test_rows_are_called_by_the_joints_they_belong_to(tmp_path):
    """A floating dog: 'knee' and not row 21; entries of controls and rows of constraints by names that are given."""
    dog = robot("solo12")
    ocp = Problem(steps=2, step=0.1)
    q, v = ocp.state("q", on=dog), ocp.state("v", dog.nv, names=dog.velocity_names)
    tau = ocp.control("tau", 12, lower=-1.0, upper=1.0, names=dog.joint_names[1:])
    ocp.derivative(q=v, v=ca.vertcat(ca.SX.zeros(6), tau))
    ocp.minimize(ca.sumsqr(tau))
    ocp.constrain("rest", ca.vertcat(v[:6], v[6:] - 0 * tau[0]), equals=0, at="start")
    ocp.constrain("pose", q, equals=dog.neutral(), at="start")
    ocp.constrain("too fast", v[8], lower=5.0, at="end")
    ocp.constrain("own", ca.vertcat(v[7], v[6] + v[9]), lower=[-1.0, 7.0], names=["one", "two"], at="end")
    solution = ocp.build().solve()
    assert solution.status == "infeasible"
    called = {violation.name: violation.entry for violation in [*solution.violations, *solution.opponents]}
    assert called["too fast"] == dog.velocity_names[8] == dog.joint_names[3]
    assert called["own"] == "two"
    assert called["limits of tau"] in dog.joint_names
    assert f"'too fast' of '{dog.joint_names[3]}' at stage 2 by" in str(solution)
    assert dog.velocity_names[:6] == tuple(f"root_joint {way} {axis}" for way in ("along", "about") for axis in "xyz")
    assert Solution.load(solution.save(tmp_path / "solution.npz")).violations == solution.violations


@pytest.mark.parametrize("names", ["ab", ["a"], [1, 2], ["a", "b", "c"], np.array("ab"), np.array([["a", "b"]])])
def test_names_of_entries_are_checked(names):
    ocp = Problem(steps=2, step=0.1)
    for state in (lambda: ocp.state("x", 2, names=names), lambda: ocp.control("u", 2, names=names)):
        with pytest.raises(ProblemError, match=r"names is .*, expected 2 texts"):
            state()
