"""Solvers shared by threads, and solves on several threads: the same numbers whatever happens at the same time."""

import threading

import numpy as np
from support.ocp_problems import rest_to_rest, swing_up
from trisweep.ocp import Settings


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


def test_threads_come_and_go():
    solver = swing_up("euler").build()
    expected = solver.solve().point.z
    for threads in (8, 1, 3, 16, 2, 1):
        np.testing.assert_array_equal(solver.solve(settings=Settings(threads=threads)).point.z, expected)
