"""The sweep against the dense KKT system: random problems, their multipliers and gains, and the nasty ones."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from trisweep.riccati import LQProblem, Stage, dense, factorize, reference
from trisweep.riccati.random_problems import benchmark_chain, random_problem

# A reduced Hessian may be called either way when its smallest eigenvalue, over the largest entry of H, is below this.
UNDECIDED = 1e-8

seeds = st.integers(0, 2**32 - 1)
shapes = st.fixed_dictionaries(
    {
        "stages": st.integers(1, 9),
        "tree": st.booleans(),
        "free_root": st.booleans(),
        "largest": st.sampled_from([1, 3, 5, 9]),
        "equality_rate": st.sampled_from([0.0, 0.3, 0.8]),
        "redundant_rate": st.sampled_from([0.0, 0.5]),
        "singular_rate": st.sampled_from([0.0, 0.2, 0.7]),
    }
)

# States, controls, and rows that fix controls of their own stage.
FIXED = [
    (1, 1, 1),
    (2, 2, 1),
    (3, 3, 3),
    (4, 4, 3),
    (5, 9, 1),
    (7, 7, 5),
    (8, 16, 16),
    (11, 10, 7),
    (12, 9, 9),
    (23, 8, 8),
]


def relative_error(actual, expected):
    actual, expected = np.concatenate([np.zeros(1), *actual]), np.concatenate([np.zeros(1), *expected])
    return np.abs(actual - expected).max() / max(np.abs(expected).max(), 1e-3)


def kkt_residual(problem, solution):
    """The residual through the dense system: nothing of the core's own measure."""
    system = dense.assemble(problem)
    z = np.concatenate([part for pair in zip(solution.u, solution.x) for part in pair])
    y = np.concatenate([part for pair in zip(solution.costates, solution.multipliers) for part in pair])
    stationarity = system.H @ z + system.h + system.C.T @ y
    terms = np.abs(system.H) @ np.abs(z) + np.abs(system.h) + np.abs(system.C.T) @ np.abs(y)
    feasibility = system.C @ z + system.c
    feasibility_terms = np.abs(system.C) @ np.abs(z) + np.abs(system.c)
    return max(
        np.abs(stationarity).max(initial=0.0) / max(terms.max(initial=0.0), 1e-300),
        np.abs(feasibility).max(initial=0.0) / max(feasibility_terms.max(initial=0.0), 1e-300),
    )


def multiplier_forces(problem, solution):
    """C' y: what the multipliers do to the variables; equal for all valid multipliers of redundant rows."""
    system = dense.assemble(problem)
    y = np.concatenate([part for pair in zip(solution.costates, solution.multipliers) for part in pair])
    return system.C.T @ y


def subtree(problem, k, state):
    """The problem of stage k and all below it, from the given state."""
    kept = [k]
    for index, s in enumerate(problem.stages):
        if s.parent in kept:
            kept.append(index)
    stages = [replace(problem.stages[k], parent=None, A=None, B=None, b=None)]
    stages += [replace(problem.stages[i], parent=kept.index(problem.stages[i].parent)) for i in kept[1:]]
    return LQProblem(stages, state)


@given(seeds, shapes)
@settings(max_examples=2200)
def test_agrees_with_the_dense_system(seed, shape):
    problem = random_problem(seed, **shape)
    expected, solution = dense.solve(problem), problem.solve()
    if solution.status == "solved":
        assert solution.residual <= 1e-9
        assert kkt_residual(problem, solution) <= 1e-9
    assume(abs(expected.curvature) >= UNDECIDED)
    assert solution.status == expected.status
    if expected.status == "solved":
        assert relative_error(solution.x, expected.x) < 1e-7
        assert relative_error(solution.u, expected.u) < 1e-7
        forces, expected_forces = multiplier_forces(problem, solution), multiplier_forces(problem, expected)
        assert relative_error([forces], [expected_forces]) < 1e-7
        if expected.independent:
            assert relative_error(solution.costates, expected.costates) < 1e-6
            assert relative_error(solution.multipliers, expected.multipliers) < 1e-6


@given(seeds, shapes)
@settings(max_examples=500)
def test_contradictions_are_never_called_solved(seed, shape):
    problem = random_problem(seed, conflict=True, **shape)
    expected, solution = dense.solve(problem), problem.solve()
    assert solution.status != "solved"
    assume(abs(expected.curvature) >= UNDECIDED)
    assert solution.status == expected.status
    assert np.isnan(np.concatenate(solution.x + solution.u)).all()
    assert solution.stages_at_fault


