"""Tables against SciPy: values and derivatives, in CasADi and in machine code; and in problems, against IPOPT."""

import pickle

import casadi as ca
import numpy as np
import pytest
import trisweep as ts
from scipy.interpolate import RegularGridInterpolator, make_interp_spline
from support.rivals import needs_rivals
from trisweep.adjoint import expand, solved
from trisweep.errors import CompileError, ProblemError
from trisweep.native import compile_function

RNG = np.random.default_rng(0)
EVEN, UNEVEN = np.linspace(-1.0, 3.0, 9), np.sort(np.r_[-2.0, RNG.uniform(-2, 2, 10), 2.5])
THIRD = np.array([0.0, 1.0, 1.5, 4.0, 5.0])


def grids(dimensions):
    return [EVEN, UNEVEN, THIRD][:dimensions]


def points(axes, count=200):
    inside = [RNG.uniform(axis[0], axis[-1], count) for axis in axes]
    on = [RNG.choice(axis, 30) for axis in axes]
    return [np.r_[a, b] for a, b in zip(inside, on)]


def compiled(table, dimensions, derivatives=0):
    x = ca.SX.sym("x", dimensions)
    found = expand(x, table(*ca.vertsplit(x)), ca.SX(1))
    expression = (found.values, found.jacobian.T, ca.vec(found.hessian))[derivatives]
    return compile_function(ca.Function("f", [x], [ca.densify(expression)]))


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_linear_tables_are_scipys(dimensions):
    axes = grids(dimensions)
    values = RNG.standard_normal([len(axis) for axis in axes])
    table, at = ts.table(axes if dimensions > 1 else axes[0], values), points(axes)
    expected = RegularGridInterpolator(axes, values)(np.column_stack(at))
    np.testing.assert_allclose(table(*at), expected, atol=1e-12)
    np.testing.assert_allclose(compiled(table, dimensions).batch(np.column_stack(at)).ravel(), expected, atol=1e-12)


@pytest.mark.parametrize("axis", [EVEN, UNEVEN, THIRD])
def test_cubic_tables_are_scipys_splines_with_their_derivatives(axis):
    values = RNG.standard_normal(len(axis))
    table, (at,) = ts.table(axis, values, "cubic"), points([axis])
    spline = make_interp_spline(axis, values, k=3)
    beyond = np.r_[at, axis[0] - 0.3, axis[-1] + 0.3]
    for order in range(3):
        found = compiled(table, 1, order).batch(beyond[:, None]).ravel()
        expected = spline.derivative(order)(beyond) if order else spline(beyond)
        np.testing.assert_allclose(found, expected, atol=1e-9 * (1 + abs(expected).max()))


