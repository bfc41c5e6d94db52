"""The quicker half of the public problems (bench/suite): solved, as published, and IPOPT stays where we end."""

from dataclasses import replace

import numpy as np
import pytest
import trisweep as ts
from scoreboard.judge import SAME, TOLERANCE, Judge, conditions, left_open
from scoreboard.outcome import Outcome, Task, read, write
from scoreboard.pool import Worker, outcomes
from scoreboard.profile import profile
from scoreboard.table import Board, by_problem, remarks, summary
from scoreboard.units import KINDS, rescaled, rescaled_guess
from suite import case, cases, places
from support.rivals import OF_IPOPT
from trisweep.ocp.judge.residual import Point
from trisweep.ocp.statement.costs_and_constraints.terms import Kind

QUICK = (
    "beam", "bolza", "cart_pendulum", "dielectrophoretic_particle", "double_integrator_time", "double_oscillator",
    "electric_vehicle", "fuller", "goddard_speed", "jackson", "moonlander", "robbins", "simple_integrator", "vanderpol",
    "catalyst_mixing", "chain", "channel", "gas_oil", "marine", "methanol", "pinene", "rocket", "steering",
    "car_quadratic_penalty", "work", "quadruped", "walking", "breakwell", "bryson_denham", "bryson_max_range",
    "coulomb", "crane", "delay", "dqc", "fishing", "goddard_thin_air", "isoperimetric", "moon", "mpec", "obstacle",
    "pendulum_length", "predator", "rayleigh", "singular5", "state_constrained", "steps", "wheat",
)  # fmt: skip


@pytest.fixture(scope="module")
def answer():
    """A solver and its solution of a small problem."""
    stated = case("bryson_max_range").build()
    solver = stated.problem.build()
    return solver, solver.solve(stated.guess, **stated.parameters)


def test_the_suite_is_as_large_as_it_should_be():
    assert len(places()) >= 80
    assert sum(case(name).instances for name in places()) >= 500


def test_half_of_it_is_here():
    assert len(QUICK) >= len(places()) / 2
    assert set(QUICK) <= set(places())


# From their own guesses the default rules end in another minimum of these: a free end time, rates of a predator.
ELSEWHERE = ("bryson_denham", "predator")


@pytest.mark.parametrize("name", QUICK)
def test_solved_as_published(name):
    one = case(name)
    stated = one.build()
    solver = stated.problem.build()
    solution = solver.solve(stated.guess, **stated.parameters)
    assert solution.solved, solution
    if name in ELSEWHERE:
        assert Judge(solver, seconds=600)(solution).false == ""
        solution = solver.solve(stated.guess, settings=OF_IPOPT, **stated.parameters)
    assert one.agrees(solution.objective), f"{solution.objective:.9g}, published {one.published():.9g}"
    verdict = Judge(solver, seconds=600)(solution)
    assert verdict.false == ""


def test_a_full_step_is_corrected_for_as_long_as_that_makes_it_better():
    """The first correction violates more than the start, the next ones do not: 34 iterations without them."""
    stated = case("gas_oil").build()
    solution = stated.problem.build().solve(stated.guess, **stated.parameters)
    assert solution.solved and solution.statistics.iterations <= 20, solution


def test_the_end_of_a_restoration_is_no_iteration():
    """Its last step is one; that the search goes on from there is said under the same number."""
    stated = case("isoperimetric").build()
    solution = stated.problem.build().solve(stated.guess, settings=OF_IPOPT, **stated.parameters)
    restored = [(one, then) for one, then in zip(solution.records, solution.records[1:])
                if one.kind == "r" and then.iteration == one.iteration]  # fmt: skip
    assert solution.solved and restored
    assert all(then.objective == pytest.approx(one.objective) for one, then in restored)


def test_every_problem_says_where_it_is_from():
    for one in cases():
        assert one.source, one.name
        assert one.tolerance > 0, one.name
        assert one.instances == 1 or one.instance is not None, one.name
        assert not isinstance(one.optimum, tuple) or len(one.optimum) == one.instances, one.name


def test_the_judge_confirms_a_solution(answer):
    solver, solution = answer
    verdict = Judge(solver, seconds=600)(solution)
    assert verdict.false == ""
    assert verdict.moved < 1e-6


