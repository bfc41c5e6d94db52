"""The interior point against IPOPT on the same program, and on problems that have no solution, or an awkward one."""

import _thread
import signal
import threading
from itertools import pairwise
from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest
from support.ocp_problems import integrator_chain, out_of_reach, rest_to_rest, swing_up, swing_up_in_units
from support.rivals import ipopt, needs_rivals
from trisweep.native import core
from trisweep.ocp import Problem, ProblemError, Settings
from trisweep.ocp.solve.native_backend import core_settings
from trisweep.problems import task as ready


def solve(ocp, guess=None, settings=None, **parameters):
    return ocp.build().solve(guess=guess, settings=settings, **parameters)


def agrees_with_ipopt(ocp, guess=None, **parameters):
    solver = ocp.build()
    solution = solver.solve(guess=guess, **parameters)
    assert solution.status == "solved"
    oracle = ipopt(SimpleNamespace(guess=guess, parameters=parameters), solver).solve()
    assert oracle.solved
    objective, iterations, z = oracle.objective, oracle.iterations, oracle.z
    assert abs(solution.objective - objective) <= 1e-7 * max(1.0, abs(objective))
    np.testing.assert_allclose(solution.point.z, z, atol=2e-5 * np.abs(z).max())
    assert solution.statistics.iterations <= 1.5 * iterations + 3
    return solution


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("integrator", ["euler", "semi-implicit euler", "rk4", "implicit midpoint"])
def test_swing_up_by_every_integrator(integrator, free):
    agrees_with_ipopt(swing_up(integrator, free))


def test_the_integrators_converge_to_each_other():
    """Second and fourth order on the same motion differ by the step's square."""
    objectives = [solve(swing_up(integrator)).objective for integrator in ("rk4", "implicit midpoint", "euler")]
    assert abs(objectives[1] - objectives[0]) < 0.05 < abs(objectives[2] - objectives[0])


def test_a_quadratic_program_takes_one_step():
    solution = agrees_with_ipopt(rest_to_rest()[0])
    assert solution.statistics.iterations == 1


def test_inequalities_on_some_stages():
    ocp, x, u = rest_to_rest()
    ocp.constrain("push", u, lower=-2.0, upper=2.0)
    ocp.constrain("speed limit", x[1], upper=0.62, at=slice(3, 15))
    ocp.constrain("corridor", x[0] + 0.1 * x[1] ** 2, lower=-0.1, upper=[1.2])
    solution = agrees_with_ipopt(ocp)
    assert solution.x[3:15, 1].max() <= 0.62 + 1e-7 < solution.x[:, 1].max() + 2e-7


def test_constraints_on_stages_that_overlap():
    ocp, x, u = rest_to_rest()
    ocp.constrain("slow here", x[1], upper=0.6, at=slice(3, 12))
    ocp.constrain("and slower there", 2 * x[1], upper=1.1, at=slice(8, 16))
    ocp.constrain("no push", u, equals=0, at=slice(5, 8))
    ocp.constrain("nor later", u + 0 * x[0], equals=0, at=slice(7, 10))
    ocp.constrain("every third", x[0], upper=1.05, at=slice(0, None, 3))
    solution = agrees_with_ipopt(ocp)
    np.testing.assert_allclose(solution.u[5:10], 0, atol=1e-8)
    assert solution.constraints["and slower there"].values.max() <= 1.1 + 1e-7


def test_constraints_without_a_control_hold_at_the_last_stage_too():
    ocp, x, u = integrator_chain()
    ocp.minimize(u**2 - x[0])
    ocp.constrain("start", x, equals=0, at="start")
    ocp.constrain("wall", x[0], upper=0.5)
    assert solve(ocp).x[-1, 0] <= 0.5 + 1e-7


def test_parameters_shared_and_per_stage():
    ocp, x, u = integrator_chain()
    goal, track = ocp.parameter("goal", 2), ocp.parameter("track", per_stage=True)
    ocp.minimize(u**2 + 10 * (x[0] - track) ** 2)
    ocp.constrain("start", x, equals=0, at="start")
    ocp.constrain("finish", x, equals=goal, at="end")
    track_values = np.sin(np.linspace(0, 3, 21))
    agrees_with_ipopt(ocp, goal=[0.3, 0.0], track=track_values)