@given(seeds, shapes)
@settings(max_examples=500)
def test_negative_curvature_is_never_called_solved(seed, shape):
    solution = random_problem(seed, indefinite=True, **shape).solve()
    assert solution.status == "indefinite"
    assert len(solution.stages_at_fault) == 1


@given(seeds, shapes)
@settings(max_examples=300)
def test_the_numpy_twin_takes_the_same_decisions(seed, shape):
    problem = random_problem(seed, **shape)
    twin, solution = reference.solve(problem), problem.solve()
    assume(abs(dense.solve(problem).curvature) >= UNDECIDED)
    assert twin.status == solution.status
    if twin.status == "solved":
        for name in ("x", "u", "costates", "multipliers"):
            assert relative_error(getattr(solution, name), getattr(twin, name)) < 1e-6


@given(seeds, shapes)
@settings(max_examples=200)
def test_gains_and_cost_to_go_are_those_of_every_subtree(seed, shape):
    problem = random_problem(seed, **shape)
    solution = problem.solve()
    assume(solution.status == "solved" and abs(dense.solve(problem).curvature) >= UNDECIDED)
    rng = np.random.default_rng(seed)
    for k, (x, u) in enumerate(zip(solution.x, solution.u)):
        gain, value = solution.gains[k], solution.cost_to_go[k]
        assert relative_error([gain.K @ x + gain.k], [u]) < 1e-7
        assert relative_error([value.Gx @ x + value.g], [np.zeros(len(value.g))]) < 1e-7 * (
            1 + np.abs(x).max(initial=0)
        )
        allowed = np.eye(len(x))
        if len(value.Gx):
            _, sigma, directions = np.linalg.svd(value.Gx)
            allowed = directions[(sigma > 1e-9).sum() :]
        other = x + allowed.T @ rng.normal(size=len(allowed))
        here, there = (subtree(problem, k, state) for state in (x, other))
        expected = dense.solve(there)
        if expected.status != "solved":
            assert abs(expected.curvature) < 1e-6
            continue
        assert relative_error([gain.K @ other + gain.k], [expected.u[0]]) < 1e-6
        rise = there.objective(expected.x, expected.u) - here.objective(*_trajectory(here))
        quadratic = [0.5 * s @ value.P @ s + value.p @ s for s in (other, x)]
        assert abs(quadratic[0] - quadratic[1] - rise) < 1e-6 * (1 + max(map(abs, (*quadratic, rise))))


def _trajectory(problem):
    solution = dense.solve(problem)
    return solution.x, solution.u


@given(seeds, shapes)
@settings(max_examples=200)
def test_other_right_hand_sides_reuse_the_factorization(seed, shape):
    problem, other = (random_problem(seed, **shape) for _ in range(2))
    factor = factorize(problem)
    first = factor.solve()
    rng = np.random.default_rng(seed)
    vectors = replace(
        problem.right_hand_side,
        q=[rng.normal(size=s.nx) for s in problem.stages],
        r=[rng.normal(size=s.nu) for s in problem.stages],
    )
    second, fresh = factor.solve(vectors), other.with_right_hand_side(vectors).solve()
    assert second.status == fresh.status
    again = factor.solve()
    for name in ("x", "u", "costates", "multipliers"):
        for one, two in ((second, fresh), (first, again)):
            for a, b in zip(getattr(one, name), getattr(two, name)):
                np.testing.assert_array_equal(a, b)
    if first.status == "solved":
        # Read only now, after other right-hand sides went through the same factorization.
        for gain, x, u in zip(first.gains, first.x, first.u):
            assert relative_error([gain.K @ x + gain.k], [u]) < 1e-7


def test_the_stages_in_conflict_are_named():
    """x_3 = 1 and x_5 = 7 contradict each other, as nothing moves the state; stage 1's equality has no part in it."""
    steps, eye = 6, np.eye(1)
    stages = [Stage(eye, [0.0], R=eye)]
    for k in range(1, steps + 1):
        row = {
            1: {"Gu": eye, "g": [-3.0]},
            3: {"Gx": eye, "g": [-1.0]},
            5: {"Gx": 2 * eye, "g": [-14.0]},
        }.get(k, {})
        stages.append(Stage(eye, [0.0], R=eye, parent=k - 1, A=eye, B=[[0.0]], **row))
    solution = LQProblem(stages).solve()
    assert solution.status == "inconsistent"
    assert solution.stages_at_fault == (3, 5)
    assert str(solution).startswith("inconsistent at stages 3, 5: the equalities of these stages")


