"""Solvers shared by threads, and solves on several threads: the same numbers whatever happens at the same time."""

import threading

import casadi as ca
import numpy as np
import trisweep as ts
from support.ocp_problems import rest_to_rest, swing_up
from trisweep.ocp import ProblemError, Settings
from trisweep.problems.robot import robot


def together(count, work):
    """Run work(i) on as many threads, all of them let go at once; what one of them raises is raised here."""
    gate, raised = threading.Barrier(count), []

    def begin(i):
        try:
            gate.wait()
            work(i)
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=begin, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise raised[0]


def test_threads_share_a_solver():
    solver = swing_up("euler").build()
    expected = solver.solve().point.z

    def work(i):
        for k in range(3):
            solution = solver.solve(settings=Settings(threads=1 + (i + k) % 3))
            np.testing.assert_array_equal(solution.point.z, expected)

    together(4, work)


def test_each_thread_has_its_own_solver():
    solvers = [rest_to_rest()[0].build() for _ in range(4)]
    expected = solvers[0].solve().point.z

    def work(i):
        for _ in range(10):
            np.testing.assert_array_equal(solvers[i].solve(settings=Settings(threads=2)).point.z, expected)

    together(4, work)


def test_threads_share_all_that_a_solver_does():
    """One solves, one tries two ways, one has many problems, one has a loop."""
    ocp = ts.Problem(steps=30, step=0.05)
    x, u, goal = ocp.state("x", 2), ocp.control("u", lower=-4.0, upper=4.0), ocp.parameter("goal")
    ocp.derivative(x=ts.vertcat(x[1], u - 9.81 * ts.sin(x[0])))
    ocp.minimize((x[0] - goal) ** 2 + 0.1 * x[1] ** 2 + 0.01 * u**2)
    ocp.start("x")
    solver, start, goals = ocp.build(), {"x": [0.3, 0.0]}, np.linspace(0.5, 1.5, 6)[:, None]

    def loop():
        controller = solver.controller()
        return [controller.step(start, goal=goal).u for goal in goals]

    works = [
        lambda: [solver.solve(start=start, goal=goal, settings=Settings(threads=2)).u for goal in goals],
        lambda: [solver.solve(start=start, goal=goals[0], settings=Settings(portfolio=True)).solved],
        lambda: [each.u for each in solver.solve_many(start=start, goal=goals, threads=2, progress=False)],
        loop,
    ]
    expected = [work() for work in works]

    def again(i):
        for k in range(4):
            at = (i + k) % 4
            for found, wanted in zip(works[at](), expected[at], strict=True):
                np.testing.assert_array_equal(found, wanted)

    together(4, again)


def test_threads_share_machine_code():
    """Batches that give Python's lock away, and single calls whose arrays are written again once nobody has them."""
    compiled, rng = robot("iiwa14").compiled, np.random.default_rng(5)
    q, v, tau = rng.normal(size=(3, 400, 7))
    batch, slopes = compiled.forward_dynamics(q, v, tau), compiled.forward_dynamics_slopes(q, v, tau)

    def work(i):
        for k in range(5):
            np.testing.assert_array_equal(compiled.forward_dynamics(q, v, tau), batch)
            for state in range(i, 400, 20 + k):
                found = compiled.forward_dynamics_slopes(q[state], v[state], tau[state])
                for mine, all_of_them in zip(found, slopes, strict=True):
                    np.testing.assert_array_equal(mine, all_of_them[state])

    together(4, work)


def test_a_controller_takes_one_thread_at_a_time():
    ocp = ts.Problem(steps=300, step=0.02)
    x, v, u = ocp.state("x"), ocp.state("v"), ocp.control("u", lower=-1.0, upper=1.0)
    ocp.next(x=x + 0.02 * v, v=v + 0.02 * (u - ca.sin(x)))
    ocp.minimize(x**2 + v**2 + u**2)
    ocp.start("x", "v")
    controller, refused, gone = ocp.build().controller(), [], []

    def work(i):
        for _ in range(100):
            try:
                controller.step({"x": [1.0], "v": [0.0]})
                gone.append(i)
            except ProblemError as error:
                refused.append(str(error))

    together(4, work)
    assert gone
    assert set(refused) <= {"controller: it is at work on another thread, expected one at a time"}
    assert refused
    assert np.isfinite(controller.feedback(x=[1.0], v=[0.0]).u).all()


def test_threads_come_and_go():
    solver = swing_up("euler").build()
    expected = solver.solve().point.z
    for threads in (8, 1, 3, 16, 2, 1):
        np.testing.assert_array_equal(solver.solve(settings=Settings(threads=threads)).point.z, expected)
