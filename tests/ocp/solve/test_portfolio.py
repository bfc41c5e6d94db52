"""Two sets of rules at once: whose answer counts, and how both end."""

import signal
import sys
import threading
import time
import traceback

import pytest
import trisweep as ts
from support.ocp_problems import swing_up
from support.rivals import OF_IPOPT
from trisweep.ocp.solve import portfolio

BOTH = ts.Settings(portfolio=True)


def test_the_answer_is_a_solution():
    solver = swing_up().build()
    alone, both = solver.solve(), solver.solve(settings=BOTH)
    assert both.solved and both.check().worst <= 1e-8
    assert both.objective == pytest.approx(alone.objective, rel=1e-7)
    assert solver.solve().objective == alone.objective


@pytest.mark.parametrize("slow", [0, 1])
def test_the_first_to_solve_it_ends_the_other(slow):
    """The slow way waits in its first iteration until the other has an answer."""
    solver, ended = swing_up().build(), threading.Event()
    seen = []
    real = solver.backend.run_on

    def run_on(core, request):
        at = 0 if core is solver.backend.core else 1
        watcher = request.watcher

        def watch(iteration):
            if at == slow:
                assert ended.wait(60)
            return watcher(iteration)

        outcome = real(core, portfolio.replace(request, watcher=watch))
        seen.append((at, outcome.status))
        if at != slow:
            ended.set()
        return outcome

    solver.backend.run_on = run_on
    solution = solver.solve(settings=BOTH)
    assert solution.solved
    assert seen[0] == (1 - slow, "solved")
    assert seen[1][0] == slow


def test_where_the_first_fails_the_other_is_waited_for():
    """Three iterations are too few for one of them: by a limit that only the first one has."""
    solver, real = swing_up().build(), None
    real = solver.backend.run_on

    def run_on(core, request):
        if core is solver.backend.core:
            request = portfolio.replace(request, settings=portfolio.replace(request.settings, iterations=3))
        return real(core, request)

    solver.backend.run_on = run_on
    assert solver.solve(settings=BOTH).solved


def test_the_rules_of_the_other_way():
    assert portfolio.others(BOTH) == portfolio.replace(OF_IPOPT, portfolio=True)
    assert portfolio.others(portfolio.replace(OF_IPOPT, portfolio=True)) == BOTH


def test_who_has_no_portfolio_says_so():
    problem = swing_up()
    with pytest.raises(ts.ProblemError, match="solve: the backend 'ipopt' has no portfolio, only 'native' has"):
        problem.build(backend="ipopt").solve(settings=BOTH)
    with pytest.raises(ts.ProblemError, match=r"solve_many: Settings\.portfolio is for one problem"):
        problem.build().solve_many(settings=BOTH)


@pytest.fixture
def slow():
    """A solver whose first way ends after an iteration without an answer; the other's request is changed as told."""
    solver, changes = swing_up().build(), []
    real = solver.backend.run_on

    def run_on(core, request):
        if core is solver.backend.core:
            few = portfolio.replace(request.settings, iterations=1)
            return real(core, portfolio.replace(request, settings=few))
        for change in changes:
            request = change(request)
        return real(core, request)

    solver.backend.run_on = run_on
    return solver, changes


def test_an_end_asked_for_ends_both(slow):
    """The other way is not let go until then."""
    (solver, changes), before = slow, threading.active_count()
    asked = threading.Event()

    def held(request):
        assert asked.wait(60)
        return request

    def ask(iteration):
        asked.set()
        return True

    def fail(iteration):
        asked.set()
        return 1 / 0

    changes.append(held)
    assert solver.solve(settings=BOTH, callback=ask).status in ("interrupted", "solved")
    assert threading.active_count() == before
    asked.clear()
    with pytest.raises(ZeroDivisionError):
        solver.solve(settings=BOTH, callback=fail)
    assert threading.active_count() == before and solver.solve(settings=BOTH).solved


def test_what_the_other_way_raises_is_raised(slow):
    """And the next solve is as if nothing had been."""
    (solver, changes), before = slow, threading.active_count()

    def fail(request):
        raise MemoryError("none left")

    changes.append(fail)
    with pytest.raises(MemoryError, match="none left"):
        solver.solve(settings=BOTH)
    assert threading.active_count() == before
    changes.clear()
    assert solver.solve(settings=BOTH).solved


class Alarm(Exception):
    """What a handler of signals raises."""


def wait_for_the_caller():
    """Until the main thread waits for the other way."""
    main = threading.main_thread().ident
    wanted = {portfolio.Both.wait.__code__, threading.Event.wait.__code__}
    while not wanted <= {frame.f_code for frame, _ in traceback.walk_stack(sys._current_frames()[main])}:
        time.sleep(1e-3)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("raised", [Alarm, KeyboardInterrupt])
def test_a_signal_while_the_other_way_is_waited_for(slow, raised):
    """It ends the other way, and then counts as in any solve."""
    (solver, changes), before, handled = slow, threading.active_count(), threading.Event()

    def handle(number, frame):
        handled.set()
        raise raised

    def interrupted(request):
        def watch(iteration):
            wait_for_the_caller()
            signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)
            assert handled.wait(60)
            wait_for_the_caller()
            assert request.watcher(iteration)
            return True

        return portfolio.replace(request, watcher=watch)

    changes.append(interrupted)
    previous = signal.signal(signal.SIGUSR1, handle)
    try:
        if raised is Alarm:
            with pytest.raises(Alarm):
                solver.solve(settings=BOTH)
        else:
            assert solver.solve(settings=BOTH).status == "interrupted"
    finally:
        signal.signal(signal.SIGUSR1, previous)
    assert threading.active_count() == before
    changes.clear()
    assert solver.solve(settings=BOTH).solved