def test_warm_starts_need_fewer_iterations():
    ocp, x, u = integrator_chain()
    goal = ocp.parameter("goal")
    ocp.minimize(u**2 + 0.1 * ca.sin(3 * x[0]))
    ocp.constrain("start", x, equals=0, at="start")
    ocp.constrain("finish", x[0], equals=goal, at="end")
    ocp.constrain("push", u, lower=-1.1, upper=1.1)
    ocp.constrain("speed", x[1], upper=0.7)
    solver = ocp.build()
    first = solver.solve(goal=1.0)
    again, near, cold = (
        solver.solve(goal=1.0, warm_start=first),
        solver.solve(goal=1.02, warm_start=first),
        solver.solve(goal=1.02),
    )
    assert again.status == near.status == cold.status == "solved"
    assert again.statistics.iterations <= 1
    assert near.statistics.iterations < cold.statistics.iterations / 2
    assert abs(near.objective - cold.objective) < 1e-7


def test_hessians_reach_the_same_solution():
    """From nearby, as a swing-up has several local optima."""
    exact = solve(swing_up())
    guess = {name: rows + 0.01 * np.sin(np.arange(len(rows)))[:, None] for name, rows in exact.trajectories.items()}
    for hessian in ("exact", "gauss-newton", "no-dynamics"):
        other = swing_up().build(hessian=hessian).solve(guess=guess)
        assert other.status == "solved"
        assert abs(other.objective - exact.objective) < 1e-7


@needs_rivals
@pytest.mark.parametrize("backend", ["ipopt", "fatrop"])
def test_other_back_ends_give_the_same_answer(backend):
    ocp, x, u = rest_to_rest()
    ocp.constrain("push", u, lower=-2.0, upper=2.0)
    ocp.constrain("corridor", x[0] + 0.1 * x[1] ** 2, lower=-0.1, upper=1.2)
    ours, theirs = solve(ocp), ocp.build(backend=backend).solve()
    assert ours.status == theirs.status == "solved"
    assert theirs.check().worst < 1e-6
    assert abs(ours.objective - theirs.objective) < 1e-6
    np.testing.assert_allclose(theirs.x, ours.x, atol=1e-5)
    for name in ("finish", "push"):
        np.testing.assert_allclose(theirs.multipliers[name], ours.multipliers[name], atol=1e-4)
    infeasible = out_of_reach().build(backend=backend).solve()
    assert infeasible.status != "solved" and infeasible.violations


@needs_rivals
@pytest.mark.parametrize("backend", ["ipopt", "fatrop"])
def test_other_back_ends_neither_compile_nor_build_the_core(backend, monkeypatch):
    def refuse(*_):
        raise AssertionError("asked for machine code")

    ocp, x, u = rest_to_rest()
    ours = solve(ocp)
    monkeypatch.setattr("trisweep.ocp.solve.native_backend.compile_function", refuse)
    monkeypatch.setattr("trisweep.ocp.solve.native_backend.core", None)
    solver = ocp.build(backend=backend)
    first, second = solver.solve(), solver.solve(guess=ours)
    assert first.solved and second.solved and first.statistics.build_seconds > 0
    np.testing.assert_allclose(second.x, ours.x, atol=1e-6)
    short = solver.solve(settings=Settings(iterations=0))
    assert not short.solved and short.statistics.iterations == 0


@needs_rivals
def test_a_problem_that_a_back_end_does_not_take_is_refused_with_its_reason():
    with pytest.raises(ProblemError, match=r"the backend 'fatrop' refuses this problem: .*number_of_eq_constraints"):
        contradiction().build(backend="fatrop").solve()


@pytest.mark.parametrize("smoothness", [1e-3, 1e-2, 0.1, 1.0])
def test_every_iterate_is_the_one_of_ipopt(smoothness):
    """Corrections of the inertia reach the slacks; the last digits of stiff systems are there, by refinement."""
    task = ready("truck_trailer_parking", smoothness=smoothness)
    solver = task.build()
    solution = solver.solve(task.guess)
    assert solution.status == "solved"
    oracle = ipopt(task, solver)
    iterations = oracle.solve().iterations
    theirs = oracle.function.stats()["iterations"]
    assert solution.statistics.iterations <= 1.25 * iterations
    both = list(zip(solution.records, theirs["obj"], theirs["regularization_size"]))
    assert any(each.delta > 1 for each, _, _ in both)
    for each, objective, delta in both:
        assert each.objective == pytest.approx(objective, rel=1e-8)
        assert each.delta == pytest.approx(delta, rel=1e-12)


def test_second_order_correction_overcomes_the_maratos_effect():
    ocp = Problem(steps=1, step=1.0)
    x = ocp.state("x", 2)
    ocp.next(x=x)
    ocp.minimize(2 * (ca.sumsqr(x) - 1) - x[0], at="start")
    ocp.constrain("circle", ca.sumsqr(x), equals=1, at="start")
    assert agrees_with_ipopt(ocp, {"x": [0.8, 0.6]}).statistics.iterations <= 8


# --- problems without a solution, or with an awkward one