def test_a_fixed_root_can_be_part_of_a_contradiction():
    eye = np.eye(2)
    stages = [Stage(eye, [0, 0]), Stage(eye, [0, 0], parent=0, A=eye, Gx=[[1.0, 0.0]], g=[-5.0])]
    solution = LQProblem(stages, initial_state=[1.0, 2.0]).solve()
    assert (solution.status, solution.stages_at_fault) == ("inconsistent", (1,))
    assert LQProblem(stages, initial_state=[5.0, 2.0]).solve().status == "solved"


def test_the_stage_without_curvature_is_named():
    eye = np.eye(1)
    stages = [Stage(eye, [0.0], R=eye)]
    stages += [Stage(eye, [0.0], R=eye if k != 4 else -10 * eye, parent=k - 1, A=eye, B=eye) for k in range(1, 8)]
    solution = LQProblem(stages, [1.0]).solve()
    assert (solution.status, solution.stages_at_fault) == ("indefinite", (4,))


def test_indefinite_costs_are_fine_where_equalities_hold_them():
    """R = -1 on a control that an equality determines."""
    stages = [
        Stage([[1.0]], [0.0], R=[[-1.0]], Gu=[[2.0]], Gx=[[1.0]], g=[4.0]),
        Stage([[1.0]], [0.0], parent=0, A=[[1.0]], B=[[1.0]]),
    ]
    problem = LQProblem(stages, [2.0])
    solution = problem.solve()
    assert solution.status == "solved"
    np.testing.assert_allclose(solution.u[0], -3.0, rtol=1e-14)


@pytest.mark.parametrize("eigenvalue", [1.0, 1e-12, 1e-17, 0.0, -1e-3])
@pytest.mark.parametrize("terminal_rows", [0, 3])
def test_many_states_whatever_the_sign_of_their_cost_to_go(eigenvalue, terminal_rows):
    """From 28 states on the sweep factors the cost-to-go, where it can."""
    rng = np.random.default_rng(7)
    problem = benchmark_chain(33, 9, 6, terminal_rows)
    axes = np.linalg.qr(rng.normal(size=(33, 33)))[0]
    eigenvalues = np.r_[np.full(5, eigenvalue), np.linspace(0.5, 2.0, 28)]
    end = replace(problem.stages[-1], Q=axes @ np.diag(eigenvalues) @ axes.T)
    problem = LQProblem([*problem.stages[:-1], end], problem.initial_state)
    expected, solution = dense.solve(problem), problem.solve()
    assert (solution.status, expected.status) == ("solved", "solved")
    assert kkt_residual(problem, solution) <= 1e-12
    for name in ("x", "u", "costates"):
        assert relative_error(getattr(solution, name), getattr(expected, name)) < 1e-9
    for x, costate, to_go in zip(expected.x, expected.costates, solution.cost_to_go):
        if len(to_go.Gx) == 0:
            np.testing.assert_allclose(to_go.P @ x + to_go.p, costate, atol=1e-9 * np.abs(costate).max())
        np.testing.assert_allclose(to_go.P, to_go.P.T, atol=1e-13 * np.abs(to_go.P).max())


def test_a_terminal_constraint_on_an_underactuated_chain_reaches_back_across_stages():
    """Four integrators in a row, one control: the four terminal rows need the last four controls."""
    A, B = np.eye(4) + np.diag(np.ones(3), 1), np.array([[0.0], [0.0], [0.0], [1.0]])
    target = np.array([3.0, -1.0, 0.5, 2.0])
    zero = np.zeros((4, 4))
    final = Stage(zero, np.zeros(4), Gx=np.eye(4), g=-target)
    problem = LQProblem.chain(12, A=A, B=B, Q=zero, R=np.eye(1), final=final, initial_state=np.zeros(4))
    solution, expected = problem.solve(), dense.solve(problem)
    np.testing.assert_allclose(solution.x[-1], target, atol=1e-10)
    assert relative_error(solution.u, expected.u) < 1e-9
    assert len(solution.cost_to_go[-4].Gx) == 1 and len(solution.cost_to_go[-5].Gx) == 0


@pytest.mark.parametrize("nx, nu", [(4, 1), (14, 7), (24, 8), (30, 9)])
def test_rows_on_states_alone_are_met_by_controls_before_them(nx, nu):
    """At the free root, amid the chain and at its end: no control of their own stage is fixed by them."""
    rng, rows = np.random.default_rng(1), min(nu, 3)
    stages = list(benchmark_chain(nx, nu, 12, terminal_rows=rows).stages)
    for k in (0, 6):
        stages[k] = replace(stages[k], Gx=rng.normal(size=(rows, nx)), Gu=np.zeros((rows, nu)), g=rng.normal(size=rows))
    problem = LQProblem(stages)
    solution, expected = problem.solve(), dense.solve(problem)
    assert solution.status == expected.status == "solved"
    for name in ("x", "u", "costates", "multipliers"):
        assert relative_error(getattr(solution, name), getattr(expected, name)) < 1e-9
    assert [len(each.Gx) for each in solution.cost_to_go][5:8] == [0, rows, 0]


