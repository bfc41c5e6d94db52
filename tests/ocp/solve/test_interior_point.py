"""The interior point against IPOPT on the same program."""

import _thread
import signal
import threading
from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest
from support.ocp_problems import integrator_chain, rest_to_rest, swing_up
from support.rivals import OF_IPOPT, ipopt
from trisweep.native import core
from trisweep.ocp import Problem
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


def test_functions_whose_lanes_do_not_fill_vectors_give_the_same_bits():
    ocp = swing_up()
    ocp.constrain("power", ocp.states[1].value * ocp.controls[0].symbol, upper=30)
    solver = ocp.build()
    usual = solver.solve()
    structure = solver.backend.structure
    blocks = structure.blocks
    for block in blocks:
        block.lanes = 1
    structure.blocks = blocks
    solver.backend.core = core.Solver(structure)
    other = solver.solve()
    assert usual.status == other.status == "solved"
    np.testing.assert_array_equal(usual.point.z, other.point.z)
    np.testing.assert_array_equal(usual.point.y, other.point.y)


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
    assert near.statistics.iterations < cold.statistics.iterations
    by_ipopt = solver.solve(goal=1.02, settings=OF_IPOPT)
    assert near.statistics.iterations < by_ipopt.statistics.iterations / 2
    assert abs(near.objective - cold.objective) < 1e-7


def test_hessians_reach_the_same_solution():
    """From nearby, as a swing-up has several local optima."""
    exact = solve(swing_up())
    guess = {name: rows + 0.01 * np.sin(np.arange(len(rows)))[:, None] for name, rows in exact.trajectories.items()}
    for hessian in ("exact", "gauss-newton", "no-dynamics"):
        other = swing_up().build(hessian=hessian).solve(guess=guess)
        assert other.status == "solved"
        assert abs(other.objective - exact.objective) < 1e-7


@pytest.mark.parametrize("smoothness", [1e-3, 1e-2, 0.1, 1.0])
def test_every_iterate_is_the_one_of_ipopt(smoothness):
    """Corrections of the inertia reach the slacks; the last digits of stiff systems are there, by refinement."""
    task = ready("truck_trailer_parking", smoothness=smoothness)
    solver = task.build()
    solution = solver.solve(task.guess, settings=OF_IPOPT)
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