def test_the_judge_finds_a_motion_that_breaks_the_dynamics(answer):
    _, solution = answer
    z = solution.point.z.copy()
    z[len(z) // 2] += 1e-3
    assert conditions(replace(solution, point=replace(solution.point, z=z)))


def test_the_judge_finds_multipliers_that_are_wrong(answer):
    _, solution = answer
    wrong = replace(solution.point, y=np.zeros_like(solution.point.y))
    assert "stationarity" in conditions(replace(solution, point=wrong))


def test_the_judge_finds_a_feasible_motion_that_is_not_the_best():
    """From where slopes vanish IPOPT goes on: a stationary point of a cost that falls to both sides."""
    ocp = ts.Problem(steps=1)
    x, u = ocp.state("x"), ocp.control("u", lower=-2, upper=2)
    ocp.next(x=x + u)
    ocp.minimize((u**2 - 1) ** 2)
    ocp.constrain("start", x, equals=0, at="start")
    solver = ocp.build()
    solution = solver.solve({"u": 0.9})
    assert Judge(solver, seconds=600).resolve(solution).moved < 1e-6
    z = solution.point.z.copy()
    z[0], z[2] = 0.2, 0.2  # u and where it leads
    elsewhere = replace(solution.point, z=z)
    measured = solver.plain_conditions.measure(elsewhere, solution.limit_vectors)
    moved = replace(solution, point=elsewhere, judged=measured)
    assert "IPOPT goes on" in Judge(solver, seconds=600).resolve(moved).false


def test_what_a_tolerance_leaves_open_is_known_by_the_multipliers():
    """1000 u with u >= 2: a limit that is widened by 1e-8 of 2 moves the objective by 2e-5."""
    ocp = ts.Problem(steps=1)
    x, u = ocp.state("x"), ocp.control("u", lower=2)
    ocp.next(x=x + u)
    ocp.minimize(1000 * u)
    ocp.constrain("start", x, equals=0, at="start")
    solution = ocp.build().solve()
    expected = TOLERANCE * (2000 + 0.1) + SAME * 2000
    assert left_open(solution) == pytest.approx(expected, rel=1e-6)


def test_a_convex_program_that_the_predictor_gives_up_is_solved_all_the_same():
    """HUESTIS in its smaller units: rows of 1e3 beside values of 1e-2, once called infeasible."""
    one = case("huestis")
    stated = one.build()
    guess, parameters = one.starts(1, stated)
    solution = stated.problem.build().solve(guess, **parameters)
    assert solution.status == "solved" and one.agrees(solution.objective, 1)


def test_a_process_that_dies_costs_one_entry():
    worker = Worker(seconds=600, iterations=500)
    try:
        worker.give(Task("steps", "native", i) for i in (0, 1))
        worker.process.kill()
        lost = worker.hear()
        assert (lost.task, lost.status) == (Task("steps", "native", 0), "crashed")
        found = worker.hear() or worker.hear()
    finally:
        worker.stop()
    assert found.task == Task("steps", "native", 1)
    assert found.solved
    assert found.moved < 1e-6


def test_a_problem_that_cannot_be_stated_is_said_and_the_next_goes_on():
    found = list(outcomes([[Task("nothing", "native", 0)], [Task("steps", "ipopt", 0)]], 1, 600.0, 500))
    assert [outcome.status for outcome in found] == ["refused", "solved"]
    assert "there is no problem 'nothing'" in found[0].remark


def test_outcomes_are_kept_and_the_last_counts(tmp_path):
    path = tmp_path / "kept.jsonl"
    first = Outcome("beam", "native", 0, "stalled", iterations=3, objective=1.0)
    write(path, first)
    write(path, replace(first, status="solved"))
    assert read(path) == [replace(first, status="solved")]
    assert len(path.read_text().splitlines()) == 2


def test_the_board_counts_and_names_what_is_wrong():
    made = [
        Outcome("beam", "native", 0, "solved", 10, 0.001, 1.0, 1.0, 0.0),
        Outcome("beam", "ipopt", 0, "solved", 12, 0.004, 1.0, 1.0, 0.0),
        Outcome("beam", "fatrop", 0, "solved", 9, 0.002, 1.0, 1.0, 0.0, false="stationarity 1, expected at most 1e-5"),
        Outcome("chain", "native", 0, "infeasible", 5, 0.001, 2.0),
        Outcome("chain", "ipopt", 0, "solved", 5, 0.001, 2.0),
    ]
    board = Board(made)
    everything = summary(board)[-1].split(" | ")
    assert everything[3:6] == ["1", "2", "0"]
    assert everything[6:9] == ["0", "0", "1"]
    assert everything[9] == "10 / 12"
    assert everything[11] == "4.0"
    said = "\n".join(remarks(board))
    assert "chain[0]: infeasible; solved by IPOPT" in said
    assert "beam[0], FATROP: stationarity" in said
    assert "- chain[0]: Trisweep" in said
    assert any("infeasible: 5" in line for line in by_problem(board))
    curves = profile(board, "seconds")
    assert curves["native"][0].tolist() == [1.0]
    assert curves["native"][1].tolist() == [0.5]
    np.testing.assert_allclose(curves["ipopt"], [[1.0, 4.0], [0.5, 1.0]])
    assert len(curves["fatrop"][0]) == 0


@pytest.mark.parametrize("kind", KINDS)
def test_other_units_are_the_same_problem(kind):
    """Objective and rows at a random motion are those of the first units, times the scale where they are scaled."""
    problem, scale = case("rayleigh").build().problem, 1e3
    first, other = (made.build(backend="ipopt") for made in (problem, rescaled(problem, kind, scale)))
    times = {part: scale if part == kind else 1.0 for part in KINDS}
    layout = first.layout

    z = np.random.default_rng(5).standard_normal(layout.size_z)
    y, none = np.zeros(layout.size_y), np.zeros(0)

    def measured(solver, z):
        return solver.plain_conditions.measure(Point(z, y, 0 * z, none, none), solver.limits.at(z, none, none))

    here, there = measured(first, z), measured(other, times["variables"] * z)
    of_rows = np.full(layout.size_y, times["rows"])
    of_rows[layout.kind(Kind.DYNAMICS)] = times["variables"]
    np.testing.assert_allclose(there.rows, of_rows * here.rows, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(there.outside_bounds, times["variables"] * here.outside_bounds, rtol=1e-9, atol=1e-9)
    assert there.objective == pytest.approx(times["cost"] * here.objective)
    assert rescaled_guess(problem, {"x": 2.0}, kind, scale)["x"] == 2 * times["variables"]


def test_other_units_want_one_phase_of_vectors():
    with pytest.raises(ValueError, match="expected one phase of vectors"):
        rescaled(case("two_phase_robot").build().problem, "cost", 10.0)
