"""Two sets of rules at once: whose answer counts, and how both end."""

import threading

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


def test_an_end_asked_for_ends_both():
    solver, before = swing_up().build(), threading.active_count()
    solution = solver.solve(settings=BOTH, callback=lambda iteration: iteration.iteration == 0)
    assert solution.status in ("interrupted", "solved") and threading.active_count() == before
    with pytest.raises(ZeroDivisionError):
        solver.solve(settings=BOTH, callback=lambda iteration: 1 / 0)
    assert threading.active_count() == before and solver.solve(settings=BOTH).solved


def test_the_rules_of_the_other_way():
    assert portfolio.others(BOTH) == portfolio.replace(OF_IPOPT, portfolio=True)
    assert portfolio.others(portfolio.replace(OF_IPOPT, portfolio=True)) == BOTH


def test_who_has_no_portfolio_says_so():
    problem = swing_up()
    with pytest.raises(ts.ProblemError, match="solve: the backend 'ipopt' has no portfolio, only 'native' has"):
        problem.build(backend="ipopt").solve(settings=BOTH)
    with pytest.raises(ts.ProblemError, match=r"solve_many: Settings\.portfolio is for one problem"):
        problem.build().solve_many(settings=BOTH)
