"""The residual that a solution states of itself, against the whole problem as one CasADi program, and against lies."""

import casadi as ca
import numpy as np
import pytest
from support.ocp_problems import limited_pendulum
from trisweep.ocp import Settings
from trisweep.ocp.solve.nonlinear_program import assemble
from trisweep.ocp.statement.costs_and_constraints.terms import Kind


class Lying:
    """A core whose result is changed on the way out."""

    def __init__(self, core, change):
        self._core, self._change = core, change

    def __getattr__(self, name):
        return getattr(self._core, name)

    def solve(self, *given):
        result = self._core.solve(*given)
        self._change(result)
        return result


def independent_residual(solver, solution):
    """Stationarity, rows and multipliers through the whole problem as one CasADi program."""
    program = assemble(solver.transcription, solver.layout)
    layout, point = solution.layout, solution.point
    y = np.zeros(program.g.numel())
    # The program's rows stand stage by stage, x_next - F, equalities, inequalities; ours kind by kind.
    kinds = np.array(program.kinds)
    for kind, sign in ((Kind.DYNAMICS, -1.0), (Kind.EQUALITY, 1.0), (Kind.INEQUALITY, 1.0)):
        y[kinds == kind] = sign * point.y[layout.kind(kind)]
    p = np.concatenate([point.shared_parameters, point.stage_parameters])
    lagrangian = program.f + ca.dot(y, program.g)
    function = ca.Function("parts", [program.z, program.p], [program.f, program.g, ca.gradient(lagrangian, program.z)])
    f, g, slope = (np.array(part).ravel() for part in function(point.z, p))
    lower, upper = (side[program.places] for side in (solution.limit_vectors.y_lower, solution.limit_vectors.y_upper))
    outside = np.maximum(np.maximum(lower - g, g - upper), 0)
    return {
        "objective": f[0],
        "stationarity": np.abs(slope + point.w).max(),
        "dynamics": outside[kinds == Kind.DYNAMICS].max(),
        "equalities": outside[kinds == Kind.EQUALITY].max(),
        "inequalities": outside[kinds == Kind.INEQUALITY].max(),
    }


@pytest.mark.parametrize("iterations", [2, 6, 500])
def test_check_agrees_with_the_problem_as_one_program(solver, iterations):
    solution = solver.solve(begin=[0.1, 0.2], settings=Settings(iterations=iterations))
    expected = independent_residual(solver, solution)
    assert solution.objective == pytest.approx(expected.pop("objective"), rel=1e-12)
    for residual in (solution.check(), solution.residual):
        for name, value in expected.items():
            assert getattr(residual, name) == pytest.approx(value, rel=1e-9, abs=1e-12), name
    assert (solution.check().worst < 1e-7) == (iterations == 500)
    assert "stationarity" in str(solution.check())


def test_multipliers_are_those_of_ipopt(solver, solution):
    program = assemble(solver.transcription, solver.layout)
    options = {"ipopt.tol": 1e-10, "ipopt.print_level": 0, "print_time": False, "ipopt.sb": "yes"}
    ipopt = ca.nlpsol("ipopt", "ipopt", {"x": program.z, "p": program.p, "f": program.f, "g": program.g}, options)
    layout, limits = solution.layout, solution.limit_vectors
    answer = ipopt(
        x0=solution.point.z, p=[0, 0], lbg=limits.y_lower[program.places], ubg=limits.y_upper[program.places],
        lbx=limits.z_lower, ubx=limits.z_upper,
    )  # fmt: skip
    np.testing.assert_allclose(solution.objective, float(answer["f"]), rtol=1e-7)
    lam_g = np.array(answer["lam_g"]).ravel()
    for kind, sign in ((Kind.DYNAMICS, -1.0), (Kind.EQUALITY, 1.0), (Kind.INEQUALITY, 1.0)):
        ours = solution.point.y[layout.kind(kind)]
        np.testing.assert_allclose(ours, sign * lam_g[np.array(program.kinds) == kind], atol=1e-5)
    np.testing.assert_allclose(solution.point.w, np.array(answer["lam_x"]).ravel(), atol=1e-5)


@pytest.mark.parametrize("part", ["z", "dynamics", "equality", "inequality", "w"])
def test_a_wrong_solved_is_not_passed_on(part):
    def spoil(result):
        vector = getattr(result, part) if part in {"z", "w"} else result.y[solver.layout.kind(Kind(part))]
        vector[len(vector) // 2] += 1e-3

    solver = limited_pendulum().build()
    core = solver.backend.core
    solver.backend.core = Lying(core, spoil)
    wrong = solver.solve(begin=[0.0, 0.0])
    assert wrong.status == "stalled" and not wrong.solved
    assert "took this point for a solution" in wrong.advice and wrong.advice in str(wrong)
    solver.backend.core = core
    assert solver.solve(begin=[0.0, 0.0]).solved