def redundant():
    ocp, x, _ = rest_to_rest()
    ocp.constrain("finish again", 2 * x[0], equals=2, at="end")
    ocp.constrain("and again", ca.vertcat(x[0], x[0]), equals=1, at="end")
    return ocp


def contradiction():
    ocp, x, _ = rest_to_rest()
    ocp.constrain("finish elsewhere", x[0], equals=2, at="end")
    return ocp


def endless():
    ocp, x, u = integrator_chain()
    ocp.minimize(u)
    ocp.constrain("start", x, equals=0, at="start")
    return ocp


def saddle():
    ocp, x, u = integrator_chain()
    ocp.minimize(-(u**2))
    ocp.constrain("start", x, equals=0, at="start")
    return ocp


def undefined():
    ocp, x, u = integrator_chain()
    ocp.minimize(u**2 + ca.sqrt(x[0] - 0.5))
    ocp.constrain("start", x, equals=0, at="start")
    return ocp


def badly_scaled():
    ocp, x, u = integrator_chain()
    ocp.minimize(1e6 * u**2)
    ocp.constrain("start", 1e-5 * x, equals=0, at="start")
    ocp.constrain("finish", 1e7 * x, equals=[1e7, 0], at="end")
    return ocp


def without_a_cost():
    ocp, x, u = integrator_chain()
    ocp.constrain("start", x, equals=0, at="start")
    ocp.constrain("finish", x, equals=[1, 0], at="end")
    return ocp


def tangent():
    """(x - 1)^2 = 0 has a gradient of zero where it holds: no multipliers satisfy the KKT conditions at the optimum."""
    ocp, x, u = integrator_chain()
    ocp.minimize(u**2)
    ocp.constrain("start", x, equals=0, at="start")
    ocp.constrain("touch", (x[0] - 1) ** 2, equals=0, at="end")
    return ocp


@pytest.mark.parametrize(
    ("make", "status"),
    [
        (redundant, "solved"),
        (badly_scaled, "solved"),
        (without_a_cost, "solved"),
        (tangent, "stalled"),
        (contradiction, "infeasible"),
        (out_of_reach, "infeasible"),
        (endless, "unbounded"),
        (saddle, "not minimal"),
        (undefined, "not finite"),
    ],
)
def test_awkward_problems_end_with_the_right_status(make, status):
    solution = solve(make())
    assert solution.status == status
    assert solution.advice or solution.status == "solved"
    if solution.status == "solved":
        assert max(solution.residual.dynamics, solution.residual.equalities) < 1e-6


def test_a_term_that_is_not_finite_is_located():
    solution = solve(undefined())
    assert (solution.fault.name, solution.fault.stage) == ("cost 1", 0)


def test_a_solver_that_met_a_bad_problem_solves_a_good_one():
    ocp, x, u = integrator_chain()
    depth, target = ocp.parameter("depth"), ocp.parameter("goal")
    ocp.minimize(u**2 + ca.sqrt(x[0] + depth))
    ocp.constrain("start", x, equals=0, at="start")
    ocp.constrain("finish", x, equals=ca.vertcat(target, 0), at="end")
    ocp.constrain("push", u, lower=-2, upper=2)
    solver = ocp.build()
    good = solver.solve(depth=1.0, goal=1.0)
    assert solver.solve(depth=-1.0, goal=1.0).status == "not finite"
    for goal in (3.0, 30.0, 89.0, 91.0, 1000.0):
        far = solver.solve(depth=1.0, goal=goal)
        assert far.status == "infeasible" and far.statistics.iterations < 50
    again = solver.solve(depth=1.0, goal=1.0)
    assert good.status == again.status == "solved"
    np.testing.assert_array_equal(good.x, again.x)


def test_the_defaults_of_the_settings_are_those_of_the_core():
    given, plain = core_settings(Settings(), warm=False), core.Settings()
    for name in (
        "tolerance",
        "iterations",
        "seconds",
        "initial_barrier",
        "adaptive",
        "patience",
        "threads",
        "warm_start",
    ):
        assert getattr(given, name) == getattr(plain, name), name


def test_limits_of_iterations_and_time():
    solver = swing_up().build()
    few = solver.solve(settings=Settings(iterations=3))
    assert (few.status, few.statistics.iterations) == ("iteration limit", 3)
    assert solver.solve(settings=Settings(seconds=1e-9)).status == "time limit"
    assert solver.solve(settings=Settings(iterations=0)).status == "iteration limit"


# --- the adaptive barrier


