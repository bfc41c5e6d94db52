"""Public problems in other units: "solved" is true in any of them, of the cost, of the variables, and of both."""

import numpy as np
import pytest
from scoreboard.units import rescaled, rescaled_guess
from suite import case
from trisweep.ocp.judge.residual import SLACK, Point

SCALES = (1e-6, 1e-3, 1e3, 1e6)
PROBLEMS = ("beam", "crane", "double_integrator_time", "robbins", "vanderpol")
LOST = {  # ended early, and said so: what the search does in such units is still to be mended
    ("crane", ("cost",), 1e6),
    ("crane", ("variables",), 1e6),
    ("crane", ("cost", "variables"), 1e6),
    ("double_integrator_time", ("cost", "variables"), 1e-6),
}
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
    """IPOPT's tolerance, and ours before, are absolute: the beam in units of 1e-6 was "solved" at 8.9895."""
    name, made, first = stated
    problem, guess = made.problem, made.guess
    for kind in kinds:
        guess, problem = rescaled_guess(problem, guess, kind, scale), rescaled(problem, kind, scale)
    solution = problem.build().solve(guess, **made.parameters)
    if (name, kinds, scale) in LOST and not solution.solved:
        assert solution.status in {"stalled", "not minimal"} and solution.advice
        return
    assert solution.status == "solved"
    assert name != "beam" or solution.statistics.iterations <= 2 * first.statistics.iterations
    objective = solution.objective / (scale if "cost" in kinds else 1.0)
    assert objective == pytest.approx(first.objective, rel=1e-5)
    assert solution.measured.relative.worst <= SLACK * solution.tolerance


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
