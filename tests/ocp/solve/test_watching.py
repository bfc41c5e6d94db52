"""Solves that are watched by a callback or a live table, and solves on several threads."""

import casadi as ca
import numpy as np
import pytest
from support.ocp_problems import integrator_chain, out_of_reach, swing_up
from trisweep.ocp import ProblemError, Settings

# --- watching a solve


def test_a_callback_sees_every_iteration_as_it_comes():
    solver, seen = swing_up().build(), []
    solution = solver.solve(callback=seen.append)
    assert solution.status == "solved" and seen == solution.records
    assert [each.iteration for each in seen] == list(range(solution.statistics.iterations + 1))
    assert seen[-1].objective == pytest.approx(solution.objective, rel=1e-10)  # its rows are corrected after that
    assert max(seen[-1].infeasibility, seen[-1].dual_infeasibility, seen[-1].complementarity) < 1e-7
    assert seen[0].alpha_primal == 0.0 < seen[1].alpha_primal <= 1.0


def test_a_callback_may_end_a_solve():
    solver = swing_up().build()
    whole = solver.solve()
    early = solver.solve(callback=lambda each: each.iteration == 4)
    assert (early.status, early.statistics.iterations) == ("interrupted", 4) and early.advice
    assert early.objective == pytest.approx(whole.records[4].objective, rel=1e-12)
    np.testing.assert_array_equal(solver.solve().angle, whole.angle)


def test_what_a_callback_raises_is_passed_on():
    solver = swing_up().build()
    whole = solver.solve()

    def fall(each):
        if each.iteration == 3:
            raise LookupError("iteration three")

    with pytest.raises(LookupError, match="iteration three"):
        solver.solve(callback=fall)
    with pytest.raises(ProblemError, match="called from the callback of this very solver"):
        solver.solve(callback=lambda _: solver.solve())
    np.testing.assert_array_equal(solver.solve().angle, whole.angle)
    with pytest.raises(ProblemError, match="callback is 3, expected a function"):
        solver.solve(callback=3)
    with pytest.raises(ProblemError, match=r"callback returned array\(\[.*\]\), expected True or False"):
        solver.solve(callback=lambda each: np.zeros(2))


def test_a_callback_sees_restoration_too():
    seen = []
    solution = out_of_reach().build().solve(callback=seen.append)
    assert solution.status == "infeasible"
    restoring = [each for each in seen if each.kind == "r"]
    assert restoring and seen == solution.records
    assert restoring[-1].infeasibility == pytest.approx(max(v.amount for v in solution.violations), rel=1e-3)
    ended = out_of_reach().build().solve(callback=lambda each: each.kind == "r")
    assert ended.status == "interrupted" and ended.statistics.iterations == restoring[0].iteration


def test_the_log_is_printed_while_the_solve_runs(capsys):
    solver = swing_up().build()
    lines = []

    def look(each):
        lines.append(len(capsys.readouterr().out.splitlines()))

    solution = solver.solve(settings=Settings(log=True), callback=look)
    assert lines == [2] + [1] * solution.statistics.iterations
    solver.solve()
    assert capsys.readouterr().out == ""


# --- threads


def phases_of_cost():
    """Blocks of 60, 7, 3 and single stages."""
    ocp = swing_up("euler")
    angle, speed = (variable.symbol for variable in ocp.states)
    ocp.constrain("slow", speed * ca.cos(angle), upper=7, at=slice(20, 27))
    ocp.constrain("slower", speed**2, upper=60, at=slice(30, 33))
    return ocp


@pytest.mark.parametrize("make", [swing_up, phases_of_cost, out_of_reach])
def test_results_do_not_depend_on_threads(make):
    solver = make().build()
    alone = solver.solve()
    for threads in (2, 1, 3, 2):
        other = solver.solve(settings=Settings(threads=threads))
        assert other.status == alone.status and other.records == alone.records
        for part in ("z", "y", "w"):
            np.testing.assert_array_equal(getattr(other.point, part), getattr(alone.point, part))


@pytest.mark.parametrize("threads", [1, 2])
def test_faults_are_located_on_every_thread(threads):
    ocp, x, u = integrator_chain()
    bad = ocp.parameter("bad", per_stage=True)
    ocp.minimize(u**2 + ca.log(bad) * x[0], name="cost")
    ocp.constrain("start", x, equals=0, at="start")
    solver = ocp.build()
    for stages in ([3], [17], [9, 15], [15, 19]):
        values = np.ones(21)
        values[stages] = -1.0
        solution = solver.solve(settings=Settings(threads=threads), bad=values)
        assert (solution.status, solution.fault.name, solution.fault.stage) == ("not finite", "cost", stages[0])


def test_another_solver_solves_in_the_middle_of_a_solve_of_the_first():
    """They share machine code, not memory: one may be called from the other's callback, and nothing changes."""
    solver = swing_up().build()
    other, alone, beside = solver.another(), solver.solve(), []
    assert other.backend.code is solver.backend.code or other.backend.code == solver.backend.code
    again = solver.solve(callback=lambda each: beside.append(other.solve()) if each.iteration == 2 else None)
    for solution in (again, beside[0]):
        np.testing.assert_array_equal(solution.angle, alone.angle)
        assert solution.statistics.iterations == alone.statistics.iterations