@pytest.mark.parametrize("name", ["truck_trailer_parking", "two_link_minimum_time", "particle_steering"])
def test_the_adaptive_barrier_finds_the_same_optimum(name):
    task = ready(name)
    solver = task.build()
    adaptive = solver.solve(task.guess, settings=Settings(barrier="adaptive"), **task.parameters)
    assert adaptive.status == "solved"
    oracle = ipopt(task, solver, mu_strategy="adaptive").solve()
    assert abs(adaptive.objective - oracle.objective) <= 1e-6 * max(1.0, abs(oracle.objective))
    assert any(later.mu > now.mu for now, later in pairwise(adaptive.records))  # as it never does monotonely
    assert adaptive.statistics.iterations <= 30


@pytest.mark.parametrize(
    ("make", "status"),
    [("redundant", "solved"), ("without_a_cost", "solved"), ("out_of_reach", "infeasible"), ("endless", "unbounded"),
     ("undefined", "not finite"), ("tangent", "stalled"), ("saddle", "not minimal")],
)  # fmt: skip
def test_the_adaptive_barrier_on_awkward_problems(make, status):
    assert solve(globals()[make](), settings=Settings(barrier="adaptive")).status == status


# --- jams


def test_short_steps_in_a_row_ask_for_restoration():
    task = ready("pendulum_swing_up")
    solver = task.build()
    objective = ipopt(task, solver).solve().objective
    for patience in (0, 2, 3):
        settings = Settings(barrier="adaptive", patience=patience)
        solution = solver.solve(task.guess, settings=settings)
        assert solution.status == "solved" and solution.objective == pytest.approx(objective, rel=1e-6)
        short = [step.alpha_primal < 0.1 and step.kind in "fhs" for step in solution.records]
        kinds = "".join("-" if each else step.kind for each, step in zip(short, solution.records))
        assert ("-" * patience + "r" in kinds) == (patience > 0)
        assert patience == 0 or "-" * (patience + 1) not in kinds


def test_where_the_quick_rules_fail_the_patient_one_is_asked():
    """The start comes twice in the log; from the second time on mu never rises."""
    solver = swing_up_in_units(rows=1e-5).build()
    quick, patient = solver.solve(settings=Settings(barrier="adaptive", patience=3)), solver.solve()
    assert quick.status == patient.status == "solved"
    assert quick.objective == pytest.approx(patient.objective, rel=2e-6)
    first, again = (i for i, step in enumerate(quick.records) if step[1:6] == patient.records[0][1:6])
    rises = [i for i, (now, later) in enumerate(pairwise(quick.records)) if later.mu > now.mu and later.kind != "r"]
    assert first <= min(rises) <= max(rises) < again


def test_settings_are_checked():
    for wrong, sentence in (
        ({"patience": -1}, "patience is -1, expected a number from 0 to 1000000000"),
        ({"barrier": "free"}, "barrier is 'free', expected 'monotone' or 'adaptive'"),
        ({"threads": 0}, "threads is 0, expected a number from 1 to 256"),
        ({"threads": True}, "threads is True"),
        ({"log": 1}, "log is 1, expected True or False"),
        ({"tolerance": -1.0}, "tolerance is -1.0, expected a positive number"),
    ):
        with pytest.raises(ProblemError, match=sentence):
            Settings(**wrong)


def test_an_interrupt_ends_a_solve_within_an_iteration():
    """Sent from another thread once the solve is under way; the next iterations wait until it was sent."""
    solver, under_way, sent = swing_up().build(), threading.Event(), threading.Event()

    def watch(each):
        under_way.set()
        if each.iteration > 1:
            sent.wait()

    def interrupt():
        under_way.wait()
        _thread.interrupt_main()
        sent.set()

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started us may have it ignored
    sender = threading.Thread(target=interrupt)
    try:
        sender.start()
        solution = solver.solve(callback=watch)
    finally:
        sender.join()
        signal.signal(signal.SIGINT, before)
    assert solution.status == "interrupted" and solution.statistics.iterations <= 2
    assert solver.solve().status == "solved"


def test_feedback_gains_are_those_of_the_linear_problem():
    """On a linear-quadratic problem the gains are the Riccati room's own."""
    from trisweep.riccati import LQProblem, Stage

    ocp, x, u = rest_to_rest()
    solution = solve(ocp)
    A, B = [[1, 0.1], [0, 1]], [[0], [0.1]]
    final = Stage(np.zeros((2, 2)), np.zeros(2), Gx=np.eye(2), g=[-1, 0])
    chain = LQProblem.chain(20, A=A, B=B, Q=np.zeros((2, 2)), R=[[2.0]], final=final, initial_state=[0, 0])
    for gain, expected in zip(solution.gains, chain.solve().gains):
        np.testing.assert_allclose(gain, expected.K, atol=1e-8 * np.abs(expected.K).max())
