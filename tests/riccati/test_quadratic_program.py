"""Convex QPs on trees against IPOPT, and against what must be said of the ones that have no answer."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from trisweep.errors import ProblemError
from trisweep.riccati import QP, LQProblem, Stage, StageLimits, dense, factorize
from trisweep.riccati.random_problems import bounded_chain, random_problem


def limits_of(problem: LQProblem, seed: int) -> list[StageLimits]:
    """Limits and rows around a trajectory of the problem, so that there is a feasible point; many of them are tight."""
    rng = np.random.default_rng(seed)
    inside = factorize(problem).solve()
    found = []
    for k, s in enumerate(problem.stages):
        x, u = inside.x[k], inside.u[k]

        def around(value, rng=rng):
            width = rng.uniform(0.0, 0.3, (2, len(value)))
            width[:, rng.random(len(value)) < 0.3] = np.inf
            return value - width[0] - 1e-3, value + width[1] + 1e-3

        count = int(rng.integers(0, 4))
        Cx, Cu = rng.normal(size=(count, s.nx)), rng.normal(size=(count, s.nu))
        fixed = k == 0 and problem.initial_state is not None
        x_limits = (-np.inf, np.inf) if fixed else around(x)
        found.append(StageLimits(*x_limits, *around(u), Cx, Cu, *around(Cx @ x + Cu @ u)))
    return found


def convex(seed: int, equality_rate: float = 0.4) -> LQProblem:
    """A ragged problem whose stages are all convex."""
    return random_problem(seed, singular_rate=0.0, redundant_rate=0.0, equality_rate=equality_rate)


def pulled(problem: LQProblem, seed: int) -> LQProblem:
    """The same with another gradient."""
    rng = np.random.default_rng(seed)
    vectors = problem.right_hand_side
    return problem.with_right_hand_side(replace(vectors, q=[q + rng.normal(size=len(q)) for q in vectors.q]))


def by_ipopt(problem: LQProblem, limits: list[StageLimits]) -> float:
    """The least objective, by IPOPT on the dense statement."""
    system = dense.assemble(problem)
    z = ca.SX.sym("z", len(system.h))
    rows = [ca.mtimes(ca.DM(system.C), z) + system.c]
    low, high, lbz, ubz = [np.zeros(len(system.c))], [np.zeros(len(system.c))], [], []
    for s, limit, u, x in zip(problem.stages, limits, system.u, system.x):
        if limit.Cx is not None and len(limit.Cx):
            rows.append(ca.mtimes(ca.DM(np.hstack([limit.Cu, limit.Cx])), ca.vertcat(z[u], z[x])))
            low.append(limit.lower)
            high.append(limit.upper)
        lbz += [*np.broadcast_to(limit.u_lower, s.nu), *np.broadcast_to(limit.x_lower, s.nx)]
        ubz += [*np.broadcast_to(limit.u_upper, s.nu), *np.broadcast_to(limit.x_upper, s.nx)]
    objective = 0.5 * ca.bilin(ca.DM(system.H), z, z) + ca.dot(ca.DM(system.h), z)
    options = {"print_time": False, "ipopt": {"print_level": 0, "sb": "yes", "tol": 1e-10}}
    solver = ca.nlpsol("oracle", "ipopt", {"x": z, "f": objective, "g": ca.vertcat(*rows)}, options)
    found = solver(lbx=lbz, ubx=ubz, lbg=np.concatenate(low), ubg=np.concatenate(high))
    assert solver.stats()["success"]
    return float(found["f"])


@pytest.mark.parametrize("seed", range(24))
def test_random_trees_agree_with_ipopt(seed):
    problem = convex(seed, equality_rate=0.0)
    limits, problem = limits_of(problem, seed), pulled(problem, seed)
    answer = QP(problem.stages, limits, problem.initial_state).solve()
    assert answer.status == "solved" and answer.residual.worst < 1e-7
    assert answer.objective == pytest.approx(by_ipopt(problem, limits), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("seed", range(200))
def test_random_trees_with_equalities_are_solved(seed):
    """KKT conditions are enough for a minimum of a convex program: they are summed up here from the dense statement."""
    problem = convex(seed)
    limits, problem = limits_of(problem, seed), pulled(problem, seed)
    answer = QP(problem.stages, limits, problem.initial_state).solve()
    assert answer.status == "solved" and answer.iterations <= 100
    system = dense.assemble(problem)
    z = np.concatenate([part for pair in zip(answer.u, answer.x) for part in pair])
    assert np.abs(system.C @ z + system.c).max(initial=0.0) < 1e-7 * (1.0 + np.abs(z).max(initial=0.0))
    for x, u, limit in zip(answer.x, answer.u, limits):
        assert (u >= limit.u_lower - 1e-7).all() and (u <= limit.u_upper + 1e-7).all()
        assert (x >= limit.x_lower - 1e-7).all() and (x <= limit.x_upper + 1e-7).all()


@pytest.mark.parametrize("seed", range(20))
def test_without_limits_it_is_the_sweep(seed):
    problem = convex(seed)
    answer, sweep = QP(problem.stages, initial_state=problem.initial_state).solve(), factorize(problem).solve()
    assert answer.status == "solved" and sweep.status == "solved"
    for mine, theirs in zip([*answer.x, *answer.u, *answer.costates], [*sweep.x, *sweep.u, *sweep.costates]):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-6)


# The most iterations are those that HPIPM takes in its quickest mode, on the whole horizon.
@pytest.mark.parametrize(
    ("size", "most"), [((14, 7, 50), 8), ((4, 1, 100), 7), ((24, 8, 50), 7), ((37, 12, 30), 7), ((8, 3, 100), 6)]
)
def test_chains_that_are_timed(size, most):
    problem = bounded_chain(*size)
    qp = QP(problem.stages, StageLimits(-4.0, 4.0, -0.5, 0.5), problem.initial_state)
    cold = qp.solve()
    assert cold.status == "solved" and cold.iterations <= most
    assert cold.residual.worst < 1.01 * 1e-8 / 0.5  # the room that the solver takes beyond a limit of 0.5
    again = qp.solve(warm_start=cold)
    assert again.status == "solved" and again.iterations <= 2
    moved = problem.initial_state + 0.02
    warm = qp.solve(warm_start=cold, initial_state=moved)
    fresh = QP(problem.stages, StageLimits(-4.0, 4.0, -0.5, 0.5), moved).solve()
    assert warm.status == fresh.status == "solved"
    assert warm.objective == pytest.approx(fresh.objective, rel=1e-7)


@pytest.mark.parametrize("cost", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1.0, 1e3, 1e6])
def test_answers_hold_in_any_units(scale, cost):
    problem = bounded_chain(6, 2, 20)
    reference = QP(problem.stages, StageLimits(-4.0, 4.0, -0.5, 0.5), problem.initial_state).solve()

    def in_units(s):
        curved = {name: cost / scale**2 * getattr(s, name) for name in ("Q", "R", "S")}
        steep = {name: cost / scale * getattr(s, name) for name in ("q", "r")}
        return Stage(A=s.A, B=s.B, b=None if s.b is None else scale * s.b, parent=s.parent, **curved, **steep)

    limits = StageLimits(-4.0 * scale, 4.0 * scale, -0.5 * scale, 0.5 * scale)
    answer = QP([in_units(s) for s in problem.stages], limits, scale * problem.initial_state).solve()
    assert answer.status == "solved" and answer.residual.worst < 1e-7
    assert answer.objective / cost == pytest.approx(reference.objective, rel=1e-6)
    np.testing.assert_allclose(np.concatenate(answer.u) / scale, np.concatenate(reference.u), atol=1e-5)


@pytest.mark.parametrize("small", [1e-9, 1e-7, 1e-3])
@pytest.mark.parametrize("large", [1.0, 1e6])
def test_units_that_differ_from_variable_to_variable(small, large):
    """A control of 1e-7 beside states of 1e6: its limits were passed by a tenth."""
    problem = bounded_chain(6, 2, 20)
    limits = StageLimits(-4.0 * large, 4.0 * large, -0.5 * small, 0.5 * small)
    reference = QP(problem.stages, StageLimits(-4.0, 4.0, -0.5, 0.5), problem.initial_state).solve()
    units = {"Q": large**-2, "R": small**-2, "S": 1 / (small * large), "q": 1 / large, "r": 1 / small}
    units |= {"A": 1.0, "B": large / small, "b": large}

    def in_units(s):
        given = {name: getattr(s, name) for name in units}
        return Stage(parent=s.parent, **{name: None if v is None else units[name] * v for name, v in given.items()})

    answer = QP([in_units(s) for s in problem.stages], limits, large * problem.initial_state).solve()
    assert answer.status == "solved"
    assert answer.objective == pytest.approx(reference.objective, rel=1e-6)
    assert np.abs(np.concatenate(answer.u)).max() <= 0.5 * small * (1 + 1e-6)
    np.testing.assert_allclose(np.concatenate(answer.u) / small, np.concatenate(reference.u), atol=1e-4)


def chain(**changes) -> LQProblem:
    data = {"A": [[1.0, 0.1], [0.0, 1.0]], "B": [[0.0], [0.1]], "Q": np.eye(2), "R": [[0.1]]} | changes
    return LQProblem.chain(10, **data, initial_state=[1.0, 0.0])


def test_no_answer_is_a_status():
    stages = chain().stages
    final = [None] * 10 + [StageLimits(x_lower=5.0)]
    pinched = [StageLimits(u_lower=-0.1, u_upper=0.1)] * 10 + final[10:]
    assert QP(stages, pinched, [1.0, 0.0]).solve().status == "infeasible"
    downhill = LQProblem.chain(3, A=[[1.0]], B=[[1.0]], Q=[[0.0]], R=[[0.0]], r=[-1.0], initial_state=[0.0])
    assert QP(downhill.stages, StageLimits(u_lower=0.0), [0.0]).solve(iterations=100).status != "solved"
    assert QP(stages, StageLimits(-1, 1, -1, 1), [1.0, 0.0]).solve(iterations=1).status == "iteration limit"


def test_linear_programs_and_flat_costs():
    flat = LQProblem.chain(5, A=[[1.0]], B=[[1.0]], Q=[[0.0]], R=[[0.0]], q=[1.0], initial_state=[1.0])
    answer = QP(flat.stages, StageLimits(u_lower=-0.5, u_upper=0.5), [1.0]).solve()
    assert answer.status == "solved"
    np.testing.assert_allclose(np.concatenate(answer.u[:5]), -0.5, atol=1e-6)


def test_a_nonconvex_one_is_no_false_minimum():
    bent = LQProblem.chain(3, A=[[1.0]], B=[[1.0]], Q=[[-1.0]], R=[[0.1]], initial_state=[0.1])
    answer = QP(bent.stages, StageLimits(-1, 1, -1, 1), [0.1]).solve()
    assert answer.status != "solved" or answer.objective < -0.5


@pytest.mark.parametrize("dead", [{"Q": np.diag([1e8, 1e-6])}, {"R": [[1e-8]]}, {"A": [[1.0, 1e4], [0.0, 1.0]]}])
def test_badly_scaled(dead):
    problem = chain(**dead)
    limits = [StageLimits(-1e5, 1e5, -0.3, 0.3)] * 11
    limits[0] = StageLimits(u_lower=-0.3, u_upper=0.3)
    answer = QP(problem.stages, limits, [1.0, 0.0]).solve()
    assert answer.status == "solved"
    assert answer.objective == pytest.approx(by_ipopt(problem, limits), rel=1e-6)


@pytest.mark.parametrize(
    "limits, sentence",
    [
        (
            StageLimits(x_lower=2.0, x_upper=1.0),
            r"limits of stage 1: x_lower\[0\] is 2, above x_upper\[0\], which is 1",
        ),
        (StageLimits(u_lower=[0.0, 0.0]), r"limits of stage 0: u_lower has shape \(2,\), expected a number or \(1,\)"),
        (StageLimits(Cx=[[1.0]]), r"limits of stage 0: Cx has shape \(1, 1\), expected \(1, 2\)"),
        (StageLimits(x_upper=np.nan), "limits of stage 1: x_upper has an entry that is NaN"),
        ([None], "limits has 1 entries, expected one for each of the 11 stages"),
        ([StageLimits(x_upper=1.0)] + [None] * 10, "stage 0: its state is fixed by initial_state, but has limits"),
    ],
)
def test_mistakes_are_sentences(limits, sentence):
    with pytest.raises(ProblemError, match=sentence):
        QP(chain().stages, limits, [1.0, 0.0])


def test_dense_oracle_knows_the_same_problem():
    problem = bounded_chain(3, 2, 5)
    answer = QP(problem.stages, initial_state=problem.initial_state).solve()
    whole = dense.solve(problem)
    np.testing.assert_allclose(np.concatenate(answer.x), np.concatenate(whole.x), atol=1e-7)
