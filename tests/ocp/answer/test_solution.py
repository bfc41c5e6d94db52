"""What a solution holds and says of itself."""

import copy
import json

import casadi as ca
import numpy as np
import pytest
from support.ocp_problems import not_finite
from trisweep.ocp import Free, Problem, ProblemError, Settings, Solution
from trisweep.ocp.solve.nonlinear_program import assemble
from trisweep.ocp.statement.terms import Kind
from trisweep.problems.robot import robot

STEPS = 20


def pendulum(torque_limit=12.0, speed_limit=4.0, steps=STEPS):
    """A swing-up with limits of variables, an inequality on the steps, a constraint with an equal and a loose row."""
    ocp = Problem(steps=steps, step=0.1)
    angle, rate = ocp.state("angle"), ocp.state("rate", lower=-speed_limit, upper=speed_limit)
    torque = ocp.control("torque", lower=-torque_limit, upper=torque_limit)
    begin = ocp.parameter("begin", 2)
    ocp.derivative(angle=rate, rate=torque - 9.81 * ca.sin(angle))
    ocp.minimize(1e-2 * torque**2 + 1e-3 * rate**2)
    ocp.minimize(rate**2, at="end", name="slow at the end")
    ocp.constrain("start", ca.vertcat(angle, rate), equals=begin, at="start")
    ocp.constrain("power", torque * rate, upper=15)
    ocp.constrain("finish", ca.vertcat(rate, angle), lower=[-0.5, np.pi], upper=[0.5, np.pi], at="end")
    return ocp


@pytest.fixture(scope="module")
def solver():
    return pendulum().build()


@pytest.fixture(scope="module")
def solution(solver):
    return solver.solve(begin=[0.0, 0.0])


class Lying:
    """A core whose result is changed on the way out."""

    def __init__(self, core, change):
        self._core, self._change = core, change

    def __getattr__(self, name):
        return getattr(self._core, name)

    def solve(self, *given):
        result = self._core.solve(*given)
        self._change(result)
        return result


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


def independent_residual(solver, solution):
    """Stationarity, rows and multipliers through the whole problem as one CasADi program."""
    program = assemble(solver.transcription, solver.layout)
    layout, point = solution.layout, solution.point
    y = np.zeros(program.g.numel())
    # The program's rows stand stage by stage, x_next - F, equalities, inequalities; ours kind by kind.
    kinds = np.array(program.kinds)
    for kind, sign in ((Kind.DYNAMICS, -1.0), (Kind.EQUALITY, 1.0), (Kind.INEQUALITY, 1.0)):
        y[kinds == kind] = sign * point.y[layout.kind(kind)]
    p = np.concatenate([point.shared_parameters, point.stage_parameters])
    lagrangian = program.f + ca.dot(y, program.g)
    function = ca.Function("parts", [program.z, program.p], [program.f, program.g, ca.gradient(lagrangian, program.z)])
    f, g, slope = (np.array(part).ravel() for part in function(point.z, p))
    lower, upper = (side[program.places] for side in (solution.limit_vectors.y_lower, solution.limit_vectors.y_upper))
    outside = np.maximum(np.maximum(lower - g, g - upper), 0)
    return {
        "objective": f[0],
        "stationarity": np.abs(slope + point.w).max(),
        "dynamics": outside[kinds == Kind.DYNAMICS].max(),
        "equalities": outside[kinds == Kind.EQUALITY].max(),
        "inequalities": outside[kinds == Kind.INEQUALITY].max(),
    }


@pytest.mark.parametrize("iterations", [2, 6, 500])
def test_check_agrees_with_the_problem_as_one_program(solver, iterations):
    solution = solver.solve(begin=[0.1, 0.2], settings=Settings(iterations=iterations))
    expected = independent_residual(solver, solution)
    assert solution.objective == pytest.approx(expected.pop("objective"), rel=1e-12)
    for residual in (solution.check(), solution.residual):
        for name, value in expected.items():
            assert getattr(residual, name) == pytest.approx(value, rel=1e-9, abs=1e-12), name
    assert (solution.check().worst < 1e-7) == (iterations == 500)
    assert "stationarity" in str(solution.check())