@pytest.mark.parametrize("nx, nu, rows", FIXED)
@pytest.mark.parametrize("curved_down", [False, True])
def test_rows_that_fix_controls_of_their_own_stage(nx, nu, rows, curved_down):
    """The same as the dense system, multipliers and gains too; amid the chain a stage passes a row on."""
    rng = np.random.default_rng([nx, nu, rows])
    stages = list(benchmark_chain(nx, nu, 12, terminal_rows=0).stages)
    for k, s in enumerate(stages[:-1]):
        units = 10.0 ** rng.uniform(-1, 1, (rows, 1))
        Gu, Gx = units * rng.normal(size=(rows, nu)), 0.1 * units * rng.normal(size=(rows, nx))
        if k == 5 and rows < nu:
            Gu[-1] = 0.0  # on the state alone: it is met further up, and the stage before has one more row
        stages[k] = replace(s, Gx=Gx, Gu=Gu, g=rng.normal(size=rows))
        if curved_down:  # along what the rows fix: the least eigenvalue on what they leave free stays
            fixed = np.linalg.qr(np.hstack([Gu, Gx]).T)[0]
            down = -0.5 * fixed @ fixed.T
            stages[k] = replace(
                stages[k], R=s.R + down[:nu, :nu], S=s.S + down[nu:, :nu], Q=s.Q + down[nu:, nu:], q=rng.normal(size=nx)
            )
    problem = LQProblem(stages, np.zeros(nx))
    solution, expected = problem.solve(), dense.solve(problem)
    assert solution.status == expected.status == "solved"
    assert kkt_residual(problem, solution) <= 1e-12
    for name in ("x", "u", "costates", "multipliers"):
        assert relative_error(getattr(solution, name), getattr(expected, name)) < 1e-8
    for gain, x, u in zip(solution.gains, solution.x, solution.u):
        assert relative_error([gain.K @ x + gain.k], [u]) < 1e-8


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_units_of_the_equalities_do_not_matter(scale):
    for seed in range(50):
        problem = random_problem(seed, equality_rate=0.8, singular_rate=0.0)
        scaled = LQProblem(
            [replace(s, Gx=scale * s.Gx, Gu=scale * s.Gu, g=scale * s.g) for s in problem.stages],
            problem.initial_state,
        )
        one, two = problem.solve(), scaled.solve()
        assert one.status == two.status == "solved"
        assert relative_error(two.x, one.x) < 1e-7


@pytest.mark.parametrize("terminal_rows", [0, 7])
def test_long_chains(terminal_rows):
    problem = benchmark_chain(14, 7, 10_000, terminal_rows)
    solution = problem.solve()
    assert solution.status == "solved" and solution.residual < 1e-12


def test_a_row_no_control_can_meet_travels_the_whole_chain():
    """An uncontrolled, decaying state with a terminal value: 2,000 stages of 0.99, then the root decides."""
    steps, A = 2_000, np.diag([0.99, 1.0])
    final = Stage(np.eye(2), np.zeros(2), Gx=[[1.0, 0.0]], g=[-(0.99**steps)])
    chain = dict(A=A, B=[[0.0], [1.0]], Q=np.eye(2), R=np.eye(1), final=final)
    assert LQProblem.chain(steps, **chain, initial_state=[1.0, 1.0]).solve().status == "solved"
    wrong = LQProblem.chain(steps, **chain, initial_state=[2.0, 1.0]).solve()
    assert (wrong.status, wrong.stages_at_fault) == ("inconsistent", (steps,))
    free = LQProblem.chain(steps, **chain).solve()
    np.testing.assert_allclose(free.x[0][0], 1.0, rtol=1e-9)


def test_wide_and_deep_trees():
    rng = np.random.default_rng(0)
    edge = dict(A=np.eye(3), B=rng.normal(size=(3, 2)), b=np.ones(3))
    stage = dict(Q=np.eye(3), q=np.ones(3), R=np.eye(2), r=np.ones(2))
    wide = [Stage(**stage)] + [Stage(**stage, parent=0, **edge) for _ in range(3_000)]
    deep = [Stage(**stage)] + [Stage(**stage, parent=max(0, k - 1 - k % 2), **edge) for k in range(1, 8_000)]
    constrained = [Stage(**stage)] + [Stage(**stage, parent=0, Gx=np.eye(3)[:1], g=[-1.0], **edge) for _ in range(200)]
    for stages in (wide, deep, constrained):
        for initial_state in (None, np.ones(3)):
            solution = LQProblem(stages, initial_state).solve()
            assert solution.status == "solved" and solution.residual < 1e-12


