"""Problems that are convex QPs take Mehrotra's steps, and only those; their answers are IPOPT's."""

import numpy as np
import pytest
import trisweep as ts


def double_integrator(bent: float = 0.0) -> ts.Problem:
    ocp = ts.Problem(steps=30, step=0.1, integrator="euler")
    x, v = ocp.state("x", 2, lower=-3, upper=3), ocp.state("v", 2, lower=-1, upper=1)
    f = ocp.control("f", 2, lower=-1, upper=1)
    begin, weight = ocp.parameter("begin", 2), ocp.parameter("weight", 1)
    ocp.derivative(x=v, v=f + bent * v**2)
    ocp.minimize(weight * ts.sumsqr(x) + 0.1 * ts.sumsqr(f))
    ocp.constrain("start", x, equals=begin, at="start")
    ocp.constrain("at rest", v, equals=0, at="start")
    ocp.constrain("side", x[0] + x[1], upper=2.5)
    return ocp


def kinds(solution: ts.Solution) -> set[str]:
    return {record.kind for record in solution.records[1:]}


@pytest.mark.parametrize("seed", range(5))
def test_a_convex_problem_takes_predictor_and_corrector(seed):
    rng = np.random.default_rng(seed)
    values = {"begin": rng.uniform(-2, 1, 2), "weight": rng.uniform(0.1, 10.0)}
    solver, rival = double_integrator().build(), double_integrator().build(backend="ipopt")
    solution, other = solver.solve(**values), rival.solve(**values)
    assert solution.status == other.status == "solved"
    assert kinds(solution) == {"p"}
    assert solution.objective == pytest.approx(other.objective, rel=1e-6)
    again = solver.solve(warm_start=solution, **values)
    assert again.status == "solved" and again.statistics.iterations <= 2
    moved = values | {"begin": values["begin"] + 0.05}
    near, far = solver.solve(warm_start=solution, **moved), rival.solve(**moved)
    assert near.objective == pytest.approx(far.objective, rel=1e-6)


def test_others_take_the_filter():
    values = {"begin": [1.0, 1.0], "weight": 1.0}
    assert "p" not in kinds(double_integrator(bent=0.1).build().solve(**values))
    assert "p" not in kinds(double_integrator().build(hessian="gauss-newton").solve(**values))
    concave = double_integrator().build().solve(begin=[1.0, 1.0], weight=-1.0)
    assert "p" not in kinds(concave)


def test_an_infeasible_one_is_named():
    solution = double_integrator().build().solve(begin=[2.9, 2.9], weight=1.0)
    assert solution.status == "infeasible"


@pytest.mark.parametrize("seed", [0, 3, 10])
def test_records_tell_the_objectives_of_their_points(seed):
    """Where corrections were tried and left too: all but the last are carried along from step to step."""
    rng, nx, nu = np.random.default_rng(seed), 6, 3
    ocp = ts.Problem(steps=20, step=1.0)
    x, u = ocp.state("x", nx, lower=-3, upper=3), ocp.control("u", nu, lower=-0.5, upper=0.5)
    A, B = np.eye(nx) + 0.2 * rng.normal(size=(nx, nx)), 0.3 * rng.normal(size=(nx, nu))
    ocp.start("x")
    ocp.next(x=A @ x + B @ u)
    ocp.constrain("side", u[0] + u[1], upper=0.3)
    ocp.minimize(ts.sumsqr(x) + 0.01 * ts.sumsqr(u))
    solution = ocp.build().solve(start={"x": rng.uniform(-1, 1, nx)})
    assert solution.solved and kinds(solution) == {"p"}
    before, last = (record.objective for record in solution.records[-2:])
    assert before == pytest.approx(last, rel=1e-5)


@pytest.mark.parametrize("total", [1e4, 1e8])
def test_rows_far_from_the_guess_tell_where_to_start(total):
    """Sums that nothing but their last values says the size of: 1e8 took 190 iterations from near the limits."""
    ocp = ts.Problem(steps=200)
    sums, u = ocp.state("sums", 2), ocp.control("u", lower=0)
    density, last = ocp.parameter("density", 2, per_stage=True), ocp.parameter("last", 2)
    ocp.next(sums=sums + density * u)
    ocp.minimize(u**2)
    ocp.constrain("nothing yet", sums, equals=0, at="start")
    ocp.constrain("all of it", sums, equals=last, at="end")
    r = np.arange(201) / 200
    values = {"density": np.column_stack([r**2, r**4]), "last": total * np.array([1.0, 0.5])}
    solution = ocp.build().solve(**values)
    assert solution.solved and solution.statistics.iterations <= 25
    with_unit_total = ocp.build().solve(density=values["density"], last=values["last"] / total)
    assert solution.objective / total**2 == pytest.approx(with_unit_total.objective, rel=1e-6)
