"""Public problems in other units: "solved" is true in any of them, of the cost, of the variables, and of both."""

import numpy as np
import pytest
from scoreboard.units import rescaled, rescaled_guess
from suite import case
from trisweep.ocp.judge.residual import SLACK, Point

SCALES = (1e-6, 1e-3, 1e3, 1e6)
PROBLEMS = ("beam", "crane", "double_integrator_time", "quadruped", "robbins", "vanderpol")
RELATIVE = ("stationarity", "dynamics", "equalities", "inequalities", "bounds", "complementarity")


@pytest.fixture(scope="module", params=PROBLEMS)
def stated(request):
    made = case(request.param).build()
    first = made.problem.build().solve(made.guess, **made.parameters)
    assert first.status == "solved"
    return request.param, made, first


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kinds", [("cost",), ("variables",), ("cost", "variables")], ids=" and ".join)
def test_a_solution_is_one_in_any_units(stated, kinds, scale):
    """IPOPT's tolerance, and ours before, are absolute: the beam in units of 1e-6 was "solved" at 8.9895, and a
    quadruped, some of whose states stay at zero, at 0.0643472 instead of 0.0642622.
    """
    name, made, first = stated
    problem, guess = made.problem, made.guess
    for kind in kinds:
        guess, problem = rescaled_guess(problem, guess, kind, scale), rescaled(problem, kind, scale)
    solution = problem.build().solve(guess, **made.parameters)
    assert solution.status == "solved"
    assert name != "beam" or solution.statistics.iterations <= 2 * first.statistics.iterations
    objective = solution.objective / (scale if "cost" in kinds else 1.0)
    assert objective == pytest.approx(first.objective, rel=1e-5)
    assert solution.measured.relative.worst <= SLACK * solution.tolerance


@pytest.mark.parametrize(
    ("name", "kind", "scale"),
    [
        *(("moonlander", "variables", scale) for scale in (1e-6, 1e-4, 1e-2)),
        *(("obstacle", "rows", scale) for scale in (1e2, 1e4, 1e6)),
        ("notorious", "rows", 1e-6),
        ("notorious", "variables", 1e-4),
        ("quadrotor", "variables", 1e-6),
        *(("quadrotor", "rows", scale) for scale in (1e4, 1e6)),
        *(("brachistochrone", "variables", scale) for scale in (1e-4, 1e-2, 1e4)),
    ],
)
def test_powers_of_a_hundred_are_told_from_the_numbers(name, kind, scale):
    """In such units these ended in another minimum, were called infeasible or took hundreds of iterations."""
    made = case(name).build()
    first = made.problem.build().solve(made.guess, **made.parameters)
    guess = rescaled_guess(made.problem, made.guess, kind, scale)
    solution = rescaled(made.problem, kind, scale).build().solve(guess, **made.parameters)
    assert first.solved and solution.solved
    assert solution.objective == pytest.approx(first.objective, rel=1e-6)
    assert solution.statistics.iterations <= 1.5 * first.statistics.iterations + 2


@pytest.mark.parametrize("scale", [1e-6, 1e-4, 1e-2, 1e2, 1e4, 1e6])
def test_rows_that_contradict_leave_no_rounding_in_a_direction(scale):
    """At the straight line between the obstacles the linearised rows contradict each other: a refinement that went on
    against what no direction meets took steps of rounding, and in 1e6 these led to where the way is blocked.
    """
    made = case("obstacle").build()
    guess = rescaled_guess(made.problem, made.guess, "variables", scale)
    solution = rescaled(made.problem, "variables", scale).build().solve(guess, **made.parameters)
    assert solution.solved and solution.objective == pytest.approx(4.571044, rel=1e-6)
    assert solution.statistics.iterations <= 32


@pytest.mark.parametrize(("kind", "scale"), [("variables", 1e2), ("variables", 1e4), ("rows", 1e-6), ("rows", 1e-4)])
def test_a_saddle_is_left(kind, scale):
    """Where all conditions hold but the cost curves down, ever so little: "not minimal" before."""
    made = case("bioreactor_day").build()
    guess = rescaled_guess(made.problem, made.guess, kind, scale)
    solution = rescaled(made.problem, kind, scale).build().solve(guess, **made.parameters)
    assert solution.solved and solution.objective == pytest.approx(-0.61413469, rel=1e-7)


@pytest.mark.parametrize("scale", [1e4, 1e6])
def test_what_a_singular_arc_leaves_open_is_told_beside_the_cost(scale):
    """Nothing curves there: an error that is small beside the cost lingered for hundreds of iterations, and rounding
    was taken for curvature.
    """
    made = case("bioreactor_day").build()
    solution = rescaled(made.problem, "cost", scale).build().solve(made.guess, **made.parameters)
    assert solution.solved and solution.statistics.iterations <= 500
    assert solution.objective / scale == pytest.approx(-0.61413469, rel=1e-7)


@pytest.mark.parametrize(("name", "scale"), [("powell20", 1e-6), ("powell20", 1e-4), ("ubh1", 1e6), ("huestis", 1e6)])
def test_convex_programs_have_units_too(name, scale):
    """Beside limits of 1e6, rows of 1e9 and curvatures of 1e12 these stalled or found no end."""
    made = case(name).build()
    first = made.problem.build().solve(made.guess, **made.parameters)
    guess = rescaled_guess(made.problem, made.guess, "variables", scale)
    solution = rescaled(made.problem, "variables", scale).build().solve(guess, **made.parameters)
    assert solution.solved and solution.objective == pytest.approx(first.objective, rel=1e-6)


def test_a_small_cost_is_scaled_as_far_as_it_takes():
    made = case("singular5").build()
    first = made.problem.build().solve(made.guess, **made.parameters)
    solution = rescaled(made.problem, "cost", 1e-6).build().solve(made.guess, **made.parameters)
    assert solution.solved and 1e6 * solution.objective == pytest.approx(first.objective, rel=1e-7)


@pytest.mark.parametrize(("name", "scale"), [("crane", 1e6), ("methanol", 1e-6), ("methanol", 1e-4)])
def test_a_cost_without_slope_at_the_guess_is_scaled_by_its_curvature(name, scale):
    made = case(name).build()
    first = made.problem.build().solve(made.guess, **made.parameters)
    solution = rescaled(made.problem, "cost", scale).build().solve(made.guess, **made.parameters)
    assert solution.solved and solution.objective / scale == pytest.approx(first.objective, rel=1e-6)


@pytest.mark.parametrize("scale", SCALES)
def test_the_judge_says_the_same_in_any_units(stated, scale):
    """At a point near the solution, whose errors are larger than what rounding makes of them."""
    _, made, first = stated
    rng = np.random.default_rng(0)
    size = 1e-3 * np.abs(first.point.z)
    z = first.point.z + size * rng.uniform(-1, 1, len(first.point.z))
    y = first.point.y * (1 + 1e-3 * rng.uniform(-1, 1, len(first.point.y)))
    here = first.solver.backend.judge(Point(z, y, first.point.w, *_parameters(first)), first.limit_vectors)
    scaled = rescaled(made.problem, "cost", scale).build()
    point = Point(z, scale * y, scale * first.point.w, *_parameters(first))
    limits = scaled.limits.at(z, *_parameters(first))
    for there in (scaled.backend.judge(point, limits), scaled.plain_conditions.measure(point, limits)):
        for name in RELATIVE:
            assert getattr(there.relative, name) == pytest.approx(getattr(here.relative, name), rel=1e-5, abs=1e-14)


def _parameters(solution):
    return solution.point.shared_parameters, solution.point.stage_parameters
