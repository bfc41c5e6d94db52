"""Every ready problem: solved from its guess to IPOPT's objective, within its limits, to published optima."""

from functools import cache

import numpy as np
import pytest
from support.rivals import ipopt
from trisweep.ocp import ProblemError
from trisweep.problems import names, task
from trisweep.problems.tasks.hanging_chain import catenary_energy
from trisweep.problems.tasks.iiwa_reach import GOAL, START

STEPS = {"iiwa_reach_constrained": 20}

ALL = names()


@cache
def solved(name):
    """A task, its solver, its solution and IPOPT's."""
    options = {"steps": STEPS[name]} if name in STEPS else {}
    made = task(name, **options)
    solver = made.build()
    program = ipopt(made, solver)
    return made, solver, solver.solve(made.guess, **made.parameters), program, program.solve()


@pytest.mark.parametrize("name", ALL)
def test_solved_with_the_objective_of_ipopt(name):
    """Goddard's rocket has a stretch along which its thrust hardly matters: there, a lower objective."""
    _, _, solution, _, oracle = solved(name)
    assert oracle.solved
    assert solution.status == "solved", solution.advice
    same = pytest.approx(oracle.objective, rel=1e-7)
    assert solution.objective == same or (name == "goddard_rocket" and solution.objective < oracle.objective)


@pytest.mark.parametrize("name", ALL)
def test_iterations_are_within_half_as_many_again_as_those_of_ipopt(name):
    _, _, solution, _, oracle = solved(name)
    assert solution.statistics.iterations <= 1.5 * oracle.iterations


@pytest.mark.parametrize("name", ALL)
def test_residuals_by_casadi_alone_are_within_tolerance(name):
    _, _, solution, program, _ = solved(name)
    residuals = program.residuals(solution)
    assert residuals.violation <= 1e-8
    assert residuals.stationarity <= 1e-8 * residuals.multipliers
    assert residuals.complementarity <= 1e-8 * residuals.multipliers


@pytest.mark.parametrize("name", ALL)
def test_limits_are_kept(name):
    made, _, solution, _, _ = solved(name)
    for variable in [*made.problem.states, *made.problem.controls]:
        values = solution.trajectories[variable.name]
        low, high = variable.limits.numbers
        assert (values >= low - 1e-8).all()
        assert (values <= high + 1e-8).all()


def test_iiwa_reaches_its_goal_from_rest():
    solution = solved("iiwa_reach")[2]
    np.testing.assert_allclose(solution.q[0], START, atol=1e-8)
    np.testing.assert_allclose(solution.q[-1], GOAL, atol=1e-8)
    np.testing.assert_allclose(solution.v[0], 0, atol=1e-8)
    assert solution.statistics.iterations <= 20


def test_a_built_reach_serves_other_starts_and_goals():
    made, solver, first, _, _ = solved("iiwa_reach")
    back = solver.solve({"q": GOAL}, start_pose=GOAL, goal=START)
    assert back.status == "solved"
    np.testing.assert_allclose(back.q[-1], START, atol=1e-8)
    again = solver.solve(made.guess, **made.parameters)
    assert again.objective == first.objective


def test_welded_end_effector_stays_where_it_is():
    """The weld holds accelerations, Euler's steps let the pose drift: by less for shorter steps."""
    from trisweep.problems.robot import robot

    arm = robot("iiwa14")
    drift = {}
    for steps, step in ((10, 0.05), (40, 0.0125)):
        solution = task("iiwa_reach_constrained", steps=steps, step=step).solve()
        places = np.array([arm.link_pose(q, "iiwa_flange")[1] for q in solution.q])
        drift[steps] = np.abs(places - places[0]).max()
        assert np.abs(solution.q[-1] - START).max() > 1e-2
    assert drift[40] < drift[10] < 1e-2


@pytest.mark.parametrize("name", ["hanging_chain", "particle_steering", "goddard_rocket"])
def test_published_optimum(name):
    """COPS gives six digits of the optimum of this very discretisation."""
    made, _, solution, _, _ = solved(name)
    assert solution.objective == pytest.approx(made.published, abs=1e-5)


def test_the_chain_comes_closer_to_the_catenary_with_every_refinement():
    errors = [task("hanging_chain", steps=steps).solve().objective - catenary_energy() for steps in (50, 100, 200)]
    assert errors[0] > 2.5 * errors[1] > 2.5**2 * errors[2] > 0


def test_energy_is_what_the_pendulum_was_given():
    """Along the swing, the motor's work less the friction's is the energy gained, within the error of the sums."""
    from trisweep.problems.tasks.pendulum import DAMPING, GRAVITY, LENGTH, MASS

    made, _, solution, _, _ = solved("pendulum_swing_up")
    theta, omega, u = solution.theta[:, 0], solution.omega[:, 0], solution.u[:, 0]
    work = np.sum(u * np.diff(theta))
    friction = DAMPING * np.sum((omega[:-1] ** 2 + omega[1:] ** 2) / 2) * made.problem.time_step
    assert work - friction == pytest.approx(2 * MASS * GRAVITY * LENGTH, rel=2e-3)


def test_an_unknown_name_lists_what_there_is():
    with pytest.raises(
        ProblemError, match=r"no ready problem 'unicycle', expected one of iiwa_reach, .*goddard_rocket"
    ):
        task("unicycle")


def test_a_task_says_its_name():
    assert task("hanging_chain", steps=3).name == "hanging_chain"
    assert len(set(names())) == len(names()) >= 10


def test_a_second_solve_is_the_same_as_the_first():
    made = task("cart_pole_swing_up", steps=40)
    solver = made.build()
    first, second = (solver.solve(made.guess) for _ in range(2))
    assert second.statistics.iterations == first.statistics.iterations
    np.testing.assert_array_equal(second.point.z, first.point.z)


def test_a_module_of_the_room_does_not_hide_its_functions():
    """Python makes a submodule an attribute of its package: none may have the name of a function there."""
    import trisweep

    assert task("hanging_chain", steps=3).problem.steps == 3
    assert trisweep.task is trisweep.problems.task is task