@pytest.mark.parametrize("initial_state", [None, [1.0, 2.0]])
def test_single_stages(initial_state):
    solution = LQProblem([Stage(np.eye(2), [3.0, 4.0])], initial_state).solve()
    np.testing.assert_allclose(solution.x[0], [-3.0, -4.0] if initial_state is None else initial_state)
    assert [len(part[0]) for part in (solution.u, solution.multipliers)] == [0, 0]


def test_a_stage_without_any_variable():
    problem = LQProblem([Stage(np.zeros((0, 0)), []), Stage(np.eye(1), [1.0], parent=0, A=np.zeros((1, 0)), b=[3.0])])
    np.testing.assert_allclose(problem.solve().x[1], 3.0)


def test_equalities_without_any_size_of_their_own():
    """All that the terminal rows see is rounding: x_N = 0 exactly."""
    A, B, zero = [[1, 0.1], [0, 1]], [[0.005], [0.1]], np.zeros(2)
    final = Stage(np.eye(2), zero, Gx=np.eye(2), g=zero)
    for b in (zero, [0.01, 0.2]):
        problem = LQProblem.chain(30, A=A, B=B, b=b, Q=np.eye(2), R=[[0.1]], final=final, initial_state=[1.0, 0.0])
        solution = problem.solve()
        assert solution.status == "solved"
        np.testing.assert_allclose(solution.x[-1], zero, atol=1e-13)


def test_a_problem_whose_answer_is_zero():
    problem = LQProblem.chain(5, A=np.eye(2), B=np.eye(2), Q=np.eye(2), R=np.eye(2), Gx=[[1.0, 1.0]], Gu=[[0.0, 1.0]])
    solution = problem.solve()
    assert solution.status == "solved" and solution.residual == 0.0
    assert not np.concatenate(solution.x).any()


def test_entries_that_are_only_rounding_are_no_pivots():
    """The user's own rounding, 1e-18 where a product should have been zero, must not decide what a row is about."""
    for seed in range(60):
        problem = random_problem(seed, equality_rate=0.0, singular_rate=0.0)
        free = problem.solve()
        rng = np.random.default_rng(seed)
        versions = []
        for noise in (0.0, 1e-18):
            stages = []
            for s, x, u in zip(problem.stages, free.x, free.u):
                Gu, Gx = np.zeros((2, s.nu)), np.zeros((2, s.nx))
                Gu[0, :1], Gx[1, :1] = 2.0, 3.0  # one row about a control, one about a state; none where there is none
                g = -(Gu @ u + Gx @ x)
                kept = np.array([s.nu > 0, s.nx > 0])
                if noise:
                    Gu, Gx = Gu + noise * rng.normal(size=Gu.shape), Gx + noise * rng.normal(size=Gx.shape)
                stages.append(replace(s, Gu=Gu[kept], Gx=Gx[kept], g=g[kept]))
            versions.append(LQProblem(stages, problem.initial_state).solve())
        clean, noisy = versions
        assert clean.status == noisy.status == "solved"
        assert relative_error(noisy.x, clean.x) < 1e-7


def test_results_do_not_change_from_run_to_run():
    problem = benchmark_chain(14, 7, 50, 7)
    one, two = problem.solve(), problem.solve()
    for a, b in zip(one.x + one.u, two.x + two.u):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("slope", [1.0, 1e7, 1e14])
@pytest.mark.parametrize("initial", [0.0, 1.0, 1e3])
def test_huge_rows_that_contradict_each_other_are_inconsistent(slope, initial):
    """Beside states of any size: a control of size 1 / slope is judged by its own terms."""
    one = np.eye(1)
    stages = [
        Stage(one, np.zeros(1), R=one, r=np.zeros(1), Gu=[[slope], [slope]], g=[-1, -2]),
        Stage(one, np.zeros(1), parent=0, A=one, B=one, b=np.zeros(1)),
    ]
    problem = LQProblem(stages, initial_state=[initial])
    assert problem.solve().status == reference.solve(problem).status == "inconsistent"
    agreeing = replace(stages[0], g=[-1, -1])
    assert LQProblem([agreeing, stages[1]], initial_state=[initial]).solve().status == "solved"