def test_multipliers_are_those_of_ipopt(solver, solution):
    program = assemble(solver.transcription, solver.layout)
    options = {"ipopt.tol": 1e-10, "ipopt.print_level": 0, "print_time": False, "ipopt.sb": "yes"}
    ipopt = ca.nlpsol("ipopt", "ipopt", {"x": program.z, "p": program.p, "f": program.f, "g": program.g}, options)
    layout, limits = solution.layout, solution.limit_vectors
    answer = ipopt(
        x0=solution.point.z, p=[0, 0], lbg=limits.y_lower[program.places], ubg=limits.y_upper[program.places],
        lbx=limits.z_lower, ubx=limits.z_upper,
    )  # fmt: skip
    np.testing.assert_allclose(solution.objective, float(answer["f"]), rtol=1e-7)
    lam_g = np.array(answer["lam_g"]).ravel()
    for kind, sign in ((Kind.DYNAMICS, -1.0), (Kind.EQUALITY, 1.0), (Kind.INEQUALITY, 1.0)):
        ours = solution.point.y[layout.kind(kind)]
        np.testing.assert_allclose(ours, sign * lam_g[np.array(program.kinds) == kind], atol=1e-5)
    np.testing.assert_allclose(solution.point.w, np.array(answer["lam_x"]).ravel(), atol=1e-5)