def test_tensor_splines_go_through_their_values_with_exact_derivatives():
    axes = grids(3)
    values = RNG.standard_normal([len(axis) for axis in axes])
    table = ts.table(axes, values, "cubic")
    mesh = [axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")]
    np.testing.assert_allclose(table(*mesh), values.ravel(), atol=1e-10)
    x, y, z = (grid.copy() for grid in points(axes, 20))
    along = make_interp_spline(axes[2], make_interp_spline(axes[1], make_interp_spline(axes[0], values, k=3)(x), k=3,
                               axis=1)(y), k=3, axis=2)  # fmt: skip
    expected = np.array([along(each)[i, i] for i, each in enumerate(z)])
    np.testing.assert_allclose(table(x, y, z), expected, atol=1e-9)
    step = 1e-5
    slopes = compiled(table, 3, 1).batch(np.column_stack([x, y, z]))
    for k in range(3):
        ahead, behind = ([v + side * step * (i == k) for i, v in enumerate((x, y, z))] for side in (1, -1))
        np.testing.assert_allclose(slopes[:, k], (table(*ahead) - table(*behind)) / (2 * step), atol=1e-4)
    curvature = compiled(table, 3, 2).batch(np.column_stack([x, y, z])).reshape(-1, 3, 3)
    np.testing.assert_allclose(curvature, np.swapaxes(curvature, 1, 2), atol=1e-9)


def test_code_does_not_grow_with_the_table():
    sizes = []
    for count in (10, 2000):
        x = ca.SX.sym("x")
        table = ts.table(np.linspace(0, 1, count), RNG.standard_normal(count), "cubic")
        f = ca.Function("f", [x], [solved(table(x))])
        sizes.append(f.n_instructions())
    assert sizes[0] == sizes[1] < 80


def glider(ground, drag, backend="native", integrator="rk4"):
    """A point pushed over ground that has a price, against a drag."""
    ocp = ts.Problem(steps=25, step=0.08, integrator=integrator)
    x, v, u = ocp.state("x"), ocp.state("v"), ocp.control("u", lower=-6, upper=6)
    ocp.derivative(x=v, v=u - drag(v**2) * v)
    ocp.minimize(0.05 * u**2 + ground(x))
    ocp.constrain("start", ts.vertcat(x, v), equals=0, at="start")
    ocp.constrain("arrive", ts.vertcat(x, v), equals=[2.5, 0], at="end")
    return ocp.build(backend=backend)


def hill(x):
    return 0.3 * x**3 - x**2 + 0.5 * x


def air(s):
    return 0.05 + 0.1 * s + 0.01 * s**2


def measured_glider(**more):
    places, speeds = np.linspace(-2, 4, 13), np.array([-1.0, 0.0, 0.5, 2.0, 5.0, 9.0, 20.0])
    return glider(ts.table(places, hill(places), "cubic"), ts.table(speeds, air(speeds), "cubic"), **more)


@needs_rivals
@pytest.mark.parametrize("integrator", ["rk4", "euler", "implicit midpoint"])
def test_tables_of_cubics_are_the_cubics(integrator):
    """Splines are cubics there: IPOPT is given the formulas."""
    solver = measured_glider(integrator=integrator)
    ours, theirs = solver.solve(), glider(hill, air, "ipopt", integrator).solve()
    assert ours.solved and theirs.solved
    assert ours.objective == pytest.approx(theirs.objective, rel=1e-7)
    np.testing.assert_allclose(ours.x, theirs.x, atol=1e-5)
    assert ours.statistics.iterations <= theirs.statistics.iterations + 2
    assert ours.check().worst < 1e-7


def test_other_back_ends_refuse_tables():
    with pytest.raises(ProblemError, match=r"has a table.*expected build\(backend='native'\)"):
        measured_glider(backend="ipopt")


def test_solvers_with_tables_travel():
    solver = measured_glider()
    other = pickle.loads(pickle.dumps(solver))
    np.testing.assert_array_equal(solver.solve().u, other.solve().u)


def test_a_linear_table_makes_no_quadratic_program():
    """Its slopes are constant piece by piece, and have no slope themselves; still they change."""
    for dent in (ts.table([-1.0, 0.0, 1.0], [1.0, 0.0, 3.0]), ca.fabs):
        ocp = ts.Problem(steps=4)
        x, u = ocp.state("x"), ocp.control("u")
        ocp.next(x=x + u)
        ocp.minimize(u**2 + dent(x))
        ocp.constrain("start", x, equals=0.7, at="start")
        assert not ocp.build().backend.structure.quadratic


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ts.table([0, 1, 1], [1, 2, 3]), "grid 0 has 1 before 1, expected it to increase"),
        (lambda: ts.table([0, 1], [1, 2, 3]), r"grid 0 has shape \(2,\), but values has 3 along it"),
        (lambda: ts.table([0, 1, 2], [1, 2, 3], "cubic"), "grid 0 has 3 points, expected at least 4"),
        (lambda: ts.table([0, 1], [1, np.nan]), "values has an entry that is not finite"),
        (lambda: ts.table([0, 1], [1, 2], "quintic"), "kind is 'quintic', expected 'linear' or 'cubic'"),
        (lambda: ts.table([0, 1], np.ones((2, 2))), "grid"),
        (lambda: ts.table([0, 1e-9, 1], [1, 2, 3]), "spacings from 1e-09 to 1, expected less uneven"),
        (lambda: ts.table([0, 1], [1, 2])(1.0, 2.0), "called with 2 arguments, expected 1"),
        (lambda: ts.table([0, 1], ["a", "b"]), "values is"),
    ],
)
def test_what_is_refused(make, message):
    with pytest.raises(ProblemError, match=message):
        make()


def test_what_does_not_compile_is_named_with_who_would_take_it():
    x = ca.MX.sym("x")
    root = ca.rootfinder("root", "newton", ca.Function("g", [x, ca.MX.sym("p")], [x**2 - 2]))
    ocp = ts.Problem(steps=3)
    y, u = ocp.state("y"), ocp.control("u")
    ocp.next(y=y + u)
    ocp.minimize(u**2)
    ocp.constrain("odd one", root(y, 0), lower=0.1)
    with pytest.raises(CompileError, match=r"'odd one' .*calls 'root'.*build\(backend='ipopt'\)"):
        ocp.build()