@pytest.mark.parametrize("part", ["z", "dynamics", "equality", "inequality", "w"])
def test_a_wrong_solved_is_not_passed_on(part):
    def spoil(result):
        vector = getattr(result, part) if part in {"z", "w"} else result.y[solver.layout.kind(Kind(part))]
        vector[len(vector) // 2] += 1e-3

    solver = pendulum().build()
    core = solver.backend.core
    solver.backend.core = Lying(core, spoil)
    wrong = solver.solve(begin=[0.0, 0.0])
    assert wrong.status == "stalled" and not wrong.solved
    assert "took this point for a solution" in wrong.advice and wrong.advice in str(wrong)
    solver.backend.core = core
    assert solver.solve(begin=[0.0, 0.0]).solved


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
    solution = pendulum(torque_limit=0.1).build().solve(begin=[0.0, 0.0])
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


# --- files and pictures


def test_save_and_load_round_trip(solution, solver, tmp_path):
    path = solution.save(tmp_path / "swing")
    assert path.name == "swing.npz"
    back = Solution.load(path)
    assert str(back) == str(solution) and back.layout == solution.layout
    assert back.records == solution.records and back.statistics == solution.statistics
    for name, values in solution.trajectories.items():
        np.testing.assert_array_equal(back[name], values)
    for name, multipliers in solution.multipliers.items():
        np.testing.assert_array_equal(back.multipliers[name], multipliers)
    np.testing.assert_array_equal(back.gains, solution.gains)
    np.testing.assert_array_equal(back.times, solution.times)
    again = solver.solve(back, **back.parameters)
    assert again.solved and again.objective == pytest.approx(solution.objective)
    warm = solver.solve(warm_start=back, **back.parameters)
    assert warm.solved and warm.statistics.iterations < solution.statistics.iterations
    back.plot(tmp_path / "again.png")
    with pytest.raises(ProblemError, match="from a file"):
        back.check()


def test_a_failure_survives_a_file(tmp_path):
    failed = not_finite("corridor", "gradient").build().solve(c=np.ones(11))
    back = Solution.load(failed.save(tmp_path / "failed.npz"))
    assert back.fault == failed.fault is not None and str(back) == str(failed)


def test_other_files_get_a_sentence(solution, tmp_path):
    with pytest.raises(ProblemError, match="there is no file"):
        Solution.load(tmp_path / "nothing.npz")
    text, foreign, cut, newer, short = (
        tmp_path / f"{name}.npz" for name in ("text", "foreign", "cut", "newer", "short")
    )
    text.write_text("not an archive")
    np.savez(foreign, a=np.zeros(3))
    whole = solution.save(tmp_path / "whole.npz")
    cut.write_bytes(whole.read_bytes()[:500])
    for path in (text, foreign, cut):
        with pytest.raises(ProblemError, match="is not a solution, expected a file"):
            Solution.load(path)
    arrays = dict(np.load(whole))
    header = json.loads(arrays["header"].tobytes())
    np.savez(newer, **arrays | {"header": np.array(json.dumps(header | {"version": 99}))})
    with pytest.raises(ProblemError, match="has version 99, expected 7"):
        Solution.load(newer)
    np.savez(short, **arrays | {"z": arrays["z"][:-1]})
    with pytest.raises(ProblemError, match="is damaged"):
        Solution.load(short)


def test_copies_are_solutions(solution):
    twin = copy.copy(solution)
    np.testing.assert_array_equal(twin.angle, solution.angle)


def test_plot_draws_every_variable_and_opens_no_window(solution, tmp_path):
    figure = solution.plot(tmp_path / "deep" / "swing.png")
    assert (tmp_path / "deep" / "swing.png").read_bytes().startswith(b"\x89PNG")
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles[:3] == ["state angle", "state rate", "control torque"] and len(titles) == 5
    assert figure.canvas.manager is None
    active = [label.get_text() for label in figure.axes[3].get_yticklabels()]
    assert "rate" in active and "torque" not in active
    heights = {line.get_ydata()[0] for line in figure.axes[1].lines if len(set(line.get_ydata())) == 1}
    assert 4.0 in heights


def test_plot_serves_what_has_no_controls_no_step_and_no_iterations(tmp_path):
    ocp = Problem(steps=1)
    x = ocp.state("x")
    ocp.next(x=0.5 * x)
    ocp.minimize(x**2, at="end")
    figure = ocp.build().solve(settings=Settings(iterations=0)).plot()
    assert figure.axes[0].get_title(loc="left") == "state x" and figure.axes[0].get_xlabel() == "stage"
    failed = not_finite("corridor", "gradient").build().solve(c=np.ones(11))
    assert failed.records == [] and len(failed.plot(tmp_path / "failed.png").axes) == 5


def receding():
    ocp = Problem(steps=30, step=0.1)
    x, u, now = ocp.state("x", 2), ocp.control("u", lower=-1, upper=1), ocp.parameter("now", 2)
    aim = ocp.parameter("aim", per_stage=True)
    ocp.derivative(x=ca.vertcat(x[1], u - 0.1 * x[1] ** 3))
    ocp.minimize((x[0] - aim) ** 2 + 0.1 * u**2)
    ocp.constrain("speed", x[1], lower=-0.8, upper=0.8)
    ocp.constrain("now", x, equals=now, at="start")
    return ocp.build()


def test_a_horizon_that_moves_on_starts_from_the_last_solution():
    solver, aim = receding(), np.sin(0.1 * np.arange(60))
    first = solver.solve(now=[2.0, 0.0], aim=aim[:31])
    start = first.shifted(3)
    np.testing.assert_array_equal(start.guess["x"][:-3], first.x[3:])
    np.testing.assert_array_equal(start.guess["x"][-3:], np.tile(first.x[-1], (3, 1)))
    np.testing.assert_array_equal(start.guess["u"][:-3], first.u[3:])
    rows = next(rows for rows in first.layout.constraints if rows.name == "speed")
    np.testing.assert_array_equal(start.point.y[rows.places][:-3], first.point.y[rows.places][3:])
    # parameters stay where they are
    np.testing.assert_array_equal(start.point.stage_parameters, first.point.stage_parameters)
    assert not hasattr(start, "status") and not hasattr(start, "solved")
    parameters = {"now": first.x[1] + 1e-3, "aim": aim[1:32]}
    warm, cold = solver.solve(warm_start=first.shifted(), **parameters), solver.solve(**parameters)
    assert warm.solved and cold.solved and warm.objective == pytest.approx(cold.objective, rel=1e-7)
    assert warm.statistics.iterations < cold.statistics.iterations
    assert solver.solve(first.shifted(), **parameters).solved
    for steps in (-1, 31, 1.5, True):
        with pytest.raises(ProblemError, match=r"shifted: steps is .*, expected a whole number from 0 to 30"):
            first.shifted(steps)


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


@pytest.mark.parametrize("names", ["ab", ["a"], [1, 2], ["a", "b", "c"]])
def test_names_of_entries_are_checked(names):
    ocp = Problem(steps=2, step=0.1)
    for state in (lambda: ocp.state("x", 2, names=names), lambda: ocp.control("u", 2, names=names)):
        with pytest.raises(ProblemError, match=r"names is .*, expected 2 texts"):
            state()
